"""Means over training seeds, and how far they can be trusted."""

from typing import NamedTuple

import numpy as np
from scipy import stats


class Estimate(NamedTuple):
    """A mean over seeds with its standard deviation and a 95% interval for the mean (Student's t over seeds)."""

    mean: float
    deviation: float
    low: float
    high: float


def over_seeds(values: np.ndarray) -> Estimate:
    """The estimate from one value a seed. A single seed says nothing of the spread: it and the interval are NaN."""
    values = np.asarray(values, np.float64)
    mean = float(values.mean())
    if values.size < 2:
        return Estimate(mean, np.nan, np.nan, np.nan)
    deviation = float(values.std(ddof=1))
    half = float(stats.t.ppf(0.975, values.size - 1)) * deviation / values.size**0.5
    return Estimate(mean, deviation, mean - half, mean + half)
