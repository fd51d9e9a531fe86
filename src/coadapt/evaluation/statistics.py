"""Means over training seeds, with whom they played, and how far they can be trusted."""

from typing import NamedTuple

import numpy as np
from scipy import stats


class Estimate(NamedTuple):
    """A mean with a 95% interval for it, and the standard deviation between seeds."""

    mean: float
    deviation: float
    low: float
    high: float


def over_seeds(values: np.ndarray) -> Estimate:
    """The estimate from one value a seed, by Student's t. A single seed says nothing of the spread: NaN."""
    return crossed(np.ravel(values))


def crossed(values: np.ndarray) -> Estimate:
    """The estimate for new ones of everything there is an axis for: seeds first, then partners, say, or layouts.

    Every seed met every partner, so the values are not independent: some seeds are better and some partners easier, and
    all values of a seed, or with a partner, go up and down together. The squared error of the mean is taken as the sum
    of those of a mean over seeds, of a mean over partners, and so on. What is particular to a pair is then counted more
    than once, so on average this is no less than the truth. The degrees of freedom are Welch's and Satterthwaite's.
    """
    values = np.asarray(values, np.float64)
    each = [values.mean(axis=tuple(a for a in range(values.ndim) if a != axis)) for axis in range(values.ndim)]
    mean, deviation = float(values.mean()), float(each[0].std(ddof=1)) if len(each[0]) > 1 else np.nan
    if min(values.shape) < 2:
        return Estimate(mean, deviation, np.nan, np.nan)
    errors = np.array([means.var(ddof=1) / means.size for means in each])
    if not errors.any():
        return Estimate(mean, deviation, mean, mean)
    freedom = errors.sum() ** 2 / (errors**2 / (np.array(values.shape) - 1)).sum()
    half = float(stats.t.ppf(0.975, freedom) * errors.sum() ** 0.5)
    return Estimate(mean, deviation, mean - half, mean + half)


def interquartile_mean(values: np.ndarray) -> float:
    """The mean of the middle half of all values: what is typical, whatever the few best and worst do."""
    return float(stats.trim_mean(np.ravel(values), 0.25))
