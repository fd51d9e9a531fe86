"""The salesman's gridworld with everything but the agents where it is: few enough states to list them all."""

from typing import NamedTuple

import jax.numpy as jnp

from coadapt.arrays import Array, Bool, Count, Int, Key
from coadapt.games.salesman.rules import Cell, Salesman, SalesmanState, cell_of, distinct, number_of


class Layout(NamedTuple):
    """What stays where it is throughout an episode."""

    subgoals: Int[Array, "subgoals 2"]
    goal: Cell


def layout_of(state: SalesmanState) -> Layout:
    """The layout of a game."""
    return Layout(state.subgoals, state.goal)


def start_on(key: Key, game: Salesman, layout: Layout) -> SalesmanState:
    """A new game on a layout: both agents on free cells, each on its own, any two as likely as any other."""
    taken = jnp.sort(number_of(jnp.concatenate([layout.subgoals, layout.goal[None]]), game.size))
    free = distinct(key, game.size**2 - len(taken), 2)
    for other in taken:
        free = free + (free >= other).astype(jnp.int32)
    nothing = jnp.zeros(game.subgoals, bool)
    return SalesmanState(jnp.int32(0), cell_of(free, game.size), layout.subgoals, layout.goal, nothing)


def table_shape(game: Salesman) -> tuple[int, int, int, int, int]:
    """A number for every state of a layout: the main agent's row and column, the partner's, and the set collected."""
    return game.size, game.size, game.size, game.size, 2**game.subgoals


def place(main: Cell, partner: Cell, collected: Bool[Array, "subgoals"]) -> tuple[Count, Count, Count, Count, Count]:
    """Where in a table to look."""
    number = jnp.sum(collected.astype(jnp.int32) << jnp.arange(len(collected)))
    return main[0], main[1], partner[0], partner[1], number


def states_of(game: Salesman, layout: Layout) -> SalesmanState:
    """Every state of a layout before the first step, in the order of a table that is laid out flat."""
    cells, sets = game.size**2, 2**game.subgoals
    number = jnp.arange(cells * cells * sets)
    main, partner = number // sets // cells, number // sets % cells
    collected = (number % sets)[:, None] >> jnp.arange(game.subgoals)[None] & 1
    same = lambda leaf: jnp.broadcast_to(leaf, (len(number), *leaf.shape))
    agents = jnp.stack([cell_of(main, game.size), cell_of(partner, game.size)], axis=1)
    return SalesmanState(same(jnp.int32(0)), agents, same(layout.subgoals), same(layout.goal), collected.astype(bool))
