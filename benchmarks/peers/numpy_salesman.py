"""The travelling-salesman gridworld in vectorised NumPy: many games side by side, for peers that have no JAX.

The rules are those of `coadapt.games.salesman`; a test plays both side by side. Cells are compared as single numbers
and nothing is done game by game, so that no peer waits for its game longer than it must.
"""

from typing import NamedTuple

import numpy as np

MOVES = np.array([(-1, 0), (1, 0), (0, -1), (0, 1)], np.int32)
"""Up, down, left, right, as changes of row and column."""


class Rules(NamedTuple):
    size: int = 11
    subgoals: int = 4
    max_steps: int = 50
    step_reward: float = -0.01
    goal_reward: float = 0.05


class Outcomes(NamedTuple):
    """What a step brings, for each game."""

    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray


class NumpySalesman:
    """So many games. A step never resets by itself; `restart` begins those anew that are over."""

    def __init__(self, games: int, rules: Rules, seed: int = 0):
        self.rules, self.games = rules, games
        self.chances = np.random.default_rng(seed)
        self.step_number = np.zeros(games, np.int32)
        self.agents = np.zeros((games, 2, 2), np.int32)  # by seat, as row and column
        self.targets = np.zeros((games, rules.subgoals + 1), np.int32)  # cells of the subgoals, then of the goal
        self.collected = np.zeros((games, rules.subgoals), bool)
        self.restart(np.ones(games, bool))

    def restart(self, which: np.ndarray) -> None:
        """New games where `which` says so, everything on a cell of its own."""
        number = int(np.count_nonzero(which))
        if not number:
            return
        size = self.rules.size
        cells = distinct(self.chances, number, size**2, self.rules.subgoals + 3)
        self.step_number[which] = 0
        self.agents[which] = np.stack([cells[:, :2] // size, cells[:, :2] % size], axis=-1)
        self.targets[which] = np.concatenate([cells[:, 3:], cells[:, 2:3]], axis=1)
        self.collected[which] = False

    def step(self, actions: np.ndarray) -> Outcomes:
        """Both seats of every game act at once; actions are by game and seat."""
        rules = self.rules
        self.agents = np.clip(self.agents + MOVES[actions], 0, rules.size - 1)
        cells = self.agents[:, :, 0] * rules.size + self.agents[:, :, 1]
        stood_on = (cells[:, :1] == self.targets) | (cells[:, 1:] == self.targets)
        before = self.collected
        self.collected = before | stood_on[:, :-1]
        terminated = self.collected.all(axis=1) & stood_on[:, -1]
        taken = self.collected.sum(axis=1) - before.sum(axis=1) + terminated
        self.step_number += 1
        reward = (rules.step_reward + rules.goal_reward * taken).astype(np.float32)
        return Outcomes(reward, terminated, (self.step_number >= rules.max_steps) & ~terminated)

    def observe(self) -> np.ndarray:
        """What each seat of each game sees: its own place, the other's, those of subgoals and goal, what is collected.

        All main seats come first, then all partners, so that a learner may take them for games of one player.
        """
        places = np.stack([self.targets // self.rules.size, self.targets % self.rules.size], axis=-1)
        seen_by_both = np.concatenate([places.reshape(self.games, -1), self.collected], axis=1)
        own = self.agents.swapaxes(0, 1).reshape(2 * self.games, 2)
        other = self.agents[:, ::-1].swapaxes(0, 1).reshape(2 * self.games, 2)
        return np.concatenate([own, other, np.tile(seen_by_both, (2, 1))], axis=1, dtype=np.float32)


def distinct(chances: np.random.Generator, games: int, below: int, number: int) -> np.ndarray:
    """For each game so many different numbers below a limit: drawn by rank among those still free."""
    drawn = chances.integers(0, below - np.arange(number), size=(games, number), dtype=np.int32)
    for n in range(1, number):
        taken = np.sort(drawn[:, :n], axis=1)
        for other in range(n):
            drawn[:, n] += drawn[:, n] >= taken[:, other]
    return drawn
