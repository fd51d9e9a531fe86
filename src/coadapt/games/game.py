"""What a game is: pure functions on a state, for two seats and one shared reward."""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax

from coadapt.arrays import Array, Bool, Count, Flag, Key, Scalar

MAIN, PARTNER = 0, 1
"""The seats: the agent under study, and the one it has to get along with."""


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
    legal = getattr(game, "legal", None)
    return None if legal is None else legal(state, seat)


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
