"""Row 4: from nothing to an agent that passes the paper, in minutes and in steps of play, compiling included.

Each seed is a process of its own. The clock runs from its start and stands still while the agent is evaluated.
"""

import time
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks import from_scratch
from benchmarks.client import PeerFailed, Process
from benchmarks.measuring import Entry, Quantity, ratio_to_ours
from benchmarks.sizes import Sizes
from benchmarks.training import RATE, STABLE_BASELINES
from coadapt.configs.data import plain
from coadapt.runs.progress import Advance, Progress

ROW = "quality"
OURS = "coadapt"

SKILLED, PASSED = "self-play as long as the paper's", "the paper's three rows passed"
"""The two milestones: self-play as good as the paper's skilled pair, and an agent that is better than the paper's."""
MINUTES = {goal: Quantity(goal, "minutes", more_is_better=False) for goal in (SKILLED, PASSED)}
STEPS = {goal: Quantity(goal, "environment steps", more_is_better=False) for goal in (SKILLED, PASSED)}


class Reached(NamedTuple):
    """When a milestone was reached."""

    minutes: float
    steps: int  # of play
    samples: int  # learnt from: in self-play, both seats learn from each step


class SeedOutcome(NamedTuple):
    """What became of one seed."""

    reached: dict[str, Reached]
    returns: dict[str, float]  # with partners of each type, when it was last evaluated
    evaluating: float  # seconds that do not count
    failed: str | None = None


def measure(sizes: Sizes, progress: Progress, before: Sequence[Entry] = ()) -> list[Entry]:
    """All seeds one after the other; and how long the best peer would take for as much, by its rate in row 2."""
    with progress.stage(ROW, len(sizes.quality_seeds)) as advance:
        outcomes = {seed: _train(seed, sizes, progress, advance) for seed in sizes.quality_seeds}
    return [*_ours(outcomes, sizes), *_extrapolated(outcomes, before)]


def _train(seed: int, sizes: Sizes, progress: Progress, advance: Advance) -> SeedOutcome:
    request = {"seed": seed, "config": plain(sizes.quality), "goals": sizes.goals}
    reached: dict[str, Reached] = {}
    steps = samples = 0
    evaluating, returns, stage = 0.0, {}, ""
    try:
        with Process(f"seed {seed}", from_scratch.__name__) as child:
            while PASSED not in reached:
                report = child.ask(request, sizes.longest)
                if "over" in report:
                    raise PeerFailed(f"seed {seed} was not good enough when its training was over")
                steps += report["steps"]
                samples += report["steps"] * (2 if report["stage"] == "self-play" else 1)
                evaluating += report.get("evaluating", 0.0)
                returns = report.get("returns", returns)
                now = Reached((time.monotonic() - child.started - evaluating) / 60, steps, samples)
                reached |= {SKILLED: now} if report.get("skilled") else {}
                reached |= {PASSED: now} if report.get("passed") else {}
                if report["stage"] != stage:
                    stage = report["stage"]
                    progress.say(f"seed {seed}: {stage}, after {now.minutes:.1f} minutes")
    except PeerFailed as failure:
        advance()
        return SeedOutcome(reached, returns, evaluating, str(failure))
    advance(minutes=reached[PASSED].minutes)
    return SeedOutcome(reached, returns, evaluating)


def _ours(outcomes: dict[int, SeedOutcome], sizes: Sizes) -> list[Entry]:
    settings = {"seeds": list(outcomes), "config": plain(sizes.quality), "goals": sizes.goals}
    failures = [outcome.failed for outcome in outcomes.values() if outcome.failed]
    failed = "; ".join(failures) or None
    evaluated = sum(outcome.evaluating for outcome in outcomes.values())
    note = f"a number for each seed, from the start of its process; without the {evaluated:.0f} s of all evaluations"
    settings["returns"] = {str(seed): outcome.returns for seed, outcome in outcomes.items()}
    return [
        Entry(ROW, OURS, quantity.name, quantity.unit, values, None, settings, note, failed=failed)
        for goal in (SKILLED, PASSED)
        for quantity, values in (
            (MINUTES[goal], _all(outcomes, goal, "minutes")),
            (STEPS[goal], _all(outcomes, goal, "steps")),
        )
    ]


def _all(outcomes: dict[int, SeedOutcome], goal: str, what: str) -> tuple[float, ...]:
    """Of every seed; nothing if one of them never came so far, for the others alone would look too good."""
    if any(goal not in outcome.reached for outcome in outcomes.values()):
        return ()
    return tuple(getattr(outcome.reached[goal], what) for outcome in outcomes.values())


def _extrapolated(outcomes: dict[int, SeedOutcome], before: Sequence[Entry]) -> list[Entry]:
    """The minutes a peer would need to learn from as many samples as ours, at the rate it had in row 2.

    There, too, both seats learnt from each step. This supposes that it learns as much from a sample as ours, and that
    partners and a predictor cost it nothing extra.
    """
    rates = [entry for entry in before if _is_peer_rate(entry)]
    if not rates:
        return []
    best = max(rates, key=lambda entry: entry.value.median if entry.value else 0.0)
    assert best.value is not None
    a_minute = 2 * 60 * best.value.median
    return [
        Entry(
            ROW,
            best.contender,
            goal,
            MINUTES[goal].unit,
            theirs,
            ratio_to_ours(MINUTES[goal], _all(outcomes, goal, "minutes"), theirs),
            {"samples_a_minute": a_minute},
            "from its rate in the row on training and the samples that ours learnt from",
            extrapolated=True,
        )
        for goal in (SKILLED, PASSED)
        for theirs in [tuple(samples / a_minute for samples in _all(outcomes, goal, "samples"))]
    ]


def _is_peer_rate(entry: Entry) -> bool:
    return entry.contender.startswith(STABLE_BASELINES) and entry.quantity == RATE.name and entry.value is not None
