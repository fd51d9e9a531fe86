"""What can be known of a stationary partner from the actions it took."""

import math

import numpy as np
from scipy.special import gammaln

from coadapt.arrays import EitherArray

MOST_COUNTS = 5_000_000
"""More count vectors than this are not enumerated: they would not fit in memory."""


def posterior_mean(concentration: EitherArray, counts: EitherArray) -> EitherArray:
    """The mean of the partner's distribution, given how often it took each action (the last axis)."""
    posterior = concentration + counts
    return posterior / posterior.sum(-1, keepdims=True)  # pyright: ignore[reportReturnType] (sum's stub says Any)


def check_enumerable(observations: int, actions: int) -> None:
    """A ValueError if there are too many ways for so many observations to fall on so many actions."""
    number = math.comb(observations + actions - 1, actions - 1)
    if number > MOST_COUNTS:
        raise ValueError(
            f"{observations} observations of {actions} actions give {number:,} counts, too many to enumerate exactly"
            f" (at most {MOST_COUNTS:,}); take a shorter game or a smaller table"
        )


def all_counts(observations: int, actions: int) -> np.ndarray:
    """Every way `observations` actions can fall on the kinds there are: one row a way, in lexicographic order."""
    check_enumerable(observations, actions)
    ways = np.zeros((1, 0), int)
    for _ in range(actions - 1):
        left = observations - ways.sum(1)
        first = np.concatenate([np.arange(n + 1) for n in left])
        ways = np.column_stack([np.repeat(ways, left + 1, axis=0), first])
    return np.column_stack([ways, observations - ways.sum(1)])


def count_probabilities(concentration: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The probability of each row of counts: the Dirichlet-multinomial distribution, in double precision."""
    observations, total = counts.sum(-1), concentration.sum()
    log_ways = gammaln(observations + 1) - gammaln(counts + 1).sum(-1)
    log_each = gammaln(total) - gammaln(total + observations)
    log_each = log_each + (gammaln(concentration + counts) - gammaln(concentration)).sum(-1)
    return np.exp(log_ways + log_each)
