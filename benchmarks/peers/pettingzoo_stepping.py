# pyright: reportMissingImports=false
"""Random play in one game after the other, by PettingZoo's interface: how multi-agent games are usually written."""

import random
import time
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from numpy_salesman import MOVES, NumpySalesman, Rules

PACKAGES = ("pettingzoo", "gymnasium", "numpy")

STEPS = [(int(row), int(column)) for row, column in MOVES]


class Salesman(ParallelEnv):
    """The gridworld for two, in plain Python: for a single game that is faster than NumPy."""

    metadata = {"name": "salesman"}  # noqa: RUF012 (PettingZoo's own way)
    possible_agents = ["main", "partner"]  # noqa: RUF012

    def __init__(self, rules: Rules):
        self.rules = rules
        width = 6 + 3 * rules.subgoals
        self._seen = spaces.Box(0, rules.size, (width,), np.float32)
        self._actions = spaces.Discrete(len(STEPS))

    def observation_space(self, agent):
        return self._seen

    def action_space(self, agent):
        return self._actions

    def reset(self, seed=None, options=None):
        cells = random.sample(range(self.rules.size**2), self.rules.subgoals + 3)
        main, partner, goal, *subgoals = (divmod(cell, self.rules.size) for cell in cells)
        self.begin([main, partner], subgoals, goal)
        return self._observations(), {agent: {} for agent in self.agents}

    def begin(self, places, subgoals, goal) -> None:
        """A new game with everything where it is said to be."""
        self.agents = list(self.possible_agents)
        self.places, self.subgoals, self.goal = places, subgoals, goal
        self.collected = [False] * len(subgoals)
        self.step_number = 0

    def step(self, actions):
        far = self.rules.size - 1
        for seat, agent in enumerate(self.possible_agents):
            (row, column), (down, right) = self.places[seat], STEPS[actions[agent]]
            self.places[seat] = min(max(row + down, 0), far), min(max(column + right, 0), far)
        taken = 0
        for number, subgoal in enumerate(self.subgoals):
            if not self.collected[number] and subgoal in self.places:
                self.collected[number] = True
                taken += 1
        self.step_number += 1
        terminated = all(self.collected) and self.goal in self.places
        truncated = self.step_number >= self.rules.max_steps and not terminated
        reward = self.rules.step_reward + self.rules.goal_reward * (taken + terminated)
        if terminated or truncated:
            self.agents = []
        both = self._for_both
        return self._observations(), both(reward), both(terminated), both(truncated), both({})

    def _for_both(self, value: Any) -> dict[str, Any]:
        return dict.fromkeys(self.possible_agents, value)

    def _observations(self):
        main, partner = self.places
        shared = [number for place in (*self.subgoals, self.goal) for number in place] + self.collected
        return {
            "main": np.array([*main, *partner, *shared], np.float32),
            "partner": np.array([*partner, *main, *shared], np.float32),
        }


def check(rules: Rules) -> None:
    """Before anything is measured: an episode goes as it does in the NumPy game, which is tested against ours."""
    both, alone = NumpySalesman(1, rules), Salesman(rules)
    cells = [divmod(int(cell), rules.size) for cell in both.targets[0]]
    alone.begin([tuple(map(int, place)) for place in both.agents[0]], cells[:-1], cells[-1])
    while alone.agents:
        actions = both.chances.integers(0, 4, (1, 2))
        reward, terminated, truncated = (value[0] for value in both.step(actions))
        seen, rewards, *ends, _ = alone.step(dict(zip(alone.possible_agents, actions[0].tolist(), strict=True)))
        assert np.array_equal(np.stack(list(seen.values())), both.observe())
        assert np.isclose(rewards["main"], reward)
        assert [end["main"] for end in ends] == [terminated, truncated]


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """So many steps of one game, begun anew when it is over; both seats see every step."""
    rules = Rules(**request["rules"])
    check(rules)
    game = Salesman(rules)
    game.reset()
    started = time.perf_counter()
    for _ in range(request["num_steps"]):
        game.step({"main": int(random.random() * 4), "partner": int(random.random() * 4)})
        if not game.agents:
            game.reset()
    return {"amount": request["num_steps"], "seconds": time.perf_counter() - started}
