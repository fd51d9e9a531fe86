"""A task: everything that belongs to one game. All else of a study is the same for every game."""

from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp

from coadapt.agents.behaviour_conditioned import ConditionedCritic, ConditionedPolicy
from coadapt.agents.beliefs import LearnedBelief
from coadapt.agents.encoders import EncoderSpec
from coadapt.agents.recurrent import RecurrentPolicy
from coadapt.arrays import Key, Scalar, Vector
from coadapt.evaluation.starts import Played
from coadapt.games.game import MAIN, Game
from coadapt.partners.population import Partners
from coadapt.players import Belief, Seen, seen_first


class Heads(NamedTuple):
    """The layers on top of the encoders."""

    policy: tuple[int, ...]  # of memoryless policies and of all critics
    lstm_units: int
    predictor: tuple[int, ...]


class Optima(NamedTuple):
    """What can be had with each partner, from each start on a layout."""

    best: Played  # by its best response, on average
    informed: dict[str, Played]  # by players that need no training, because they know more than an agent can


@runtime_checkable
class Oracle(Protocol):
    """Exact truths about a game and some partners. A *layout* is what stays the same while starts differ."""

    def posterior(self, partners: Partners) -> Belief | None:
        """All that can be known of whom one plays with, if it is one of these, each as likely as any other. None if
        nobody can tell: then nothing is held against it.
        """
        ...

    def starts(self, key: Key, number: int) -> Any:
        """States to start from on one layout; all of its chance is in the key."""
        ...

    def optima(self, key: Key, partners: Partners, starts: Any) -> Optima:
        """What can be had with each partner from these starts, which are on one layout."""
        ...

    def joint_optimum(self, key: Key) -> dict[str, Scalar]:
        """What two who know all of each other come to on one layout, and what else the game allows, by name."""
        ...


@runtime_checkable
class Task(Protocol):
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


def code_of(task: Task) -> tuple[str, ...]:
    """The modules that a task is made of: what depends on the task depends on their code."""
    return tuple(dict.fromkeys((type(task).__module__, type(task.game).__module__)))


def identity_of(task: Task) -> dict[str, Any]:
    """Which task it is, as settings of what depends on it: two with the same fields may differ."""
    name_of = lambda value: f"{type(value).__module__}.{type(value).__qualname__}"
    return {"class": name_of(task), "game": name_of(task.game), "types": task.types, "fields": task}


def no_label(task: Task) -> Vector:
    """What a policy is told that is told nothing."""
    return jnp.zeros(len(task.types))


def seen_in(game: Game) -> Seen:
    """What the main agent is shown: its shapes."""
    return jax.eval_shape(lambda: seen_first(game, game.reset(jax.random.key(0)), MAIN))


def new_policy(key: Key, task: Task) -> ConditionedPolicy:
    """A policy that is told a label."""
    actions, _ = task.game.num_actions
    spec, seen = task.encoder("policy"), seen_in(task.game)
    return ConditionedPolicy(key, spec, seen, len(task.types), task.heads.policy, actions)


def new_critic(key: Key, task: Task) -> ConditionedCritic:
    """The value network of any training."""
    return ConditionedCritic(key, task.encoder("critic"), seen_in(task.game), len(task.types), task.heads.policy)


def new_recurrent_policy(key: Key, task: Task) -> RecurrentPolicy:
    """A policy that has to find out for itself."""
    actions, _ = task.game.num_actions
    return RecurrentPolicy(key, task.encoder("recurrent"), seen_in(task.game), task.heads.lstm_units, (), actions)


def new_predictor(key: Key, task: Task) -> LearnedBelief:
    """The network that says of which type the partner is."""
    heads = task.heads
    spec, seen = task.encoder("belief"), seen_in(task.game)
    return LearnedBelief(key, spec, seen, heads.lstm_units, heads.predictor, len(task.types))
