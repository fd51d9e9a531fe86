"""What a game is: pure functions on a state, for two seats and one shared reward."""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax

from coadapt.arrays import Count, Flag, Key, Scalar

MAIN, PARTNER = 0, 1
"""The seats: the agent under study, and the one it has to get along with."""


class Outcome(NamedTuple):
    """What one step of a game brings.

    `terminated`: the episode is over and nothing can follow it. `truncated`: it is cut off here, though the game could
    have gone on, so whoever learns has to imagine the rest.
    """

    reward: Scalar
    terminated: Flag
    truncated: Flag


@runtime_checkable
class Game(Protocol):
    """A cooperative game of two. Sizes are static, numbers are leaves; `step` never resets by itself."""

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

    def step(self, state: Any, actions: tuple[Count, Count]) -> tuple[Any, Outcome]:
        """Both seats act at once."""
        ...

    def observe(self, state: Any, seat: int) -> Any:
        """What the player in this seat sees."""
        ...


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

    def step(self, state: Any, actions: tuple[Count, Count]) -> tuple[Any, Outcome]:
        return self.game.step(state, actions)

    def observe(self, state: Any, seat: int) -> Any:
        return self.game.observe(state, seat)
