"""The travelling-salesman gridworld: two agents collect all subgoals, and then one of them reaches the final goal.

Both move at once, by one cell, and may share a cell; a move into a wall leaves an agent where it is. Being on a subgoal
collects it, for both. The final goal counts as soon as no subgoal is left, in the very step that takes the last one,
too. Every step costs a little and every goal pays, so what is worth learning is to divide the work.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.arrays import Array, Bool, Count, Int, Key
from coadapt.configs.checks import MOST_STEPS, between, whole
from coadapt.games.game import MAIN, Outcome

MOVES = np.array([(-1, 0), (1, 0), (0, -1), (0, 1)], np.int32)
"""Up, down, left, right, as changes of row and column."""

MOST_CELLS, MOST_SUBGOALS = 200, 30
"""Along a side, for a network looks at a table of all pairs of places; and such as are compared with one another."""

Cell = Int[Array, "2"]


class SalesmanState(NamedTuple):
    """Where everything is, as row and column, and what is still to do."""

    step: Count
    agents: Int[Array, "2 2"]  # by seat
    subgoals: Int[Array, "subgoals 2"]
    goal: Cell
    collected: Bool[Array, "subgoals"]


class SalesmanObservation(NamedTuple):
    """What one seat sees: everything but the time."""

    own: Cell
    other: Cell
    subgoals: Int[Array, "subgoals 2"]
    goal: Cell
    collected: Bool[Array, "subgoals"]


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["step_reward", "goal_reward"],
    meta_fields=["size", "subgoals", "max_steps"],
)
@dataclass(frozen=True)
class Salesman:
    """A grid of `size` by `size` cells. The step limit is the paper's gap: fifty fits what it prints."""

    size: int = 11
    subgoals: int = 4
    max_steps: int = 50
    step_reward: float = -0.01
    goal_reward: float = 0.05

    def __post_init__(self) -> None:
        whole("size", self.size, least=2, most=MOST_CELLS)
        whole("subgoals", self.subgoals, least=1, most=min(self.size**2, MOST_SUBGOALS))
        whole("max_steps", self.max_steps, most=MOST_STEPS)
        between("step_reward", self.step_reward, -1e6, 1e6)
        between("goal_reward", self.goal_reward, -1e6, 1e6)
        if self.subgoals + 3 > self.size**2:
            raise ValueError(
                f"size must leave room for {self.subgoals} subgoals, a goal and two agents, each on a cell of its own, "
                f"not {self.size}: {self.size}x{self.size} cells are too few"
            )

    @property
    def num_actions(self) -> tuple[int, int]:
        return len(MOVES), len(MOVES)

    def reset(self, key: Key) -> SalesmanState:
        """Everything on a cell of its own, each placement as likely as any other."""
        places = cell_of(distinct(key, self.size**2, self.subgoals + 3), self.size)
        return SalesmanState(
            step=jnp.int32(0),
            agents=places[:2],
            subgoals=places[3:],
            goal=places[2],
            collected=jnp.zeros(self.subgoals, bool),
        )

    def step(
        self, state: SalesmanState, actions: tuple[Count, Count], key: Key | None = None
    ) -> tuple[SalesmanState, Outcome]:
        del key  # nothing happens by chance
        agents = jnp.clip(state.agents + jnp.asarray(MOVES)[jnp.stack(actions)], 0, self.size - 1)
        collected = state.collected | _anyone_on(agents, state.subgoals)
        terminated = jnp.all(collected) & _anyone_on(agents, state.goal[None])[0]
        taken = jnp.sum(collected & ~state.collected) + terminated.astype(jnp.int32)
        after = state._replace(step=state.step + 1, agents=agents, collected=collected)
        reward = self.step_reward + self.goal_reward * taken.astype(jnp.float32)
        return after, Outcome(reward, terminated, truncated=(after.step >= self.max_steps) & ~terminated)

    def observe(self, state: SalesmanState, seat: int) -> SalesmanObservation:
        own, other = (0, 1) if seat == MAIN else (1, 0)
        return SalesmanObservation(state.agents[own], state.agents[other], state.subgoals, state.goal, state.collected)


def cell_of(number: Int[Array, "*many"], size: int) -> Int[Array, "*many 2"]:
    """The row and column of a cell; cells are numbered row by row."""
    return jnp.stack([number // size, number % size], axis=-1)


def number_of(cell: Int[Array, "*many 2"], size: int) -> Int[Array, "*many"]:
    """The number of a cell."""
    return cell[..., 0] * size + cell[..., 1]


def distinct(key: Key, below: int, number: int) -> Int[Array, "number"]:
    """So many different numbers below a limit, any choice and order of them as likely as any other.

    Each is drawn by its rank among those still free; counting past the taken ones, from the lowest up, turns the rank
    into the number. A shuffle of all would take a hundred times as long, and every step of play may need a new game.
    """
    ranks = jax.random.randint(key, (number,), 0, below - jnp.arange(number))
    drawn: list[Count] = []
    taken: list[Count] = []  # the same in ascending order
    for n in range(number):
        one = ranks[n]
        for other in taken:
            one = one + (one >= other).astype(jnp.int32)
        drawn.append(one)
        rising, largest = [], one
        for other in taken:
            rising.append(jnp.minimum(other, largest))
            largest = jnp.maximum(other, largest)
        taken = [*rising, largest]
    return jnp.stack(drawn)


def _anyone_on(agents: Int[Array, "2 2"], cells: Int[Array, "cells 2"]) -> Bool[Array, "cells"]:
    """Which of the cells an agent stands on."""
    return jnp.any(jnp.all(agents[:, None] == cells[None], axis=-1), axis=0)
