"""What a game is: pure functions on a state, for two seats and one shared reward."""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Bool, Count, Flag, Key, Scalar
from coadapt.games.traced import Unfit, is_array, shape_of

MAIN, PARTNER = 0, 1
"""The seats: the agent under study, and the one it has to get along with."""
WHO_SITS = ("the main agent", "the partner")
"""The same in sentences."""


class Outcome(NamedTuple):
    """What one step of a game brings.

    `terminated`: the episode is over and nothing can follow it. `truncated`: it is cut off here, though the game could
    have gone on, so whoever learns has to imagine the rest. `shaping` is a hint in the form of more reward, which only
    learning sees.
    """

    reward: Scalar
    terminated: Flag
    truncated: Flag
    shaping: Scalar | float = 0.0


def check_outcome(game: Any, came: Any) -> tuple[Any, Outcome]:
    """What a step has returned, as a state and an outcome of arrays; a sentence if it is anything else.

    Only kinds and shapes are looked at, while a program is traced.
    """
    name = f"{type(game).__name__}.step"
    if not (isinstance(came, tuple) and len(came) == 2 and isinstance(came[1], Outcome)):
        said = f"a tuple of {len(came)}" if isinstance(came, tuple) and len(came) != 2 else _second(came)
        raise Unfit(f"{name} must return a state and a coadapt.Outcome(reward, terminated, truncated), not {said}")
    state, outcome = came
    for field in ("reward", "shaping"):
        _check_scalar(name, field, getattr(outcome, field), jnp.floating, jnp.integer, jnp.bool_)
    for field in ("terminated", "truncated"):
        _check_scalar(name, field, getattr(outcome, field), jnp.bool_)
    reward, shaping = (jnp.asarray(number, jnp.float32) for number in (outcome.reward, outcome.shaping))
    return state, Outcome(reward, jnp.asarray(outcome.terminated), jnp.asarray(outcome.truncated), shaping)


def _second(came: Any) -> str:
    return f"a state and {shape_of(came[1])}" if isinstance(came, tuple) else shape_of(came)


def _check_scalar(name: str, field: str, value: Any, *kinds: Any) -> None:
    fits = is_array(value) and jnp.shape(value) == ()
    if not fits or not any(jnp.issubdtype(jnp.result_type(value), kind) for kind in kinds):
        wanted = "one Boolean, bool[]" if kinds == (jnp.bool_,) else "one number, float32[]"
        raise Unfit(f"{name} must return an Outcome whose {field} is {wanted}, not {shape_of(value)}")


@runtime_checkable
class Game(Protocol):
    """A cooperative game of two. Sizes are static, numbers are leaves; `step` never resets by itself.

    A game may also say which actions are legal, `legal(state, seat) -> Bool[actions]`, and what a scripted partner may
    look at beside its observation, `privileged(state, seat)`; that is the state if nothing is said.
    """

    @property
    def num_actions(self) -> tuple[int, int]:
        """How many actions each seat has."""
        ...

    @property
    def max_steps(self) -> int:
        """The most steps an episode can take."""
        ...

    def reset(self, key: Key) -> Any:
        """The state an episode starts from."""
        ...

    def step(self, state: Any, actions: tuple[Count, Count], key: Key) -> tuple[Any, Outcome]:
        """Both seats act at once. All chance is in the key; a game without chance takes no notice of it."""
        ...

    def observe(self, state: Any, seat: int) -> Any:
        """What the player in this seat sees: any tree of arrays."""
        ...


def legal_actions(game: Game, state: Any, seat: int) -> Bool[Array, "actions"] | None:
    """Which actions this seat may take; none: all of them, always."""
    given = getattr(game, "legal", None)
    legal = None if given is None else given(state, seat)
    if legal is not None and shape_of(legal) != f"bool[{game.num_actions[seat]}]":
        raise Unfit(
            f"{type(game).__name__}.legal must return a Boolean for each of the {game.num_actions[seat]} actions of"
            f" {WHO_SITS[seat]}, bool[{game.num_actions[seat]}], not {shape_of(legal)}"
        )
    return legal


def privileged_view(game: Game, state: Any, seat: int) -> Any:
    """What a scripted partner in this seat may look at beside its observation."""
    view = getattr(game, "privileged", None)
    return state if view is None else view(state, seat)


@partial(jax.tree_util.register_dataclass, data_fields=["game", "start"], meta_fields=[])
@dataclass(frozen=True)
class StartsAt:
    """A game that always starts in the same state."""

    game: Any
    start: Any

    @property
    def num_actions(self) -> tuple[int, int]:
        return self.game.num_actions

    @property
    def max_steps(self) -> int:
        return self.game.max_steps

    def reset(self, key: Key) -> Any:
        del key
        return self.start

    def step(self, state: Any, actions: tuple[Count, Count], key: Key) -> tuple[Any, Outcome]:
        return self.game.step(state, actions, key)

    def observe(self, state: Any, seat: int) -> Any:
        return self.game.observe(state, seat)

    def legal(self, state: Any, seat: int) -> Bool[Array, "actions"] | None:
        return legal_actions(self.game, state, seat)

    def privileged(self, state: Any, seat: int) -> Any:
        return privileged_view(self.game, state, seat)
