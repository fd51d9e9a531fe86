"""The salesman's policy and critic: ready or not they say the same, and at first they have no opinion."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.agents.relational import (
    RelationalBelief,
    RelationalCritic,
    RelationalLSTM,
    RelationalPolicy,
    RelationSizes,
    ready,
)
from coadapt.games.game import MAIN
from coadapt.games.salesman.pairs import AbsolutePairs, RelativePairs, TurnedPairs
from coadapt.games.salesman.rules import Salesman
from coadapt.games.salesman.symmetry import Turn, turned, turned_moves

GAME = Salesman(size=5, subgoals=2)
SIZES = RelationSizes(RelativePairs(5), before=(32, 32), after=(16, 16))


@pytest.fixture(scope="module")
def observations():
    states = jax.vmap(GAME.reset)(jax.random.split(jax.random.key(2), 20))
    return jax.vmap(lambda state: GAME.observe(state, MAIN))(states)


VIEWS = pytest.mark.parametrize(
    "view", [RelativePairs(5), TurnedPairs(5), AbsolutePairs(5)], ids=["relative", "turned", "absolute"]
)


@VIEWS
@pytest.mark.parametrize("tabulated", [True, False], ids=["tabulated", "pair by pair"])
def test_ready_or_not_it_is_the_same_policy(key, observations, view, tabulated):
    policy = RelationalPolicy(key, replace(SIZES, view=view, tabulated=tabulated), 3, 4)
    label = jnp.array([0.2, 0.3, 0.5])
    one, other = (jax.vmap(lambda o, p=p: p(o, label))(observations) for p in (policy, ready(policy)))
    np.testing.assert_allclose(one, other, atol=1e-6)


def decides(key, view, observation, remembers):
    """What a policy makes of an observation, with or without a memory."""
    sizes = replace(SIZES, view=view)
    if not remembers:
        return RelationalPolicy(key, sizes, 3, 4)(observation, jnp.array([0.2, 0.3, 0.5]))
    return RelationalLSTM(key, sizes, 8, 4).decide(observation, (jnp.full(8, 0.3), jnp.full(8, -0.2))).logits


@pytest.mark.parametrize("remembers", [True, False], ids=["with a memory", "memoryless"])
def test_who_looks_from_home_does_the_same_on_a_turned_board(key, observations, remembers):
    board = jax.tree.map(lambda leaf: leaf[0], observations)._replace(own=jnp.array([3, 0]))
    for turn in (Turn(jnp.array(back), jnp.array(swap)) for *back, swap in np.ndindex(2, 2, 2)):
        turn = jax.tree.map(lambda leaf: leaf.astype(bool), turn)
        there = turned(board, 5, turn)
        here, from_there = (decides(key, TurnedPairs(5), seen, remembers) for seen in (board, there))
        np.testing.assert_allclose(here, from_there[turned_moves(turn)], atol=1e-6)
        assert np.ptp(here) > 1e-6


def test_an_untrained_policy_is_a_random_walker(key, observations):
    policy = ready(RelationalPolicy(key, SIZES, 3, 4))
    walk = jax.vmap(lambda o: jax.nn.softmax(policy(o, jnp.zeros(3))))(observations)
    np.testing.assert_allclose(walk, 0.25, atol=0.02)


def test_what_it_is_told_matters_and_is_all_that_differs(key, observations):
    critic = RelationalCritic(key, SIZES, 3)
    value = lambda label: jax.vmap(lambda o: critic.value(o, label, ())[0])(observations)
    assert not np.allclose(value(jnp.array([1.0, 0, 0])), value(jnp.array([0, 0, 1.0])))
    assert np.array_equal(value(jnp.array([1.0, 0, 0])), value(jnp.array([1.0, 0, 0])))


def test_who_sits_where_matters(key, observations):
    critic = RelationalCritic(key, SIZES, 3)
    value = jax.vmap(lambda o: critic.value(o, jnp.zeros(3), ())[0])
    swapped = observations._replace(own=observations.other, other=observations.own)
    assert not np.allclose(value(observations), value(swapped))


@pytest.mark.parametrize("infers", [True, False], ids=["belief", "policy"])
def test_what_was_perceived_before_stands_for_the_observation(key, observations, infers):
    """Along a trajectory all is looked at first and then remembered in turn, with the same result."""
    belief, policy = RelationalBelief(key, SIZES, 8, (8,), 3), RelationalLSTM(key, SIZES, 8, 4)
    mind, go_on = (belief, belief.update) if infers else (policy, policy.decide)
    observation = jax.tree.map(lambda leaf: leaf[0], observations)
    memory = (jnp.full(8, 0.3), jnp.full(8, -0.2))
    for at_once, looked_before in zip(
        jax.tree.leaves(go_on(observation, memory)),
        jax.tree.leaves(go_on(mind.perceive(observation), memory)),
        strict=True,
    ):
        np.testing.assert_array_equal(at_once, looked_before)


def test_the_papers_layers_counted_by_hand(key):
    """Seven of 128 before the sum and two of 64 behind it. On top two more, or an LSTM and the predictor's two."""
    sizes = RelationSizes(RelativePairs(11), before=(128,) * 7, after=(64, 64), on_top=(96, 32))
    count = lambda mind: sum(leaf.size for leaf in jax.tree.leaves(mind))
    before = 9 * 128 + 6 * 129 * 128
    assert count(RelationalPolicy(key, sizes, 3, 4)) == before + 138 * 64 + 65 * 64 + 65 * 96 + 97 * 32 + 33 * 4
    assert count(RelationalCritic(key, sizes, 3)) == before + 138 * 64 + 65 * 64 + 65 * 96 + 97 * 32 + 33
    lstm = 4 * 64 * (64 + 64 + 1)
    seen = before + 135 * 64 + 65 * 64
    assert count(RelationalLSTM(key, sizes, 64, 4)) == seen + lstm + 65 * 4
    assert count(RelationalBelief(key, sizes, 64, (64, 64), 3)) == seen + lstm + 2 * 65 * 64 + 65 * 3
