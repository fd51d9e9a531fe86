import jax
import jax.numpy as jnp

from coadapt.evaluation.returns import mean_returns
from coadapt.games.matrix import MatrixGame
from coadapt.partners.dirichlet import Stationary
from coadapt.partners.population import Partners

CERTAINLY = 100.0
GAME = MatrixGame(jnp.array([[1.0, 0.0], [0.0, 2.0]]), max_steps=3)
PARTNERS = Partners(Stationary(CERTAINLY * jnp.eye(2)), jnp.eye(2), jnp.arange(2))
"""One always takes the first action, for which 1 can be had; the other the second, for which it is 2."""


def test_a_player_that_is_told_whom_it_meets_earns_all_there_is(key):
    told = lambda label: Stationary(CERTAINLY * label)
    assert mean_returns(key, GAME, PARTNERS, told, episodes=4).tolist() == [3, 6]


def test_a_player_that_takes_no_notice_earns_what_it_does_by_itself(key):
    second = Stationary(jnp.array([0.0, CERTAINLY]))
    assert mean_returns(key, GAME, PARTNERS, lambda label: second, episodes=4).tolist() == [0, 6]


def test_a_greedy_player_takes_its_likeliest_action(key):
    hardly = lambda label: Stationary(0.1 * label)
    assert mean_returns(key, GAME, PARTNERS, hardly, episodes=4, greedy=True).tolist() == [3, 6]


def test_episodes_are_averaged(key):
    """At random half of three steps pay; with 3000 episodes the standard error of 1.5 is 0.016."""
    at_random = lambda label: Stationary(jnp.zeros(2))
    first, second = jax.jit(lambda key: mean_returns(key, GAME, PARTNERS, at_random, episodes=3000))(key)
    assert abs(first - 1.5) < 0.06
    assert abs(second - 3.0) < 0.12
