"""Intervals hold at the sizes we have: a few seeds crossed with three partners, many episodes in each cell."""

import numpy as np
import pytest

from coadapt.evaluation.statistics import crossed, interquartile_mean

SEEDS, PARTNERS, REPETITIONS = 5, 3, 4_000
MIXTURES = {
    "seeds differ": (1.0, 0.0, 0.1),
    "partners differ": (0.0, 1.0, 0.1),
    "both differ": (1.0, 1.0, 0.3),
    "pairs differ": (0.0, 0.0, 1.0),
    "all differ": (1.0, 1.0, 1.0),
    "partners and pairs differ": (0.2, 1.0, 1.0),
}
"""Standard deviations: between seeds, between partners, and of what a seed and a partner have of their own."""


def experiments(mixture, seeds=SEEDS):
    """Many experiments whose true mean is zero: repetition, seed, partner."""
    draw = np.random.default_rng(0).normal
    of_seed, of_partner, of_pair = mixture
    return (
        of_seed * draw(size=(REPETITIONS, seeds, 1))
        + of_partner * draw(size=(REPETITIONS, 1, PARTNERS))
        + of_pair * draw(size=(REPETITIONS, seeds, PARTNERS))
    )


def coverage(lows, highs):
    return np.mean((np.array(lows) <= 0) & (np.array(highs) >= 0))


def by_bootstrap(values, rng):
    """The percentile bootstrap over seeds and partners, which many papers use."""
    seeds = rng.integers(SEEDS, size=(400, SEEDS))
    partners = rng.integers(PARTNERS, size=(400, PARTNERS))
    means = values[seeds[:, :, None], partners[:, None, :]].mean(axis=(1, 2))
    return np.quantile(means, [0.025, 0.975])


def by_episodes(values, rng):
    """As if every one of a thousand episodes in a cell had a seed and a partner of its own."""
    episodes = values[:, :, None] + rng.normal(size=(SEEDS, PARTNERS, 1_000))
    half = 1.96 * episodes.std() / episodes.size**0.5
    return episodes.mean() - half, episodes.mean() + half


@pytest.mark.parametrize("mixture", MIXTURES)
@pytest.mark.parametrize("seeds", [3, SEEDS])
def test_a_95_percent_interval_covers_the_truth_in_at_least_92_percent(seeds, mixture):
    estimates = [crossed(values) for values in experiments(MIXTURES[mixture], seeds)]
    assert coverage([e.low for e in estimates], [e.high for e in estimates]) >= 0.92


def test_a_third_thing_that_differs_is_covered_too():
    """Twenty layouts, on which all seeds and partners do better or worse together."""
    draw = np.random.default_rng(2).normal
    samples = draw(size=(REPETITIONS, SEEDS, PARTNERS, 1)) / 5 + draw(size=(REPETITIONS, 1, 1, 20))
    with_it, without = [crossed(v) for v in samples], [crossed(v.mean(axis=2)) for v in samples]
    assert coverage([e.low for e in with_it], [e.high for e in with_it]) >= 0.92
    assert coverage([e.low for e in without], [e.high for e in without]) < 0.85


def test_what_others_do_covers_far_less():
    """In the same experiments: a percentile bootstrap about 80%, episodes taken as independent next to nothing."""
    rng = np.random.default_rng(1)
    sample = experiments(MIXTURES["both differ"])
    bootstrap = np.array([by_bootstrap(values, rng) for values in sample])
    assert coverage(*bootstrap.T) < 0.85
    episodes = np.array([by_episodes(values, rng) for values in sample[:500]])
    assert coverage(*episodes.T) < 0.15


def test_an_interval_counted_by_hand():
    """Seeds' means 1 and 3 (error 1), partners' means 2 and 2 (error 0): Student's t of one degree, 12.706."""
    estimate = crossed(np.array([[1.0, 1.0], [3.0, 3.0]]))
    assert estimate.mean == 2
    assert estimate.deviation == pytest.approx(2**0.5)
    assert estimate.high - 2 == pytest.approx(12.706, abs=1e-3)


def test_values_that_are_all_the_same_leave_no_doubt():
    assert crossed(np.full((5, 3), 0.25))[2:] == (0.25, 0.25)


def test_one_partner_says_nothing_of_others():
    estimate = crossed(np.arange(5.0)[:, None])
    assert estimate.mean == 2
    assert np.isnan([estimate.low, estimate.high]).all()


def test_the_interquartile_mean_leaves_out_the_best_and_the_worst():
    assert interquartile_mean(np.array([[-1000.0, 1.0], [3.0, 7.0]])) == 2
