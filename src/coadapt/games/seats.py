"""The same game with the main agent in its other seat, or in either of them."""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Bool, Count, Flag, Key
from coadapt.configs.checks import shown
from coadapt.games.game import MAIN, PARTNER, WHO_SITS, Outcome, legal_actions, privileged_view
from coadapt.games.traced import check_alike


@partial(jax.tree_util.register_dataclass, data_fields=["game"], meta_fields=[])
@dataclass(frozen=True)
class OtherSeat:
    """A game in which the main agent sits where the game itself has the partner."""

    game: Any

    @property
    def num_actions(self) -> tuple[int, int]:
        first, second = self.game.num_actions
        return second, first

    @property
    def max_steps(self) -> int:
        return self.game.max_steps

    def reset(self, key: Key) -> Any:
        return self.game.reset(key)

    def step(self, state: Any, actions: tuple[Count, Count], key: Key) -> tuple[Any, Outcome]:
        return self.game.step(state, actions[::-1], key)

    def observe(self, state: Any, seat: int) -> Any:
        return self.game.observe(state, _across(seat))

    def legal(self, state: Any, seat: int) -> Bool[Array, "actions"] | None:
        return legal_actions(self.game, state, _across(seat))

    def privileged(self, state: Any, seat: int) -> Any:
        return privileged_view(self.game, state, _across(seat))


class SeatedState(NamedTuple):
    """A state of the game, and whether the main agent sits across from its usual seat."""

    state: Any
    across: Flag


@partial(jax.tree_util.register_dataclass, data_fields=["game"], meta_fields=[])
@dataclass(frozen=True)
class EitherSeat:
    """A game in which the main agent sits in either seat, in half of the episodes each.

    Both seats must have the same actions and observations of the same shapes; an agent knows where it sits if its
    observation tells.
    """

    game: Any

    def __post_init__(self) -> None:
        actions = getattr(self.game, "num_actions", None)
        if isinstance(actions, tuple) and len(set(actions)) > 1:
            raise ValueError(f"whoever sits in either seat must have the same actions in both, not {shown(actions)}")

    @property
    def num_actions(self) -> tuple[int, int]:
        return self.game.num_actions

    @property
    def max_steps(self) -> int:
        return self.game.max_steps

    def reset(self, key: Key) -> SeatedState:
        for_game, for_seat = jax.random.split(key)
        return SeatedState(self.game.reset(for_game), jax.random.bernoulli(for_seat))

    def step(self, state: SeatedState, actions: tuple[Count, Count], key: Key) -> tuple[SeatedState, Outcome]:
        main, partner = actions
        seated = jnp.where(state.across, partner, main), jnp.where(state.across, main, partner)
        after, outcome = self.game.step(state.state, seated, key)
        return state._replace(state=after), outcome

    def observe(self, state: SeatedState, seat: int) -> Any:
        return _of_seat(state, seat, lambda seat: self.game.observe(state.state, seat))

    def legal(self, state: SeatedState, seat: int) -> Bool[Array, "actions"] | None:
        return _of_seat(state, seat, lambda seat: legal_actions(self.game, state.state, seat))

    def privileged(self, state: SeatedState, seat: int) -> Any:
        return _of_seat(state, seat, lambda seat: privileged_view(self.game, state.state, seat))


def _of_seat(state: SeatedState, seat: int, what: Any) -> Any:
    """What the game has for whoever takes this seat now."""
    there, here = what(_across(seat)), what(seat)
    shapes = jax.eval_shape(lambda: (there, here))
    check_alike(
        "what is shown to whoever sits in either seat", *shapes, *(WHO_SITS[of] for of in (_across(seat), seat))
    )
    return jax.tree.map(lambda a, b: jnp.where(state.across, a, b), there, here)


def _across(seat: int) -> int:
    return MAIN + PARTNER - seat
