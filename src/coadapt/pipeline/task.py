"""A task: everything that belongs to one game. All else of a study is the same for every game."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp

from coadapt.agents.behaviour_conditioned import ConditionedCritic, ConditionedPolicy
from coadapt.agents.beliefs import LearnedBelief
from coadapt.agents.encoders import EncoderSpec, FeedbackSpec, usual_spec
from coadapt.agents.recurrent import RecurrentPolicy
from coadapt.arrays import Key, Vector
from coadapt.configs.checks import distinct, one_of, shown
from coadapt.described import code_behind, described
from coadapt.games.checks import check_parts
from coadapt.games.game import MAIN, Game
from coadapt.games.traced import shape_of
from coadapt.oracles.enumeration import EnumerableGame
from coadapt.pipeline.oracle import Oracle
from coadapt.pipeline.tabular_oracle import TabularOracle
from coadapt.players import Seen, seen_first


class Heads(NamedTuple):
    """The layers on top of the encoders."""

    policy: tuple[int, ...]  # of memoryless policies and of all critics
    lstm_units: int
    predictor: tuple[int, ...]


USUAL_HEADS = Heads(policy=(64, 64), lstm_units=64, predictor=(64,))


@runtime_checkable
class AnyTask(Protocol):
    """One game, who can be met in it, and how networks look at it. Its fields are its settings."""

    @property
    def name(self) -> str: ...

    @property
    def game(self) -> Game: ...

    @property
    def learning_game(self) -> Game:
        """The game with the rewards that networks learn from."""
        ...

    @property
    def types(self) -> tuple[str, ...]:
        """Of which types a partner can be; its label is one of them, as one-hot. Skill types rise from an untrained
        player to a trained one.
        """
        ...

    @property
    def heads(self) -> Heads: ...

    def encoder(self, role: str) -> EncoderSpec:
        """What a network looks through, by its role: policy, critic, recurrent or belief."""
        ...

    @property
    def oracle(self) -> Oracle | None: ...


ROLES = ("policy", "critic", "recurrent", "belief")
"""Of networks that look at a game."""


@dataclass(frozen=True, eq=False)  # games and encoders may hold anything: a task is equal to itself alone
class Task:
    """A task of your own: a name, a game, and of which types partners can be.

    How networks look at the game may be said by their role: policy, critic, recurrent or belief. Whoever says nothing
    gets all of an observation, as channels of a grid if it is one array with three axes, and else as one vector.
    """

    name: str
    game: Any
    types: tuple[str, ...]
    encoders: Mapping[str, EncoderSpec] | None = None
    heads: Heads = USUAL_HEADS
    exact: bool = True  # of a game that lists its chances what is best is worked out, and all are held against that

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}", str(self.name)):
            raise ValueError(f"a task's name must be up to 64 letters, digits, spaces and _.-, not {shown(self.name)}")
        distinct("types", self.types)
        for name in self.types:
            if not isinstance(name, str) or not name.strip():
                raise ValueError(f"types must be names, not {shown(name)}")
        for role, spec in (self.encoders or {}).items():
            one_of("encoders", role, ROLES)
            if isinstance(spec, type) or not isinstance(spec, EncoderSpec):
                raise ValueError(
                    f"encoders[{role!r}] must say how to build one, as in coadapt.VectorSpec(view), not"
                    f" {shape_of(spec)}"
                )
        check_parts(self.game)

    @property
    def learning_game(self) -> Any:
        return self.game

    def encoder(self, role: str) -> EncoderSpec:
        known = (self.encoders or {}).get(role)
        return usual_spec(seen_in(self.game), memoryless=role in ("policy", "critic")) if known is None else known

    @property
    def oracle(self) -> Oracle | None:
        """Of a game that lists its chances: what is best in it, exactly."""
        return TabularOracle(self.game) if self.exact and isinstance(self.game, EnumerableGame) else None


def check_task(given: Any) -> None:
    """A sentence unless it has what belongs to one game, and that is a game."""
    if isinstance(given, type) or not all(hasattr(given, name) for name in ("name", "game", "types", "encoder")):
        raise ValueError(f"task must be a coadapt.Task(name, game, types), not {shape_of(given)}")
    check_parts(given.game)


def code_of(task: AnyTask) -> tuple[str, ...]:
    """The modules that a task is made of: what depends on the task depends on their code."""
    return tuple(dict.fromkeys((*code_behind(task), *code_behind(task.game))))


def identity_of(task: AnyTask) -> dict[str, Any]:
    """Which task it is, as settings of what depends on it: two with the same fields may differ in their classes."""
    return {"task": described(task), "game": described(task.game), "types": task.types}


def no_label(task: AnyTask) -> Vector:
    """What a policy is told that is told nothing."""
    return jnp.zeros(len(task.types))


def seen_in(game: Game) -> Seen:
    """What the main agent is shown: its shapes."""
    return jax.eval_shape(lambda: seen_first(game, game.reset(jax.random.key(0)), MAIN))


def new_policy(key: Key, task: AnyTask) -> ConditionedPolicy:
    """A policy that is told a label."""
    actions, _ = task.game.num_actions
    spec, seen = task.encoder("policy"), seen_in(task.game)
    return ConditionedPolicy(key, spec, seen, len(task.types), task.heads.policy, actions)


def new_critic(key: Key, task: AnyTask) -> ConditionedCritic:
    """The value network of any training."""
    return ConditionedCritic(key, task.encoder("critic"), seen_in(task.game), len(task.types), task.heads.policy)


def new_recurrent_policy(key: Key, task: AnyTask) -> RecurrentPolicy:
    """A policy that has to find out for itself."""
    return _recurrent(key, task, task.encoder("recurrent"))


def new_rl2_policy(key: Key, task: AnyTask) -> RecurrentPolicy:
    """The same, shown what came of its last step, too."""
    return _recurrent(key, task, FeedbackSpec(task.encoder("recurrent"), task.game.num_actions[MAIN]))


def _recurrent(key: Key, task: AnyTask, spec: EncoderSpec) -> RecurrentPolicy:
    return RecurrentPolicy(key, spec, seen_in(task.game), task.heads.lstm_units, (), task.game.num_actions[MAIN])


def new_predictor(key: Key, task: AnyTask) -> LearnedBelief:
    """The network that says of which type the partner is."""
    heads = task.heads
    spec, seen = task.encoder("belief"), seen_in(task.game)
    return LearnedBelief(key, spec, seen, heads.lstm_units, heads.predictor, len(task.types))
