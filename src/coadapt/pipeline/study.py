"""A study as data: a task, whom agents train with and are held against, what is trained, and what is measured."""

import math
from dataclasses import dataclass, replace
from typing import Any

from coadapt.agents.behaviour_conditioned import CONDITIONINGS
from coadapt.configs.checks import between, distinct, each_between, each_whole, in_batches, one_of, shown, whole
from coadapt.learning.ppo import PPOConfig
from coadapt.learning.supervised import SupervisedConfig
from coadapt.pipeline.partners import CLONE, LARGEST_SEED, PartnerId, PartnerSource, all_within, check_source
from coadapt.pipeline.task import check_task

UNSAID: Any = None
"""Stands for settings that are as usual."""

LAYOUTS_AT_ONCE = 10
"""Agents that are held against the best response play on so many layouts side by side."""

CLOSER = ("joint_optimum", "regret", "evaluation_matrix", "adaptation", "partner_switch")
"""What can be measured beside returns."""


@dataclass(frozen=True)
class Measures:
    """What is measured of trained agents beside their returns, and how closely."""

    closer: tuple[str, ...] = CLOSER
    layouts: int = 200  # on which agents are held against the best response to each held-out partner
    starts: int = 50  # on each of these layouts
    joint_layouts: int = 1_000  # on which the joint optimum of the game is worked out
    episodes: int = 2_000  # with each partner or pair of partners: for beliefs, partner switches and the matrix
    switch_after: int = 8  # steps another partner takes over

    def __post_init__(self) -> None:
        for name in self.closer:
            one_of("measures.closer", name, CLOSER)
        for name in ("layouts", "starts", "joint_layouts", "episodes", "switch_after"):
            whole(f"measures.{name}", getattr(self, name))
        if self.layouts % LAYOUTS_AT_ONCE:
            raise ValueError(f"measures.layouts must be a multiple of {LAYOUTS_AT_ONCE}, not {self.layouts}")


@dataclass(frozen=True)
class Study:
    """The whole study. How networks train, and what is measured, need not be said: then it is as usual."""

    task: Any
    partners: Any  # a PartnerSource: whom agents train with
    held_out: Any = None  # a PartnerSource: whom nobody trains with, and all are tried with; or none
    methods: tuple[str, ...] = ("behaviour_conditioned", "label_blind", "lstm", "lstm_matched")
    clones: PPOConfig | None = None  # self-play of the conditioned policy, told nothing; none: policies start untrained
    policy: PPOConfig = UNSAID  # with the training partners, told their type; the label-blind control trains the same
    predictor: SupervisedConfig = UNSAID
    lstm_clones: PPOConfig | None = None  # self-play of recurrent policies
    lstm: PPOConfig = UNSAID  # of recurrent policies, with the training partners
    levels: tuple[tuple[float, ...], ...] = ()  # of skill between untrained and trained: lengths of self-play
    shares: tuple[float, ...] = ()  # or shares of the way from an untrained player's return to a trained one's
    conditioning: str = "probabilities"  # what the policy gets of a belief in execution
    seeds: tuple[int, ...] | range = (0, 1, 2, 3, 4)
    curve_points: int = 10  # how often learning is looked at
    episodes: int = 2_000  # of a method with a held-out partner, in the end
    validation_episodes: int = 2_000  # of an agent with a partner it trained with, in each way to act on a belief
    batch: int = 500  # of these at a time
    measures: Measures = UNSAID

    def __post_init__(self) -> None:
        check_task(self.task)
        check_source("partners", self.partners)
        if self.held_out is not None:
            check_source("held_out", self.held_out)
        if self.is_complete:
            self._check()
        else:
            completed(self)  # which checks itself

    @property
    def is_complete(self) -> bool:
        """Whether all is said."""
        return UNSAID not in (self.policy, self.predictor, self.lstm, self.measures)

    def _check(self) -> None:
        for name in ("curve_points", "episodes", "validation_episodes", "batch"):
            whole(name, getattr(self, name))
        self._check_measures()
        one_of("conditioning", self.conditioning, CONDITIONINGS)
        for name in ("seeds", "methods"):
            distinct(name, tuple(getattr(self, name)))
        each_whole("seeds", tuple(self.seeds), least=0, most=LARGEST_SEED)
        self._check_levels()
        for source in self.sources:
            source.check(self)
        self._check_types()
        self._check_held_out()
        for name in ("clones", "policy", "predictor", "lstm_clones", "lstm"):
            self._check_training(name, getattr(self, name))
        self._check_seats()
        for name in ("policy", "predictor", "lstm"):
            self._check_games(name, getattr(self, name).num_envs)

    @property
    def sources(self) -> tuple[PartnerSource, ...]:
        """Where all partners come from: those that nobody trains with first."""
        return tuple(source for source in (self.held_out, self.partners) if source is not None)

    @property
    def held_out_ids(self) -> list[PartnerId]:
        """All held-out partners."""
        ids = [] if self.held_out is None else self.held_out.ids(self)
        return [each._replace(held_out=True) for each in ids]

    @property
    def all_ids(self) -> list[PartnerId]:
        """All partners that anybody meets, the held-out ones first."""
        return [*self.held_out_ids, *self.partners.ids(self)]

    def _check_measures(self) -> None:
        in_batches("episodes", self.episodes, self.batch)
        in_batches("validation_episodes", self.validation_episodes, self.batch)
        in_batches("measures.episodes", self.measures.episodes, self.batch)
        after, limit = self.measures.switch_after, self.task.game.max_steps
        if "partner_switch" in self.measures.closer and after >= limit:
            raise ValueError(f"measures.switch_after ({after}) must come before the step limit ({limit})")

    def _check_levels(self) -> None:
        if self.levels and self.shares:
            raise ValueError(
                "levels of skill are known by their lengths or by their shares of the way; give one of both"
            )
        each_between("shares", self.shares, 0, 1)
        for level in self.levels:
            if len(level) != 2 or not level[0] < level[1]:
                raise ValueError(f"levels must be pairs of lengths, the lower first, not {shown(level)}")
            for length in level:
                between("levels", length, 1, self.task.game.max_steps)

    def _check_held_out(self) -> None:
        met = self.partners.identities(self) | {(CLONE, seed) for seed in self.seeds}
        both = set() if self.held_out is None else self.held_out.identities(self) & met
        for kind, which in sorted(both, key=str)[:1]:
            raise ValueError(f"held_out must be partners that nobody trains with, and {kind} {which} is trained with")

    def _check_training(self, name: str, training: PPOConfig | SupervisedConfig | None) -> None:
        """Whether a training fits the game, and is looked at after whole numbers of iterations."""
        if training is None:
            return
        limit, points = self.task.game.max_steps, self.curve_points
        if training.num_steps < limit:
            raise ValueError(f"{name}.num_steps must cover an episode ({limit}), not {training.num_steps}")
        if training.iterations % points:
            raise ValueError(f"{name}.iterations ({training.iterations}) must be a multiple of curve_points ({points})")

    def _check_seats(self) -> None:
        """Whether who plays with copies of itself can take either seat."""
        actions = self.task.game.num_actions
        if (self.clones or self.lstm_clones) and len(set(actions)) > 1:
            raise ValueError(f"clones take both seats, which must have the same actions, not {shown(actions)} of them")

    def _check_types(self) -> None:
        """Whether agents meet partners of every type in training, or nobody could learn what to do with these."""
        for seed in self.seeds:
            met = {each.type for each in self.partners.ids(self, seed)}
            for name in self.task.types:
                if name not in met:
                    raise ValueError(f"partners must be of every type, and none of those of seed {seed} is {name}")

    def _check_games(self, name: str, games: int) -> None:
        for seed in self.seeds:
            partners = len(self.partners.ids(self, seed))
            if games % partners:
                raise ValueError(f"{name}.num_envs must be a multiple of the {partners} training partners, not {games}")


GAMES, STEPS = 256, 32
"""About so many games side by side, and at least so many steps of each in an iteration."""
USUAL_PPO = PPOConfig(
    iterations=200,
    num_envs=GAMES,
    num_steps=STEPS,
    minibatches=4,
    learning_rate=2e-3,
    max_gradient_norm=1.0,
    gae_lambda=0.9,
    entropy_coefficient=0.02,
)
USUAL_PREDICTOR = SupervisedConfig(iterations=200, num_envs=GAMES, num_steps=STEPS, minibatches=4, learning_rate=3e-3)


def completed(study: Study) -> Study:
    """The study with the usual settings where nothing is said.

    Trainings are of about the same number of steps, in whole episodes and shared out evenly among the partners.
    Partners by self-play have clones, and levels of skill that are evenly spaced.
    """
    limit, batch = study.task.game.max_steps, study.batch
    sizes = [len(study.partners.ids(study, seed)) for seed in study.seeds]
    equal = math.lcm(USUAL_PPO.minibatches, *sizes)
    played = {"num_envs": equal * max(1, round(GAMES / equal)), "num_steps": limit * max(1, round(STEPS / limit))}
    ppo, levels = replace(USUAL_PPO, **played), _levels_between(study)
    measures = Measures(tuple(name for name in CLOSER if limit > 1 or name != "partner_switch"), episodes=2 * batch)
    usual: dict[str, Any] = {
        "policy": ppo,
        "predictor": replace(USUAL_PREDICTOR, **played),
        "lstm": ppo,
        "measures": replace(measures, switch_after=max(1, min(measures.switch_after, limit // 2))),
    }
    if levels is not None:
        usual |= {"clones": ppo, "lstm_clones": ppo}
        usual |= {} if study.levels else {"shares": levels}
    said = {name: value for name in usual if (value := getattr(study, name)) not in (UNSAID, ())}
    return replace(study, seeds=tuple(study.seeds), methods=tuple(study.methods), **(usual | said))


def _levels_between(study: Study) -> tuple[float, ...] | None:
    """Shares of the way from untrained to trained for the types in between; none without partners by self-play."""
    sources = [each for source in study.sources for each in all_within(source) if each.by_self_play]
    if not sources:
        return None
    types = len(getattr(sources[0], "types", ()) or study.task.types)
    return tuple(n / (types - 1) for n in range(1, types - 1))
