"""What tells why an agent loses: what everybody earns, what beliefs know, and whether trainings were done learning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

from coadapt.evaluation.adaptation import calibration
from coadapt.evaluation.statistics import crossed
from coadapt.pipeline.methods import METHODS, methods_of
from coadapt.pipeline.regret_tables import KNOWING_MORE, tells_losses
from coadapt.pipeline.results import Results
from coadapt.pipeline.wording import SOURCES, titles

POSTERIOR, TRUTH = KNOWING_MORE
SHUFFLED, ALWAYS = "shuffled_label", "always_"


class Size(NamedTuple):
    """How large something is, with a 95% interval for new seeds; where there is one seed, for new episodes."""

    mean: float
    low: float
    high: float
    error: float  # its standard error

    @property
    def seen(self) -> bool:
        """More than noise. Only what is not even seen is said to be missing: an interval of two seeds is wide."""
        return self.mean > 2 * self.error

    @property
    def certain(self) -> bool:
        """More than noise with new seeds, too."""
        return self.low > 0

    def __neg__(self) -> Size:
        return Size(-self.mean, -self.high, -self.low, self.error)

    def __str__(self) -> str:
        return f"{self.mean:.4f}" + (f" ({self.interval})" if self.interval else "")

    @property
    def interval(self) -> str:
        return "" if np.isnan(self.low) else f"{self.low:.4f} to {self.high:.4f}"


def size_of(values: np.ndarray) -> Size:
    """From a value for each seed, or for each seed and layout; where there is one seed, for each layout."""
    rows = values if len(values) > 1 else values[0]
    along = [rows.mean(axis=tuple(other for other in range(rows.ndim) if other != axis)) for axis in range(rows.ndim)]
    error = sum(means.var(ddof=1) / means.size for means in along) ** 0.5
    found = crossed(rows)
    return Size(found.mean, found.low, found.high, float(error))


def size_of_one(value: float, error: float, reach: float = 1.96) -> Size:
    """From a single value; its interval reaches so many standard errors to each side."""
    return Size(value, value - reach * error, value + reach * error, error)


class Earned(NamedTuple):
    """What somebody earns with held-out partners."""

    by_type: np.ndarray  # type, seed
    error: float  # that the episodes of the first seed leave in the mean over types

    @property
    def mean(self) -> float:
        return float(self.by_type.mean())

    def more_than(self, other: Earned) -> Size:
        """In the mean over types."""
        more = (self.by_type - other.by_type).mean(axis=0)
        return size_of(more) if len(more) > 1 else size_of_one(float(more[0]), float(np.hypot(self.error, other.error)))


def earned_by_all(results: Results) -> dict[str, Earned]:
    """By who was evaluated in the headline's mode: methods, and the main one's policy with other labels."""
    there = {who for who, _, mode in results.cells if mode == results.mode}
    return {who: earned(results, who) for who in titles(results) if who in there}


def earned(results: Results, who: str) -> Earned:
    of_types = lambda what: [results.by_seed(who, results.mode, type_, what) for type_ in results.types]
    by_type = np.array([total.mean(axis=1) for total in of_types("total")])
    squared = [np.mean(errors[0] ** 2) / errors.shape[1] for errors in of_types("total_error")]
    return Earned(by_type, float((np.mean(squared) / len(squared)) ** 0.5))


class Known(NamedTuple):
    """How well a belief knows held-out partners. All but the calibration are means over types."""

    half: int  # steps: half of an episode's mean length
    at_first: float  # how often it is right before the partner has done anything
    at_half: float
    at_the_end: float
    accuracy: float  # over all steps
    guess: float  # of one who always names the same type
    better: Size  # by so much the accuracy is above a guess
    calibration_error: float


def known_by_all(results: Results) -> dict[str, Known]:
    """By source: the predictor and the exact posterior, if they were asked and there are types to tell apart."""
    there = SOURCES if len(results.types) > 1 else ()
    return {source: known(results, source) for source in there if source in results.sources}


def known(results: Results, source: str) -> Known:
    lasting, by_type = results.opinion(source, kept=False), [results.opinion(source, type_) for type_ in results.types]
    half = int(lasting.counted.sum() / lasting.counted[0] / 2)
    right_at = lambda step: float(np.mean([of.correct[step] / of.counted[step] for of in by_type]))
    each, guess = _accuracy_by_seed(results, source), 1 / len(results.types)
    accuracy = float(each.mean())
    error = float((accuracy * (1 - accuracy) / lasting.counted[0]) ** 0.5)  # an episode is one draw, however long
    better = size_of(each - guess) if len(each) > 1 else size_of_one(accuracy - guess, error)
    return Known(half, right_at(0), right_at(half), right_at(-1), accuracy, guess, better, calibration(lasting).error)


def _accuracy_by_seed(results: Results, source: str) -> np.ndarray:
    of_seeds = [results.opinions[source, seed, results.mode].lasting for seed in results.study.seeds]
    share = lambda of, those: np.sum(of.correct[those]) / np.sum(of.counted[those])
    return np.array([np.mean([share(of, results.of_type(type_)) for type_ in results.types]) for of in of_seeds])


class Learning(NamedTuple):
    """Where a training stood in the end, and what as many iterations again would give if it went on like that."""

    metric: str = ""  # none where nothing is known of it
    last: float = np.nan
    gain: Size | None = None  # more is better; none where the curve is too short to tell

    @property
    def improves(self) -> bool:
        return self.gain is not None and self.gain.certain

    @property
    def is_level(self) -> bool:
        return self.gain is not None and not self.gain.certain

    def __str__(self) -> str:
        if not self.metric:
            return ""
        if self.gain is None:
            return "its learning curve is too short to tell more"
        better = "falling" if self.metric == "loss" else "rising"
        return f"its {self.metric} was " + (f"still {better}" if self.improves else "level")


def learning_of_all(results: Results) -> dict[str, Learning]:
    """Of the trainings of all methods, by purpose."""
    trainings = [t for method in methods_of(results.study).values() for t in method.trainings(results.study)]
    curves = lambda purpose: [results.curves.get((purpose, seed)) for seed in results.study.seeds]
    found = {purpose: curves(purpose) for purpose in dict.fromkeys(t.purpose for t in trainings)}
    return {purpose: _learning([of for of in each if of]) for purpose, each in found.items() if all(each)}


def _learning(curves: Sequence[dict[str, np.ndarray]]) -> Learning:
    """From the curves of each seed."""
    metric, sign = ("loss", -1) if "loss" in curves[0] else ("reward", 1)
    points = np.array([of[metric] for of in curves], np.float64)
    return Learning(metric, float(points[:, -1].mean()), gain_of(sign * points))


def gain_of(curves: np.ndarray) -> Size | None:
    """By how much as many iterations again would raise curves (seed, point) with the slope of their last quarter.

    That has four points at least, where there are as many. Of one seed, what a straight line leaves over is noise.
    """
    seeds, points = curves.shape
    last = min(points, max(4, points // 4 + 1))
    if last < (3 if seeds == 1 else 2):
        return None
    steps = np.arange(last) - (last - 1) / 2
    rises = curves[:, -last:] - curves[:, -last:].mean(axis=1, keepdims=True)
    slopes = rises @ steps / (steps @ steps)
    if seeds > 1:
        return size_of(points * slopes)
    noise = rises[0] - slopes[0] * steps
    error = (noise @ noise / (last - 2) / (steps @ steps)) ** 0.5
    return size_of_one(float(points * slopes[0]), float(points * error), float(special.stdtrit(last - 2, 0.975)))


class Facts(NamedTuple):
    """What causes are told by. What was not measured is none."""

    earned: dict[str, Earned]
    over_shuffled: Size | None  # so much more the policy earns with the oracle label than with a shuffled one
    over_blind: Size | None  # than the label-blind control
    over_untold: Size | None  # than the best who is told nothing: what it is worth to know the type
    by_predictor: Size | None
    by_nobody: Size | None  # lost to what nobody could know, where there is an oracle
    by_acting: Size | None  # against the best response, where there is an oracle
    ahead: Size | None  # so much more the best of the other methods earns than the policy with the oracle label
    rival: str  # which that is
    known: dict[str, Known]  # by source
    learning: dict[str, Learning]  # by training
    parts: dict[str, str]  # the trainings of the policy and of the belief

    def training(self, part: str) -> Learning:
        return self.learning.get(self.parts[part], Learning())


def facts_of(results: Results) -> Facts | None:
    """What is known of the main method, if there is one."""
    if results.main is None:
        return None
    all_earned = earned_by_all(results)
    over = lambda one, other: (
        all_earned[one].more_than(all_earned[other]) if {one, other} <= all_earned.keys() else None
    )
    best = lambda whose: max(whose, key=lambda who: all_earned[who].mean, default="")
    others = rivals_of(results, all_earned)
    blind = [who for who in others if METHODS[who].is_blind]
    untold = [*blind, *(who for who in all_earned if who.startswith(ALWAYS))]
    by_predictor, by_nobody, by_acting = _by_oracle(results) or (over(TRUTH, results.main), None, None)
    return Facts(
        earned=all_earned,
        over_shuffled=over(TRUTH, SHUFFLED) if len(results.types) > 1 else None,  # of one type all labels are the same
        over_blind=over(TRUTH, best(blind)),
        over_untold=over(TRUTH, best(untold)),
        by_predictor=by_predictor,
        by_nobody=by_nobody,
        by_acting=by_acting,
        ahead=over(best(others), TRUTH),
        rival=titles(results).get(best(others), ""),
        known=known_by_all(results),
        learning=learning_of_all(results),
        parts=dict(METHODS[results.main].parts),
    )


def rivals_of(results: Results, earned_by: dict[str, Earned]) -> list[str]:
    """All other methods."""
    return [who for who in earned_by if who in METHODS and who != results.main]


def _by_oracle(results: Results) -> tuple[Size, Size, Size] | None:
    """What is lost by the predictor, by what nobody could know, and by acting, in the mean over types."""
    if not tells_losses(results):
        return None
    lost = lambda who: np.mean([results.regret(who, type_, "lost").mean(axis=1) for type_ in results.types], axis=0)
    own, informed, told = (lost(who) for who in (str(results.main), POSTERIOR, TRUTH))
    return size_of(own - informed), size_of(informed - told), size_of(told)
