"""How numbers and words look in tables."""

from collections.abc import Iterable

import numpy as np

from coadapt.evaluation.statistics import Estimate


def number(value: float, how: str = ".4f") -> str:
    """A number as it is shown, or a dash where there is none."""
    return "–" if np.isnan(value) else format(value, how)


def interval(estimate: Estimate, how: str = ".4f") -> str:
    """From where to where an interval goes."""
    return "–" if np.isnan(estimate.low) else f"{estimate.low:{how}} to {estimate.high:{how}}"


def listed(words: Iterable[object]) -> str:
    """Words as one says them: one, two and three."""
    *most, last = map(str, words)
    return f"{', '.join(most)} and {last}" if most else last
