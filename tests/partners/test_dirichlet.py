import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from coadapt.partners.dirichlet import DirichletPartners, log_gamma

ALPHAS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
NUMBER = 100_000


@pytest.fixture(scope="module", params=ALPHAS)
def drawn(request):
    population = DirichletPartners(jnp.full(5, request.param))
    return request.param, jax.jit(lambda key: population.draw(key, NUMBER))(jax.random.key(1))


def test_every_label_is_a_distribution(drawn):
    _, partners = drawn
    assert np.isfinite(partners.labels).all()
    assert np.isfinite(partners.players.logits).all()
    np.testing.assert_allclose(np.asarray(partners.labels).sum(1), 1, atol=1e-5)


def test_the_players_act_by_their_label(drawn):
    _, partners = drawn
    np.testing.assert_allclose(jax.nn.softmax(partners.players.logits), partners.labels, atol=1e-6)


def test_the_moments_are_those_of_theory(drawn):
    """Mean 1/5, variance (1/5)(4/5)/(5 alpha + 1), covariance -(1/25)/(5 alpha + 1), within 4.5 standard errors."""
    alpha, partners = drawn
    labels = np.asarray(partners.labels, np.float64)
    variance, covariance = 0.16 / (5 * alpha + 1), -0.04 / (5 * alpha + 1)
    assert np.abs(labels.mean(0) - 0.2).max() < 4.5 * np.sqrt(variance / NUMBER)
    expected = np.where(np.eye(5, dtype=bool), variance, covariance)
    centred = labels - 0.2
    products = centred[:, :, None] * centred[:, None, :]
    error = products.std(0) / np.sqrt(NUMBER)
    assert (np.abs(products.mean(0) - expected) < 4.5 * error).all()


def test_an_uneven_concentration_has_its_own_mean(key):
    population = DirichletPartners(jnp.array([1.0, 3.0]))
    labels = np.asarray(population.draw(key, NUMBER).labels)
    assert population.mean_label.tolist() == [0.25, 0.75]
    assert labels[:, 0].mean() == pytest.approx(0.25, abs=4 * np.sqrt(0.25 * 0.75 / 5 / NUMBER))


@pytest.mark.parametrize("shape", [0.3, 1.0, 3.0, 20.0])
def test_gamma_draws_follow_their_distribution(key, shape):
    draws = np.exp(np.asarray(log_gamma(key, jnp.full(20_000, shape)), np.float64))
    assert stats.kstest(draws, stats.gamma(shape).cdf).pvalue > 1e-4


def test_gamma_draws_too_small_for_a_float_keep_their_logarithm(key):
    """At 0.01 the logarithm is near enough that of a uniform number times 100: below -600 in e^-6 of all draws."""
    draws = np.asarray(log_gamma(key, jnp.full(200_000, 0.01)), np.float64)
    share = stats.gamma(0.01).cdf(np.exp(-600.0))
    assert (draws < -600).mean() == pytest.approx(share, abs=4 * np.sqrt(share / 200_000))
