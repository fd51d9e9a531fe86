"""Exact optima of the matrix game: what the best player earns, with and without knowing the partner."""

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv
from scipy.stats import qmc

from coadapt.arrays import EitherArray
from coadapt.oracles.dirichlet import all_counts, count_probabilities, posterior_mean


class Optima(NamedTuple):
    """What no agent can beat on average against Dirichlet partners."""

    bayes_by_step: np.ndarray  # the best without the truth, at each step of the episode
    bayes_error_by_step: np.ndarray  # the least expected squared distance to the true distribution, likewise
    known_distribution: float  # the best with the truth
    known_distribution_error: float  # its standard error, as it is an integral

    @property
    def bayes_last_step(self) -> float:
        return float(self.bayes_by_step[-1])

    @property
    def bayes_mean_step(self) -> float:
        return float(self.bayes_by_step.mean())


def expected_payoffs(payoff: EitherArray, distribution: EitherArray) -> EitherArray:
    """What each action of the main agent earns on average against a partner of this distribution."""
    return distribution @ payoff


def optima(payoff: np.ndarray, concentration: np.ndarray, max_steps: int) -> Optima:
    """All optima of a game of `max_steps` steps, in double precision."""
    steps = range(max_steps)
    bayes = [bayes_reward(payoff, concentration, step) for step in steps]
    errors = [bayes_squared_error(concentration, step) for step in steps]
    return Optima(np.array(bayes), np.array(errors), *known_distribution_reward(payoff, concentration))


def bayes_reward(payoff: np.ndarray, concentration: np.ndarray, observations: int) -> float:
    """The exact expected reward of the Bayes-optimal action after that many of the partner's actions were seen."""
    counts = all_counts(observations, len(concentration))
    best = expected_payoffs(payoff, posterior_mean(concentration, counts)).max(-1)
    return float(count_probabilities(concentration, counts) @ best)


def bayes_squared_error(concentration: np.ndarray, observations: int) -> float:
    """The exact expected squared distance between the posterior mean and the truth: the posterior's total variance."""
    counts = all_counts(observations, len(concentration))
    mean = posterior_mean(concentration, counts)
    variance = (mean * (1 - mean)).sum(-1) / (concentration.sum() + observations + 1)
    return float(count_probabilities(concentration, counts) @ variance)


def known_distribution_reward(
    payoff: np.ndarray, concentration: np.ndarray, points: int = 2**13, repetitions: int = 16
) -> tuple[float, float]:
    """The expected reward of the best action when the partner's distribution is known, and its standard error.

    An integral over the simplex with kinks in it, by a scrambled Sobol sequence, repeated to measure its own error.
    """
    means = [
        expected_payoffs(payoff, _spread_distributions(concentration, points, seed)).max(-1).mean()
        for seed in range(repetitions)
    ]
    return float(np.mean(means)), float(np.std(means, ddof=1) / np.sqrt(repetitions))


def _spread_distributions(concentration: np.ndarray, points: int, seed: int) -> np.ndarray:
    """Dirichlet draws spread evenly over their range, by breaking a stick at beta-distributed places."""
    actions = len(concentration)
    if actions == 1:
        return np.ones((points, 1))
    uniform = qmc.Sobol(actions - 1, rng=np.random.default_rng(seed)).random(points)
    rest = concentration[::-1].cumsum()[::-1][1:]
    # The place of a break and what is left after it are both taken from the inverse directly, for either may be far
    # smaller than the rounding error of the other.
    broken, left = betaincinv(concentration[:-1], rest, uniform), betaincinv(rest, concentration[:-1], 1 - uniform)
    before = np.cumprod(np.column_stack([np.ones(points), left]), axis=1)
    return before * np.column_stack([broken, np.ones(points)])
