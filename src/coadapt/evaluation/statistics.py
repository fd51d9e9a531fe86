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
    values = np.asarray(values, np.float64)
    mean = float(values.mean())
    if values.size < 2:
        return Estimate(mean, np.nan, np.nan, np.nan)
    deviation = float(values.std(ddof=1))
    half = float(stats.t.ppf(0.975, values.size - 1)) * deviation / values.size**0.5
    return Estimate(mean, deviation, mean - half, mean + half)


def over_seeds_and_partners(values: np.ndarray) -> Estimate:
    """The estimate for new seeds with new partners, from values by seed and partner: every seed met every partner.

    Some seeds are better and some partners easier, so the values are not independent: all of a seed, and all with a
    partner, go up and down together. The squared error of the mean is at most that of a mean over seeds plus that of a
    mean over partners (what the two have in common is counted twice, which is on the safe side). Its degrees of freedom
    are Welch's and Satterthwaite's.
    """
    values = np.asarray(values, np.float64)
    by_seed, by_partner = values.mean(axis=1), values.mean(axis=0)
    mean = float(values.mean())
    deviation = float(by_seed.std(ddof=1)) if by_seed.size > 1 else np.nan
    if min(values.shape) < 2:
        return Estimate(mean, deviation, np.nan, np.nan)
    errors = np.array([means.var(ddof=1) / means.size for means in (by_seed, by_partner)])
    if not errors.any():
        return Estimate(mean, deviation, mean, mean)
    freedom = errors.sum() ** 2 / (errors**2 / (np.array(values.shape) - 1)).sum()
    half = float(stats.t.ppf(0.975, freedom) * errors.sum() ** 0.5)
    return Estimate(mean, deviation, mean - half, mean + half)


def interquartile_mean(values: np.ndarray) -> float:
    """The mean of the middle half of all values: what is typical, whatever the few best and worst do."""
    return float(stats.trim_mean(np.ravel(values), 0.25))
