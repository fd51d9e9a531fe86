import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.agents.bayes import bayes_optimal
from coadapt.evaluation.episodes import play_episodes, step_scores
from coadapt.games.matrix import PAPER_PAYOFF, MatrixGame, partner_action
from coadapt.oracles.matrix import bayes_reward, bayes_squared_error, known_distribution_reward, optima
from coadapt.partners.dirichlet import DirichletPartners

PAYOFF = np.array(PAPER_PAYOFF)
MATCH = np.eye(2)  # both are paid for doing the same
ALPHAS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)


def test_knowing_nothing_one_plays_safe():
    """Against a uniform average partner the columns earn -0.6, -0.4, -0.2, 0 and 0.04 on average."""
    assert bayes_reward(PAYOFF, np.full(5, 0.1), 0) == pytest.approx(0.04)


def test_matching_a_coin_of_unknown_bias():
    """Half the time at first; after one look the likelier side comes up with probability 2/3."""
    assert bayes_reward(MATCH, np.ones(2), 0) == pytest.approx(1 / 2)
    assert bayes_reward(MATCH, np.ones(2), 1) == pytest.approx(2 / 3)


def test_matching_a_coin_of_known_bias():
    """The likelier side of a uniformly drawn coin comes up with probability 3/4 on average."""
    reward, error = known_distribution_reward(MATCH, np.ones(2))
    assert error < 1e-6
    assert reward == pytest.approx(3 / 4, abs=1e-5)


def test_the_least_squared_error_of_a_coin():
    """The variance of a uniform share is 1/12, for both sides together 1/6; after one look it is 1/18, so 1/9."""
    assert bayes_squared_error(np.ones(2), 0) == pytest.approx(1 / 6)
    assert bayes_squared_error(np.ones(2), 1) == pytest.approx(1 / 9)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_looking_longer_never_hurts_and_knowing_is_best(alpha):
    exact = optima(PAYOFF, np.full(5, alpha), 10)
    assert (np.diff(exact.bayes_by_step) >= -1e-12).all()
    assert (np.diff(exact.bayes_error_by_step) <= 1e-12).all()
    assert exact.known_distribution > exact.bayes_last_step
    assert exact.known_distribution_error < 1e-4


@pytest.mark.parametrize("alpha", [0.01, 0.1, 1.0])
def test_knowing_the_distribution_against_plain_sampling(alpha):
    exact, error = known_distribution_reward(PAYOFF, np.full(5, alpha))
    labels = np.asarray(DirichletPartners(jnp.full(5, alpha)).draw(jax.random.key(5), 200_000).labels, np.float64)
    best = (labels @ PAYOFF).max(1)
    assert best.mean() == pytest.approx(exact, abs=4.5 * (best.std() / np.sqrt(len(best)) + error))


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_bayes_player_earns_its_exact_optimum(alpha):
    """At every step of the episode, within four and a half standard errors of 50,000 episodes."""
    game, population = MatrixGame(), DirichletPartners(jnp.full(5, alpha))
    player = bayes_optimal(game.payoff, population.concentration, partner_action)

    @jax.jit
    def simulate(key):
        for_partners, for_play = jax.random.split(key)
        partners = population.draw(for_partners, 50_000)
        transitions = play_episodes(for_play, game, partners, player)
        return step_scores(transitions, partners), jnp.std(transitions.reward, axis=0)

    scores, deviation = simulate(jax.random.key(11))
    exact = optima(PAYOFF, np.full(5, alpha), 10)
    error = np.asarray(deviation) / np.sqrt(50_000)
    assert (np.abs(np.asarray(scores.reward) - exact.bayes_by_step) < 4.5 * error + 1e-6).all()
    np.testing.assert_allclose(scores.prediction_error, exact.bayes_error_by_step, rtol=0.05)
