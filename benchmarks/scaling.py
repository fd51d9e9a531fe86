"""Row 7: how the cost of an iteration and the memory scale with games, the grid, subgoals and seeds in one program.

Each point is a process of its own, for memory once had is not given back. All points of an axis take turns.
"""

from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from benchmarks.contenders import MEMORY, Contenders
from benchmarks.measuring import Contender, Entry, Quantity, Spread, side_by_side, spread, turns
from benchmarks.ours import training_request
from benchmarks.sizes import Sizes
from benchmarks.training import RATE
from coadapt.experiments.salesman.task import SalesmanTask
from coadapt.learning.ppo import PPOConfig
from coadapt.runs.progress import Progress

ROW = "scaling"
COST = Quantity("one iteration", "s", more_is_better=False)


class Point(NamedTuple):
    """A training with one of its sizes changed."""

    axis: str
    size: int
    task: SalesmanTask
    training: PPOConfig
    seeds: int

    @property
    def name(self) -> str:
        return f"{self.size} {self.axis}" if self.axis != GRID else f"a grid of {self.size} x {self.size}"


GRID = "cells a side"


def points_of(sizes: Sizes) -> list[Point]:
    """All sizes of each axis, the smallest first."""
    task, training = sizes.task, sizes.self_play
    resized = lambda **changed: replace(task, game=replace(task.game, **changed))
    return [
        *(Point("games", n, task, replace(training, num_envs=n), 1) for n in sizes.scaling_games),
        *(Point(GRID, n, resized(size=n), training, 1) for n in sizes.scaling_sizes),
        *(Point("subgoals", n, resized(subgoals=n), training, 1) for n in sizes.scaling_subgoals),
        *(Point("seeds", n, task, training, n) for n in sizes.scaling_seeds),
    ]


def measure(sizes: Sizes, contenders: Contenders, progress: Progress) -> list[Entry]:
    """Every point, and how its cost compares with that of the one before it on its axis."""
    axes = [list(points) for _, points in groupby(points_of(sizes), key=lambda point: point.axis)]
    entries: list[Entry] = []
    with progress.stage(ROW, sum(turns(points, sizes.repetitions) for points in axes)) as advance:
        for points in axes:
            taking_part = [_contender(point, contenders) for point in points]
            found = side_by_side(ROW, taking_part, sizes.repetitions, advance)
            entries += _compared(points, found)
            contenders.dismiss()  # their memory is needed for the next axis
    return entries


def _contender(point: Point, contenders: Contenders) -> Contender:
    request = training_request("self-play", point.task, point.training, 1, point.seeds)
    return contenders.ours(point.name, request, RATE)


def _compared(points: list[Point], found: list[Entry]) -> list[Entry]:
    """Rates as seconds of an iteration, beside those of the size before: linear scaling from there on is what is fair.

    From the smallest on nearly everything would be better than linear, for at first fixed costs are all there is.
    """
    costs = {entry.contender: entry for entry in found if entry.quantity == RATE.name}
    memory = {entry.contender: entry for entry in found if entry.quantity == MEMORY.name}
    seconds_of = {point: _seconds(point, costs[point.name]) for point in points}
    entries: list[Entry] = []
    for before, point in zip(points[:1] + points, points, strict=False):
        seconds = seconds_of[point]
        settings = {"axis": point.axis, "size": point.size}
        linear = against_linear(before.size, seconds_of[before], point.size, seconds)
        if linear is not None:
            settings["of_linear_scaling"] = linear._asdict()
        failed = costs[point.name].failed
        entries.append(Entry(ROW, point.name, COST.name, COST.unit, seconds, None, settings, failed=failed))
        entries += [replace(memory[point.name], ratio=None, settings=settings)] if point.name in memory else []
    return entries


def _seconds(point: Point, entry: Entry) -> tuple[float, ...]:
    """Of an iteration of all seeds, in every turn."""
    steps = point.seeds * point.training.steps_per_iteration
    return tuple(steps / rate for rate in entry.repetitions)


def against_linear(small: int, its_seconds: tuple[float, ...], large: int, seconds: tuple[float, ...]) -> Spread | None:
    """What the larger one costs, as a share of what it would cost if cost were linear in size: below one is better."""
    both = list(zip(its_seconds, seconds, strict=False))  # some have had fewer turns
    return spread([cost / (least * large / small) for least, cost in both]) if both else None
