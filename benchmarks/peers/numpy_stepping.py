"""Random play in the vectorised NumPy game."""

import time
from typing import Any

from numpy_salesman import NumpySalesman, Rules

PACKAGES = ("numpy",)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """So many steps of so many games, begun anew when they are over; both seats see every step."""
    num_envs, num_steps = request["num_envs"], request["num_steps"]
    played = NumpySalesman(num_envs, Rules(**request["rules"]))
    started = time.perf_counter()
    for _ in range(num_steps):
        _, terminated, truncated = played.step(played.chances.integers(0, 4, (num_envs, 2)))
        played.restart(terminated | truncated)
        played.observe()
    return {"amount": num_envs * num_steps, "seconds": time.perf_counter() - started}
