"""Means over training seeds, with whom they played, and how far they can be trusted."""

from typing import NamedTuple

import numpy as np
from scipy import special, stats

STRETCH = 3.0
"""By how many times its skewness a mean's interval reaches further, in standard errors.

Were the skewness known, 1.45 would be right to first order (Cornish and Fisher: a sixth of one and twice the square of
1.96). A few values show less of it than there is, so it is twice that; the docs have what this gains and costs.
"""


class Estimate(NamedTuple):
    """A mean with a 95% interval for it, and the standard deviation between seeds."""

    mean: float
    deviation: float
    low: float
    high: float


def over_seeds(values: np.ndarray) -> Estimate:
    """The estimate from one value a seed. A single seed says nothing of the spread: NaN."""
    return crossed(np.ravel(values))


def crossed(values: np.ndarray) -> Estimate:
    """The estimate for new ones of everything there is an axis for: seeds first, then partners, say, or layouts.

    Every seed met every partner, so the values are not independent: some seeds are better and some partners easier, and
    all values of a seed, or with a partner, go up and down together. The squared error of the mean is taken as the sum
    of those of a mean over seeds, of a mean over partners, and so on. What is particular to a pair is then counted more
    than once, so on average this is no less than the truth. The degrees of freedom are Welch's and Satterthwaite's.

    Where few values lie far out on one side, there are more that were not met: to this side the interval reaches
    further than Student's t, by the skewness of the mean, which is estimated from all axes of three levels or more.
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
    error = float(errors.sum() ** 0.5)
    skewness = sum(map(_third_cumulant_of_mean, each)) / error**3
    below, above = (special.stdtrit(freedom, 0.975) + STRETCH * max(side * skewness, 0) for side in (-1, 1))
    return Estimate(mean, deviation, float(mean - below * error), float(mean + above * error))


def _third_cumulant_of_mean(values: np.ndarray) -> float:
    """Of the mean of a sample, unbiased; two values cannot be skewed."""
    n = values.size
    return float(((values - values.mean()) ** 3).sum() / (n * (n - 1) * (n - 2))) if n > 2 else 0.0


def interquartile_mean(values: np.ndarray) -> float:
    """The mean of the middle half of all values: what is typical, whatever the few best and worst do."""
    return float(stats.trim_mean(np.ravel(values), 0.25))
