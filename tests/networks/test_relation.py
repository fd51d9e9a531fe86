"""Pair by pair or tabulated it is the same function with the same gradients, and the order of pairs does not matter."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.games.game import MAIN
from coadapt.games.salesman.pairs import RelativePairs
from coadapt.games.salesman.rules import Salesman
from coadapt.networks.relation import PairSum, worth_tabulating

VIEW = RelativePairs(11)
TABLE = jnp.asarray(VIEW.table())


@pytest.fixture(scope="module")
def pairs():
    return PairSum(jax.random.key(1), TABLE.shape[1], (128,) * 7)


@pytest.fixture(scope="module")
def indices():
    game = Salesman()
    states = jax.vmap(game.reset)(jax.random.split(jax.random.key(2), 32))
    return jax.vmap(lambda state: VIEW(game.observe(state, MAIN)).indices)(states)


ARRANGEMENTS = (lambda pairs: lambda indices: pairs.pair_by_pair(TABLE, indices), lambda pairs: pairs.tabulated(TABLE))


def test_both_arrangements_are_the_same_function(pairs, indices):
    one, other = (jax.vmap(arrange(pairs))(indices) for arrange in ARRANGEMENTS)
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_both_arrangements_have_the_same_gradients(pairs, indices):
    def loss(pairs, arrange):
        return jnp.mean(jnp.sin(jax.vmap(arrange(pairs))(indices)))

    one, other = (jax.grad(loss)(pairs, arrange) for arrange in ARRANGEMENTS)
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


def test_the_order_of_pairs_does_not_matter(pairs, indices):
    on_table = pairs.tabulated(TABLE)
    forwards, backwards = (on_table(rows) for rows in (indices[0], indices[0][::-1]))
    np.testing.assert_allclose(forwards, backwards, rtol=1e-4, atol=1e-5)


def test_a_table_is_worth_its_work_for_as_many_pairs_as_it_has_rows():
    assert worth_tabulating(rows=3528, pairs=3528)
    assert not worth_tabulating(rows=3528, pairs=3527)


def test_the_papers_sizes_counted_by_hand(pairs):
    assert sum(leaf.size for leaf in jax.tree.leaves(pairs)) == 9 * 128 + 6 * 129 * 128
