"""The two optima of the paper's table: the best plan of two agents that may wait, and of one agent alone.

Two agents that may wait need at most as many steps as two that may not, which is `joint_optimum`. An agent alone is
what is left when the partner does nothing.
"""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class Plans(NamedTuple):
    """The steps of the best plans, for each layout."""

    joint: np.ndarray
    alone: np.ndarray  # by the agent


class _Ways(NamedTuple):
    """The shortest ways of an agent through a set of subgoals: to the last of them, or on to the goal."""

    open: np.ndarray
    home: np.ndarray


def best_plans(agents: np.ndarray, subgoals: np.ndarray, goal: np.ndarray) -> Plans:
    """For layouts along the first axis: both agents' cells, the subgoals' and the goal's.

    Each agent takes its share of the subgoals, and one of the two ends on the goal; a plan is as long as the longer.
    """
    everything = tuple(range(subgoals.shape[1]))
    ways = {
        (agent, chosen): _ways(agents[:, agent], subgoals, goal, chosen)
        for agent in range(2)
        for chosen in _subsets(everything)
    }
    joint = []
    for mine in _subsets(everything):
        one, other = ways[0, mine], ways[1, tuple(k for k in everything if k not in mine)]
        joint += [np.maximum(one.home, other.open), np.maximum(one.open, other.home)]
    alone = np.stack([ways[agent, everything].home for agent in range(2)], axis=1)
    return Plans(np.min(joint, axis=0), alone)


def _subsets(things: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return itertools.chain.from_iterable(itertools.combinations(things, n) for n in range(len(things) + 1))


def _ways(agent: np.ndarray, subgoals: np.ndarray, goal: np.ndarray, chosen: tuple[int, ...]) -> _Ways:
    """Over all orders in which the chosen subgoals can be visited."""
    each = []
    for order in itertools.permutations(chosen):
        stops = [agent, *(subgoals[:, k] for k in order)]
        length = np.zeros(len(agent), int)
        for one, other in itertools.pairwise(stops):
            length = length + _distance(one, other)
        each.append((length, length + _distance(stops[-1], goal)))
    return _Ways(*(np.min(lengths, axis=0) for lengths in zip(*each, strict=True)))


def _distance(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.abs(one - other).sum(axis=-1)
