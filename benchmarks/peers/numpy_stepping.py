"""Random play in the vectorised NumPy game."""

import time
from typing import Any

from numpy_salesman import NumpySalesman, Rules

PACKAGES = ("numpy",)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """So many steps of so many games, begun anew when they are over; both seats see every step."""
    games, steps = request["games"], request["steps"]
    played = NumpySalesman(games, Rules(**request["rules"]))
    started = time.perf_counter()
    for _ in range(steps):
        _, terminated, truncated = played.step(played.chances.integers(0, 4, (games, 2)))
        played.restart(terminated | truncated)
        played.observe()
    return {"amount": games * steps, "seconds": time.perf_counter() - started}
