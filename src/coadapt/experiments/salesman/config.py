"""The salesman's experiment as data."""

from dataclasses import dataclass, field, replace

from coadapt.agents.behaviour_conditioned import FEEDS
from coadapt.configs.checks import between, distinct, each_whole, in_batches, one_of, shown, whole
from coadapt.experiments.salesman.world import KINDS, World
from coadapt.learning.ppo import PPOConfig
from coadapt.learning.supervised import SupervisedConfig

TRAININGS = {
    "behaviour_conditioned": ("policy", "predictor"),
    "label_blind": ("label_blind",),
    "lstm": ("lstm_clones", "lstm"),
    "lstm_matched": ("lstm_clones", "lstm_matched"),
}
"""What is trained for each method, beside the clones."""
METHODS = tuple(TRAININGS)

LARGEST_SEED = 2**32 - 1

LAYOUTS_AT_ONCE = 10
"""Agents that are held against the best response play on so many layouts side by side."""


CLOSER = ("bounds", "regret", "crossplay", "adaptation", "exchange")
"""What can be measured beside returns."""


@dataclass(frozen=True)
class Measures:
    """What is measured of trained agents beside their returns, and how closely."""

    closer: tuple[str, ...] = CLOSER
    layouts: int = 200  # on which agents are held against the best response to each reference partner
    starts: int = 50  # on each of these layouts
    bound_layouts: int = 1_000  # on which the bounds of the game itself are worked out
    episodes: int = 2_000  # with each partner or pair of partners: for beliefs, exchanges and cross-play
    exchange_after: int = 8  # steps another partner takes over

    def __post_init__(self):
        for name in self.closer:
            one_of("measures.closer", name, CLOSER)
        for name in ("layouts", "starts", "bound_layouts", "episodes", "exchange_after"):
            whole(f"measures.{name}", getattr(self, name))
        if self.layouts % LAYOUTS_AT_ONCE:
            raise ValueError(f"measures.layouts must be a multiple of {LAYOUTS_AT_ONCE}, not {self.layouts}")


@dataclass(frozen=True)
class SalesmanConfig:
    """The whole experiment."""

    clones: PPOConfig  # self-play of the conditioned policy, told nothing
    policy: PPOConfig  # with the population, told the partner's kind; the label-blind control trains the same
    predictor: SupervisedConfig
    lstm_clones: PPOConfig  # self-play of the baseline
    lstm: PPOConfig  # with the population
    world: World = field(default_factory=World)
    methods: tuple[str, ...] = METHODS
    intermediate_length: tuple[float, ...] = (30.0, 36.0)  # of its self-play, from and to
    feed: str = "probabilities"  # what the policy gets of a belief in execution
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    companions: tuple[int, ...] = (0, 1, 2, 3, 4)  # whose clones are training partners, beside a seed's own
    references: tuple[int, ...] = (100, 101, 102)  # whose clones nobody trains with, and all are tried with
    pretrained_references: bool = False  # whether these are the partners that come with the package
    curve_points: int = 10  # how often learning is looked at
    episodes: int = 20_000  # of a method with a reference partner, in the end
    rehearsal_episodes: int = 4_000  # of an agent with a partner it trained with, in each way to act on a belief
    batch: int = 1_000  # of these at a time
    measures: Measures = field(default_factory=Measures)

    def __post_init__(self):
        for name in ("curve_points", "episodes", "rehearsal_episodes", "batch"):
            whole(name, getattr(self, name))
        self._check_measures()
        one_of("feed", self.feed, FEEDS)
        for name in ("seeds", "methods"):
            distinct(name, getattr(self, name))
        for method in self.methods:
            one_of("methods", method, METHODS)
        self._check_clones()
        for name in ("clones", "policy", "predictor", "lstm_clones", "lstm"):
            self.world.check_training(name, getattr(self, name), self.curve_points)
        for name in ("policy", "predictor", "lstm"):
            self._check_games(name, getattr(self, name).games)

    def _check_measures(self) -> None:
        in_batches("episodes", self.episodes, self.batch)
        in_batches("rehearsal_episodes", self.rehearsal_episodes, self.batch)
        in_batches("measures.episodes", self.measures.episodes, self.batch)
        after, limit = self.measures.exchange_after, self.world.game.max_steps
        if after >= limit:
            raise ValueError(f"measures.exchange_after ({after}) must come before the step limit ({limit})")

    def _check_clones(self) -> None:
        for name in ("seeds", "companions", "references"):
            each_whole(name, getattr(self, name), least=0, most=LARGEST_SEED)
        both = set(self.references) & {*self.seeds, *self.companions}
        if both:
            raise ValueError(f"references must be seeds that nobody trains with, and {min(both)} is trained with")
        lengths = self.intermediate_length
        if len(lengths) != 2 or not lengths[0] < lengths[1]:
            raise ValueError(f"intermediate_length must be two lengths, the lower first, not {shown(lengths)}")
        for length in lengths:
            between("intermediate_length", length, 1, self.world.game.max_steps)

    def _check_games(self, name: str, games: int) -> None:
        for seed in self.seeds:
            partners = len(KINDS) * len(self.population_of(seed))
            if games % partners:
                raise ValueError(f"{name}.games must be a multiple of the {partners} training partners, not {games}")

    def population_of(self, seed: int) -> tuple[int, ...]:
        """The seeds whose clones an agent of this seed trains with: its own, and companions.

        There are as many as there are companions, whether or not the seed is one of them.
        """
        others = [companion for companion in self.companions if companion != seed]
        return (seed, *others)[: max(1, len(self.companions))]

    @property
    def all_clones(self) -> tuple[int, ...]:
        """The seeds of all clones there have to be, those that nobody trains with first."""
        trained_with = [clone for seed in self.seeds for clone in self.population_of(seed)]
        return tuple(dict.fromkeys((*self.references, *trained_with)))

    @property
    def trained_clones(self) -> tuple[int, ...]:
        """Those of them that are trained in this run."""
        there_already = self.references if self.pretrained_references else ()
        return tuple(clone for clone in self.all_clones if clone not in there_already)

    @property
    def trainings(self) -> tuple[str, ...]:
        """What is trained for each seed beside its clones."""
        return tuple(dict.fromkeys(training for method in self.methods for training in TRAININGS[method]))

    @property
    def label_blind(self) -> PPOConfig:
        """The control has the policy's own training."""
        return self.policy

    @property
    def lstm_matched(self) -> PPOConfig:
        """The baseline with as many steps in all as the behaviour-conditioned agent has, its predictor's included."""
        ours = sum(map(self.environment_steps, ("clones", "policy", "predictor")))
        left = ours - self.environment_steps("lstm_clones")
        points = max(1, -(-left // (self.lstm.steps_per_iteration * self.curve_points)))
        return replace(self.lstm, iterations=points * self.curve_points)

    def environment_steps(self, training: str) -> int:
        """How many steps of the game a training takes."""
        of = getattr(self, training)
        return of.iterations * of.steps_per_iteration
