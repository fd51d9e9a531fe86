"""A study as data: a task, whom agents train with and are held against, what is trained, and what is measured."""

from dataclasses import dataclass, field
from typing import Any

from coadapt.agents.behaviour_conditioned import CONDITIONINGS
from coadapt.configs.checks import between, distinct, each_whole, in_batches, one_of, shown, whole
from coadapt.learning.ppo import PPOConfig
from coadapt.learning.supervised import SupervisedConfig

LARGEST_SEED = 2**32 - 1

LAYOUTS_AT_ONCE = 10
"""Agents that are held against the best response play on so many layouts side by side."""

CLOSER = ("bounds", "regret", "evaluation_matrix", "adaptation", "partner_switch")
"""What can be measured beside returns."""


@dataclass(frozen=True)
class Measures:
    """What is measured of trained agents beside their returns, and how closely."""

    closer: tuple[str, ...] = CLOSER
    layouts: int = 200  # on which agents are held against the best response to each held-out partner
    starts: int = 50  # on each of these layouts
    bound_layouts: int = 1_000  # on which the bounds of the game itself are worked out
    episodes: int = 2_000  # with each partner or pair of partners: for beliefs, partner switches and the matrix
    switch_after: int = 8  # steps another partner takes over

    def __post_init__(self):
        for name in self.closer:
            one_of("measures.closer", name, CLOSER)
        for name in ("layouts", "starts", "bound_layouts", "episodes", "switch_after"):
            whole(f"measures.{name}", getattr(self, name))
        if self.layouts % LAYOUTS_AT_ONCE:
            raise ValueError(f"measures.layouts must be a multiple of {LAYOUTS_AT_ONCE}, not {self.layouts}")


@dataclass(frozen=True)
class Study:
    """The whole study. A subclass says what its task is."""

    clones: PPOConfig  # self-play of the conditioned policy, told nothing
    policy: PPOConfig  # with the training partners, told their type; the label-blind control trains the same
    predictor: SupervisedConfig
    lstm_clones: PPOConfig  # self-play of the recurrent policy
    lstm: PPOConfig  # with the training partners
    task: Any = None
    methods: tuple[str, ...] = ("behaviour_conditioned", "label_blind", "lstm", "lstm_matched")
    levels: tuple[tuple[float, ...], ...] = ((30.0, 36.0),)  # lengths of self-play that types in between have
    conditioning: str = "probabilities"  # what the policy gets of a belief in execution
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    training_partners: tuple[int, ...] = (0, 1, 2, 3, 4)  # seeds whose clones are met in training, beside one's own
    held_out: tuple[int, ...] = (100, 101, 102)  # seeds whose clones nobody trains with, and all are tried with
    pretrained_held_out: bool = False  # whether these are the partners that come with the package
    curve_points: int = 10  # how often learning is looked at
    episodes: int = 20_000  # of a method with a held-out partner, in the end
    validation_episodes: int = 4_000  # of an agent with a partner it trained with, in each way to act on a belief
    batch: int = 1_000  # of these at a time
    measures: Measures = field(default_factory=Measures)

    def __post_init__(self):
        for name in ("curve_points", "episodes", "validation_episodes", "batch"):
            whole(name, getattr(self, name))
        self._check_measures()
        one_of("conditioning", self.conditioning, CONDITIONINGS)
        for name in ("seeds", "methods"):
            distinct(name, getattr(self, name))
        self._check_partners()
        for name in ("clones", "policy", "predictor", "lstm_clones", "lstm"):
            self._check_training(name, getattr(self, name))
        for name in ("policy", "predictor", "lstm"):
            self._check_games(name, getattr(self, name).num_envs)

    def _check_measures(self) -> None:
        in_batches("episodes", self.episodes, self.batch)
        in_batches("validation_episodes", self.validation_episodes, self.batch)
        in_batches("measures.episodes", self.measures.episodes, self.batch)
        after, limit = self.measures.switch_after, self.task.game.max_steps
        if after >= limit:
            raise ValueError(f"measures.switch_after ({after}) must come before the step limit ({limit})")

    def _check_partners(self) -> None:
        for name in ("seeds", "training_partners", "held_out"):
            each_whole(name, getattr(self, name), least=0, most=LARGEST_SEED)
        both = set(self.held_out) & {*self.seeds, *self.training_partners}
        if both:
            raise ValueError(f"held_out must be seeds that nobody trains with, and {min(both)} is trained with")
        between_ends = len(self.task.types) - 2
        if len(self.levels) != between_ends:
            raise ValueError(f"levels must be {between_ends}, one for each type in between, not {len(self.levels)}")
        for level in self.levels:
            if len(level) != 2 or not level[0] < level[1]:
                raise ValueError(f"levels must be pairs of lengths, the lower first, not {shown(level)}")
            for length in level:
                between("levels", length, 1, self.task.game.max_steps)

    def _check_training(self, name: str, training: PPOConfig | SupervisedConfig) -> None:
        """Whether a training fits the game, and is looked at after whole numbers of iterations."""
        limit, points = self.task.game.max_steps, self.curve_points
        if training.num_steps < limit:
            raise ValueError(f"{name}.num_steps must cover an episode ({limit}), not {training.num_steps}")
        if training.iterations % points:
            raise ValueError(f"{name}.iterations ({training.iterations}) must be a multiple of curve_points ({points})")

    def _check_games(self, name: str, games: int) -> None:
        for seed in self.seeds:
            partners = len(self.task.types) * len(self.population_of(seed))
            if games % partners:
                raise ValueError(f"{name}.num_envs must be a multiple of the {partners} training partners, not {games}")

    def population_of(self, seed: int) -> tuple[int, ...]:
        """The seeds whose clones an agent of this seed trains with: its own, and others.

        There are as many as there are training partners, whether or not the seed is one of them.
        """
        others = [clone for clone in self.training_partners if clone != seed]
        return (seed, *others)[: max(1, len(self.training_partners))]

    @property
    def all_clones(self) -> tuple[int, ...]:
        """The seeds of all clones there have to be, those that nobody trains with first."""
        trained_with = [clone for seed in self.seeds for clone in self.population_of(seed)]
        return tuple(dict.fromkeys((*self.held_out, *trained_with)))

    @property
    def trained_clones(self) -> tuple[int, ...]:
        """Those of them that are trained in this run."""
        there_already = self.held_out if self.pretrained_held_out else ()
        return tuple(clone for clone in self.all_clones if clone not in there_already)


def environment_steps(training: PPOConfig | SupervisedConfig) -> int:
    """How many steps of the game a training takes."""
    return training.iterations * training.steps_per_iteration
