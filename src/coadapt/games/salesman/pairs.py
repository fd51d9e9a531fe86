"""The salesman as a relation network sees it: pairs of an agent and another object, the other agent included.

On a grid a pair can be one of a few thousand things. So a pair is an index into a table of all of them, and a network
may be applied to the table once instead of to every pair of every state.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from coadapt.arrays import Array, Float, Int
from coadapt.games.salesman.rules import MOVES, SalesmanObservation, number_of
from coadapt.games.salesman.symmetry import home, turned, turned_moves

ROLES = ("own", "other")
KINDS = ("open subgoal", "goal", "agent", "collected subgoal")
OPEN, GOAL, AGENT, COLLECTED = range(len(KINDS))

Moves = Int[Array, "moves"]
"""By move: which one it is on the grid as it is seen."""
AS_THEY_ARE = jnp.arange(len(MOVES))


class Pairs(NamedTuple):
    """One observation as a relation network takes it."""

    indices: Int[Array, "pairs"]  # of rows of the table of pairs
    rest: Float[Array, "rest"]  # what is seen beside the pairs, for after the sum


class Together(NamedTuple):
    """An agent and another object, for all such pairs of an observation."""

    roles: Int[Array, "pairs"]  # of the agent
    kinds: Int[Array, "pairs"]  # of the object
    agents: Int[Array, "pairs 2"]
    objects: Int[Array, "pairs 2"]


def together(observation: SalesmanObservation) -> Together:
    """Each agent with each subgoal, with the goal, and with the other agent."""
    own, other, subgoals, goal, collected = observation
    kinds = jnp.concatenate([jnp.where(collected, COLLECTED, OPEN), jnp.array([GOAL, AGENT])])
    pairs = len(kinds)
    return Together(
        roles=jnp.repeat(jnp.arange(2), pairs, total_repeat_length=2 * pairs),
        kinds=jnp.concatenate([kinds, kinds]),
        agents=jnp.concatenate([jnp.tile(own, (pairs, 1)), jnp.tile(other, (pairs, 1))]),
        objects=jnp.concatenate([subgoals, goal[None], other[None], subgoals, goal[None], own[None]]),
    )


@dataclass(frozen=True)
class RelativePairs:
    """Pairs by role, kind, and how far the object is from the agent. After the sum: the agents' places and distance.

    Where a collected subgoal lies is of no use to anybody: all of them are one and the same, but for the agent's role.
    """

    size: int

    @property
    def rest_size(self) -> int:
        return 6

    @property
    def _span(self) -> int:
        """So many steps there can be between two objects, along a side."""
        return 2 * self.size - 1

    @property
    def rows(self) -> int:
        return len(ROLES) * (COLLECTED * self._span**2 + 1)

    def table(self) -> np.ndarray:
        roles, kinds, rows, columns = np.indices((len(ROLES), COLLECTED, self._span, self._span)).reshape(4, -1)
        steps = np.stack([rows, columns], axis=-1) - (self.size - 1)
        each_role, nowhere = np.arange(len(ROLES)), np.zeros((len(ROLES), 2))
        collected = _features(each_role, np.full(len(ROLES), COLLECTED), nowhere)
        return np.concatenate([_features(roles, kinds, steps / (self.size - 1)), collected])

    def __call__(self, observation: SalesmanObservation) -> Pairs:
        roles, kinds, agents, objects = together(observation)
        rows, columns = (objects - agents + self.size - 1).T
        somewhere = ((roles * COLLECTED + kinds) * self._span + rows) * self._span + columns
        indices = jnp.where(kinds == COLLECTED, len(ROLES) * COLLECTED * self._span**2 + roles, somewhere)
        own, other = (place.astype(jnp.float32) / (self.size - 1) for place in (observation.own, observation.other))
        return Pairs(indices, jnp.concatenate([2 * own - 1, 2 * other - 1, other - own]))

    def permutation(self, observation: SalesmanObservation) -> Moves:
        del observation
        return AS_THEY_ARE


@dataclass(frozen=True)
class TurnedPairs(RelativePairs):
    """The same on a grid that is turned, and mirrored, so that one's own agent is always in the same eighth of it.

    What is right in one corner is right in all of them. So it need not be learnt eight times.
    """

    def __call__(self, observation: SalesmanObservation) -> Pairs:
        return super().__call__(turned(observation, self.size, home(observation, self.size)))

    def permutation(self, observation: SalesmanObservation) -> Moves:
        return turned_moves(home(observation, self.size))


@dataclass(frozen=True)
class AbsolutePairs:
    """Pairs by role, kind, and the cells of both. Nothing after the sum."""

    size: int

    @property
    def rest_size(self) -> int:
        return 0

    @property
    def rows(self) -> int:
        return len(ROLES) * len(KINDS) * self.size**4

    def table(self) -> np.ndarray:
        cells = self.size**2
        roles, kinds, agents, objects = np.indices((len(ROLES), len(KINDS), cells, cells)).reshape(4, -1)
        places = np.stack([agents // self.size, agents % self.size, objects // self.size, objects % self.size], axis=-1)
        return _features(roles, kinds, places / (self.size - 1) * 2 - 1)

    def __call__(self, observation: SalesmanObservation) -> Pairs:
        roles, kinds, agents, objects = together(observation)
        cells, agent, object_ = self.size**2, number_of(agents, self.size), number_of(objects, self.size)
        return Pairs(((roles * len(KINDS) + kinds) * cells + agent) * cells + object_, jnp.zeros(0))

    def permutation(self, observation: SalesmanObservation) -> Moves:
        del observation
        return AS_THEY_ARE


def _features(roles: np.ndarray, kinds: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Role and kind as one-hot, then the places."""
    return np.concatenate([np.eye(len(ROLES))[roles], np.eye(len(KINDS))[kinds], places], axis=-1).astype(np.float32)
