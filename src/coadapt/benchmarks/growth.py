"""Row 7: how the cost of an iteration and the memory grow with games, the grid, subgoals and seeds in one program.

Each point is measured in a fresh process, for memory once had is not given back.
"""

from dataclasses import replace
from typing import Any, NamedTuple

from coadapt.benchmarks import ours
from coadapt.benchmarks.amounts import Amounts
from coadapt.benchmarks.asking import PeerFailed, Process
from coadapt.benchmarks.contenders import MEMORY
from coadapt.benchmarks.measuring import Entry, Quantity, Spread, spread
from coadapt.benchmarks.ours import arranged, training_request
from coadapt.experiments.salesman.world import World
from coadapt.learning.ppo import PPOConfig
from coadapt.progress import Progress

ROW = "growth"
COST = Quantity("one iteration", "s", more_is_better=False)


class Point(NamedTuple):
    """A training with one of its sizes changed."""

    axis: str
    size: int
    world: World
    training: PPOConfig
    seeds: int

    @property
    def name(self) -> str:
        return f"{self.size} {self.axis}" if self.axis != GRID else f"a grid of {self.size} x {self.size}"


GRID = "cells a side"


def points_of(amounts: Amounts) -> list[Point]:
    """All sizes of each axis, the smallest first."""
    world, training = amounts.world, amounts.self_play
    game = world.game
    resized = lambda **sizes: replace(world, game=replace(game, **sizes))
    return [
        *(Point("games", n, world, replace(training, games=n), 1) for n in amounts.growth_games),
        *(Point(GRID, n, resized(size=n), training, 1) for n in amounts.growth_sizes),
        *(Point("subgoals", n, resized(subgoals=n), training, 1) for n in amounts.growth_subgoals),
        *(Point("seeds", n, world, training, n) for n in amounts.growth_seeds),
    ]


def measure(amounts: Amounts, progress: Progress) -> list[Entry]:
    """Every point, and how its cost compares with that of the smallest on its axis."""
    points, entries = points_of(amounts), []
    smallest: dict[str, tuple[int, list[float]]] = {}
    with progress.stage(ROW, len(points)) as advance:
        for point in points:
            try:
                seconds, memory = _measured(point, amounts)
            except PeerFailed as failure:
                entries.append(Entry(ROW, point.name, COST.name, COST.unit, (), failed=str(failure)))
            else:
                first = smallest.setdefault(point.axis, (point.size, seconds))
                entries += _entries(point, seconds, memory, first)
            advance()
    return entries


def _measured(point: Point, amounts: Amounts) -> tuple[list[float], float]:
    """The seconds of an iteration, again and again, and the most memory the process had."""
    world = point.world
    tabulated = world.relation_sizes(point.training).tabulated
    request = training_request("self-play", arranged(world, tabulated), point.training, 1, point.seeds)
    with Process(point.name, ours.__name__) as process:
        process.ask(request, amounts.longest)  # which compiles it
        answers = [process.ask(request, amounts.longest) for _ in range(amounts.repetitions)]
    return [answer["seconds"] for answer in answers], answers[-1]["peak_memory"] / 1e6


def _entries(point: Point, seconds: list[float], memory: float, first: tuple[int, list[float]]) -> list[Entry]:
    size, at_first = first
    settings: dict[str, Any] = {"axis": point.axis, "size": point.size}
    linear = against_linear(size, at_first, point.size, seconds)
    note = f"{linear.median:.2f} of linear growth" if point.size != size else ""
    settings["of_linear_growth"] = linear._asdict()
    return [
        Entry(ROW, point.name, COST.name, COST.unit, tuple(seconds), None, settings, note),
        Entry(ROW, point.name, MEMORY.name, MEMORY.unit, (memory,), None, settings),
    ]


def against_linear(small: int, its_seconds: list[float], large: int, seconds: list[float]) -> Spread:
    """What the larger one costs, as a share of what it would cost if cost grew with size: below one is better."""
    base = spread(its_seconds).median * large / small
    return spread([each / base for each in seconds])
