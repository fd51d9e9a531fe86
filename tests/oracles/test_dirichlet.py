import numpy as np
import pytest

from coadapt.oracles.dirichlet import all_counts, count_probabilities, posterior_mean


def test_the_posterior_mean_adds_counts_to_the_concentration():
    mean = posterior_mean(np.array([1.0, 1.0, 2.0]), np.array([3.0, 0.0, 1.0]))
    np.testing.assert_allclose(mean, [4 / 8, 1 / 8, 3 / 8])


def test_all_counts_of_two_on_three():
    assert all_counts(2, 3).tolist() == [[0, 0, 2], [0, 1, 1], [0, 2, 0], [1, 0, 1], [1, 1, 0], [2, 0, 0]]


def test_nine_observations_of_five_actions_fall_715_ways():
    counts = all_counts(9, 5)
    assert len(np.unique(counts, axis=0)) == len(counts) == 715
    assert (counts.sum(1) == 9).all()


@pytest.mark.parametrize("alpha", [0.01, 0.3, 3.0])
def test_probabilities_sum_to_one(alpha):
    assert count_probabilities(np.full(5, alpha), all_counts(9, 5)).sum() == pytest.approx(1, abs=1e-12)


def test_a_uniform_prior_makes_all_counts_equally_likely():
    np.testing.assert_allclose(count_probabilities(np.ones(2), all_counts(4, 2)), 1 / 5)


def test_too_many_counts_are_refused():
    with pytest.raises(ValueError, match="too many to enumerate exactly"):
        all_counts(100, 50)
