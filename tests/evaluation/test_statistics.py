"""Intervals hold at the sizes we have: a few seeds crossed with three partners, many episodes in each cell."""

import numpy as np
import pytest

from coadapt.evaluation import statistics
from coadapt.evaluation.statistics import crossed, interquartile_mean

REPETITIONS = 1_000
SEEDS, PARTNERS = 5, 3
SIZES = {"3 x 3": (3, 3), "5 x 3": (SEEDS, PARTNERS), "5 x 10": (5, 10)}
MIXTURES = {
    "seeds differ": (1.0, 0.0, 0.1),
    "partners differ": (0.0, 1.0, 0.1),
    "both differ": (1.0, 1.0, 0.3),
    "pairs differ": (0.0, 0.0, 1.0),
    "all differ": (1.0, 1.0, 1.0),
    "partners and pairs differ": (0.2, 1.0, 1.0),
}
"""Standard deviations: between seeds, between partners, and of what a seed and a partner have of their own."""
SHAPES = {
    "normal": lambda rng, size: rng.normal(size=size),
    "heavy-tailed": lambda rng, size: rng.standard_t(3, size=size) / 3**0.5,
    "skewed": lambda rng, size: (rng.lognormal(size=size) - np.e**0.5) / (np.e**2 - np.e) ** 0.5,
    "skewed the other way": lambda rng, size: -SHAPES["skewed"](rng, size),
}
"""Effects of mean zero and variance one."""


def experiments(mixture, size=(SEEDS, PARTNERS), shape="normal"):
    """Many experiments whose true mean is zero: repetition, seed, partner."""
    rng, (seeds, partners) = np.random.default_rng(0), size
    of_seed, of_partner, of_pair = mixture
    draw = lambda *size: SHAPES[shape](rng, (REPETITIONS, *size))
    return of_seed * draw(seeds, 1) + of_partner * draw(1, partners) + of_pair * draw(seeds, partners)


def one_axis(levels, shape):
    """Four times as many for seeds alone: repetition, seed."""
    return SHAPES[shape](np.random.default_rng(0), (4 * REPETITIONS, levels))


def coverage(lows, highs):
    return np.mean((np.array(lows) <= 0) & (np.array(highs) >= 0))


def covered(samples):
    """How often the interval has the truth in it."""
    estimates = [crossed(values) for values in samples]
    return coverage([e.low for e in estimates], [e.high for e in estimates])


def without_stretch(monkeypatch):
    """Student's t alone, as it was before intervals were stretched towards the skewed side."""
    monkeypatch.setattr(statistics, "STRETCH", 0.0)


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
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("shape", "least"), [("normal", 0.945), ("heavy-tailed", 0.945), ("skewed", 0.85)])
def test_a_95_percent_interval_covers_the_truth_as_often_as_the_docs_say(shape, least, size, mixture):
    """In 95% of experiments, and with skewed effects in 87% or more; two standard errors are 1.4% and 2.1%."""
    assert covered(experiments(MIXTURES[mixture], SIZES[size], shape)) >= least


@pytest.mark.parametrize(
    ("levels", "shape", "said"),
    [
        (5, "normal", 0.966),
        (5, "heavy-tailed", 0.969),
        (5, "skewed", 0.868),
        (5, "skewed the other way", 0.868),
        (10, "normal", 0.963),
        (10, "heavy-tailed", 0.963),
        (10, "skewed", 0.903),
        (200, "normal", 0.951),
    ],
)
def test_seeds_alone_are_covered_as_often_as_the_docs_say(levels, shape, said):
    """To three standard errors; Student's t alone comes to 82% and 84% of what is skewed, five and ten levels."""
    error = (said * (1 - said) / (4 * REPETITIONS)) ** 0.5
    assert covered(one_axis(levels, shape)) == pytest.approx(said, abs=3 * error)


@pytest.mark.parametrize("levels", [5, 10])
def test_what_is_skewed_is_missed_a_quarter_less_often_than_by_students_t(levels, monkeypatch):
    samples = one_axis(levels, "skewed")
    missed = 1 - covered(samples)
    without_stretch(monkeypatch)
    assert missed < 0.75 * (1 - covered(samples))


@pytest.mark.parametrize(("size", "most"), [("3 x 3", 1.24), ("5 x 3", 1.24), ("5 x 10", 1.2)])
@pytest.mark.parametrize("mixture", ["seeds differ", "partners differ", "both differ"])
def test_where_nothing_is_skewed_intervals_are_hardly_wider_than_students_t(size, most, mixture, monkeypatch):
    samples = experiments(MIXTURES[mixture], SIZES[size])
    width = lambda: np.mean([e.high - e.low for e in map(crossed, samples)])
    stretched = width()
    without_stretch(monkeypatch)
    assert 1 < stretched / width() < most


def test_a_third_thing_that_differs_is_covered_too():
    """Twenty layouts, on which all seeds and partners do better or worse together."""
    draw = np.random.default_rng(2).normal
    samples = draw(size=(REPETITIONS, SEEDS, PARTNERS, 1)) / 5 + draw(size=(REPETITIONS, 1, 1, 20))
    assert covered(samples) >= 0.94
    assert covered(samples.mean(axis=3)) < 0.85


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


def test_a_skewed_interval_counted_by_hand():
    """Of 0, 0 and 3: mean 1, error 1, Student's t of two degrees 4.303; deviations cubed are -1, -1 and 8, together 6,
    so the mean's third cumulant is 6 / (3 * 2 * 1) = 1, and its skewness too.
    """
    low, high = crossed(np.array([0.0, 0.0, 3.0]))[2:]
    assert low == pytest.approx(1 - 4.303, abs=1e-3)
    assert high == pytest.approx(1 + 4.303 + 3, abs=1e-3)
    assert crossed(np.array([0.0, 0.0, -3.0]))[2:] == pytest.approx((-high, -low))


def test_values_that_are_all_the_same_leave_no_doubt():
    assert crossed(np.full((5, 3), 0.25))[2:] == (0.25, 0.25)


def test_one_partner_says_nothing_of_others():
    estimate = crossed(np.arange(5.0)[:, None])
    assert estimate.mean == 2
    assert np.isnan([estimate.low, estimate.high]).all()


def test_the_interquartile_mean_leaves_out_the_best_and_the_worst():
    assert interquartile_mean(np.array([[-1000.0, 1.0], [3.0, 7.0]])) == 2
