"""The grid's eight symmetries: however it is turned or mirrored, the salesman's rules are the same."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Bool, Flag, Int
from coadapt.games.salesman.rules import MOVES, Cell, SalesmanObservation


class Turn(NamedTuple):
    """Which of them: whether rows and columns are counted from their other end, and whether they then change places."""

    backwards: Bool[Array, "2"]
    swapped: Flag


def home(observation: SalesmanObservation, size: int) -> Turn:
    """The turn that brings one's own agent into the eighth of the grid near its first corner, above the diagonal.

    Where it stands between two eighths, the other agent decides. So, but for the few boards on which that one is in
    between as well, all eight ways to turn a board come home to the same one.
    """
    own, other = (2 * place - (size - 1) for place in (observation.own, observation.other))  # from the middle
    beyond = 2 * size * own + other
    row, column = -jnp.abs(beyond)
    return Turn(beyond > 0, row > column)


def turned(observation: SalesmanObservation, size: int, turn: Turn) -> SalesmanObservation:
    """What is seen when the grid is turned."""
    place = lambda cell: _turned(cell, size - 1 - cell, turn)
    own, other, subgoals, goal, collected = observation
    return SalesmanObservation(place(own), place(other), jax.vmap(place)(subgoals), place(goal), collected)


def turned_moves(turn: Turn) -> Int[Array, "moves"]:
    """By move: which move it is on the turned grid."""
    moves = jnp.asarray(MOVES)
    which = lambda move: jnp.argmax(jax.vmap(lambda each: jnp.all(each == _turned(move, -move, turn)))(moves))
    return jax.vmap(which)(moves)


def _turned(pair: Cell, backwards: Cell, turn: Turn) -> Cell:
    """A row and a column on the turned grid, given both as counted from either end."""
    counted = jnp.where(turn.backwards, backwards, pair)
    return jnp.where(turn.swapped, counted[::-1], counted)
