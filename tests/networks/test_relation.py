"""Pair by pair or tabulated it is the same function with the same gradients, and the order of pairs does not matter."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.games.game import MAIN
from coadapt.games.salesman.pairs import RelativePairs
from coadapt.games.salesman.rules import Salesman
from coadapt.networks.relation import RelationNetwork, worth_tabulating

VIEW = RelativePairs(11)
TABLE = jnp.asarray(VIEW.table())


@pytest.fixture(scope="module")
def network():
    return RelationNetwork(jax.random.key(1), TABLE.shape[1], VIEW.rest_size, (128,) * 7, (64, 64), 4)


@pytest.fixture(scope="module")
def pairs():
    game = Salesman()
    states = jax.vmap(game.reset)(jax.random.split(jax.random.key(2), 32))
    return jax.vmap(lambda state: VIEW(game.observe(state, MAIN)))(states)


def test_both_arrangements_are_the_same_function(network, pairs):
    one, other = (jax.vmap(on_table)(*pairs) for on_table in (network.pair_by_pair(TABLE), network.tabulated(TABLE)))
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_both_arrangements_have_the_same_gradients(network, pairs):
    def loss(network, arrange):
        return jnp.mean(jnp.sin(jax.vmap(arrange(network))(*pairs)))

    one = jax.grad(loss)(network, lambda n: n.pair_by_pair(TABLE))
    other = jax.grad(loss)(network, lambda n: n.tabulated(TABLE))
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


def test_the_order_of_pairs_does_not_matter(network, pairs):
    on_table = network.tabulated(TABLE)
    forwards, backwards = (on_table(indices, pairs.rest[0]) for indices in (pairs.indices[0], pairs.indices[0][::-1]))
    np.testing.assert_allclose(forwards, backwards, rtol=1e-4, atol=1e-5)


def test_a_table_is_worth_its_work_for_as_many_pairs_as_it_has_rows():
    assert worth_tabulating(rows=3528, pairs=3528)
    assert not worth_tabulating(rows=3528, pairs=3527)


def test_the_papers_sizes_counted_by_hand(network):
    numbers = sum(leaf.size for leaf in jax.tree.leaves(network))
    assert numbers == (9 * 128 + 6 * 129 * 128) + (135 * 64 + 65 * 64 + 65 * 4)
