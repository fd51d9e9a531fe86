"""The salesman's policy and critic: ready or not they say the same, and at first they have no opinion."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.agents.relational import RelationalCritic, RelationalPolicy
from coadapt.games.game import MAIN
from coadapt.games.salesman import Salesman
from coadapt.games.salesman_pairs import AbsolutePairs, RelativePairs

GAME = Salesman(size=5, subgoals=2)
BEFORE, AFTER = (32, 32), (16, 16)


@pytest.fixture(scope="module")
def observations():
    states = jax.vmap(GAME.reset)(jax.random.split(jax.random.key(2), 20))
    return jax.vmap(lambda state: GAME.observe(state, MAIN))(states)


@pytest.mark.parametrize("view", [RelativePairs(5), AbsolutePairs(5)], ids=["relative", "absolute"])
def test_ready_or_not_it_is_the_same_policy(key, observations, view):
    policy = RelationalPolicy(key, view, 3, BEFORE, AFTER, 4)
    label = jnp.array([0.2, 0.3, 0.5])
    one, other = (jax.vmap(lambda o, p=p: p(o, label))(observations) for p in (policy, policy.ready()))
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_an_untrained_policy_is_a_random_walker(key, observations):
    policy = RelationalPolicy(key, RelativePairs(5), 3, BEFORE, AFTER, 4).ready()
    walk = jax.vmap(lambda o: jax.nn.softmax(policy(o, jnp.zeros(3))))(observations)
    np.testing.assert_allclose(walk, 0.25, atol=0.02)


def test_what_it_is_told_matters_and_is_all_that_differs(key, observations):
    critic = RelationalCritic(key, RelativePairs(5), 3, BEFORE, AFTER)
    value = lambda label: jax.vmap(lambda o: critic.value(o, label, ())[0])(observations)
    assert not np.allclose(value(jnp.array([1.0, 0, 0])), value(jnp.array([0, 0, 1.0])))
    assert np.array_equal(value(jnp.array([1.0, 0, 0])), value(jnp.array([1.0, 0, 0])))


def test_who_sits_where_matters(key, observations):
    critic = RelationalCritic(key, RelativePairs(5), 3, BEFORE, AFTER)
    value = jax.vmap(lambda o: critic.value(o, jnp.zeros(3), ())[0])
    swapped = observations._replace(own=observations.other, other=observations.own)
    assert not np.allclose(value(observations), value(swapped))
