import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.networks.mlp import MLP, Linear
from coadapt.networks.recurrent import RecurrentNetwork


def size(network):
    return sum(leaf.size for leaf in jax.tree.leaves(network))


def test_every_leaf_is_a_float_array(key):
    networks = MLP(key, 3, (4,), 2), RecurrentNetwork(key, 3, 4, (5,), 2)
    assert {leaf.dtype for leaf in jax.tree.leaves(networks)} == {jnp.dtype("float32")}


@pytest.mark.parametrize(
    ("network", "parameters"),
    [
        (lambda key: MLP(key, 6, (6, 16), 5), 6 * 6 + 6 + 6 * 16 + 16 + 16 * 5 + 5),
        (lambda key: RecurrentNetwork(key, 6, 32, (16,), 5), 4 * 32 * (6 + 32 + 1) + 32 * 16 + 16 + 16 * 5 + 5),
    ],
)
def test_parameters_as_counted_by_hand(key, network, parameters):
    assert size(network(key)) == parameters


def test_an_orthogonal_layer_keeps_lengths(key):
    x = jnp.array([3.0, -4.0, 12.0])
    assert float(jnp.linalg.norm(Linear(key, 3, 8, scale=2.0)(x))) == pytest.approx(26, rel=1e-5)


def test_a_small_last_layer_makes_an_almost_uniform_policy(key):
    shares = jax.nn.softmax(MLP(key, 4, (16,), 5, last_scale=0.01)(jnp.ones(4)))
    np.testing.assert_allclose(shares, 0.2, atol=0.02)


def test_memory_carries_what_was_seen(key):
    network = RecurrentNetwork(key, 2, 4, (4,), 1)
    _, after_left = network(jnp.array([1.0, 0.0]), network.start())
    _, after_right = network(jnp.array([0.0, 1.0]), network.start())
    now = jnp.zeros(2)
    assert network(now, after_left)[0] != network(now, after_right)[0]


def test_matrices_for_many_seeds_are_decomposed_one_by_one(key):
    """Two decompositions of several matrices at the same time wait for each other, if there are only two threads."""
    keys = jax.random.split(key, 3)
    many = jax.vmap(lambda key: Linear(key, 4, 2, 1.0).weight)
    shapes = _shapes_of("qr", jax.make_jaxpr(many)(keys).jaxpr)
    assert shapes == [(4, 2)]
    one_by_one = [Linear(key, 4, 2, 1.0).weight for key in keys]
    np.testing.assert_array_equal(many(keys), jnp.stack(one_by_one))


def _shapes_of(primitive, jaxpr):
    """What it is applied to, wherever it is."""
    shapes = [eqn.invars[0].aval.shape for eqn in jaxpr.eqns if eqn.primitive.name == primitive]
    inner = [within for eqn in jaxpr.eqns for within in jax.tree.leaves(list(eqn.params.values()), is_leaf=_is_jaxpr)]
    return shapes + [shape for each in inner if _is_jaxpr(each) for shape in _shapes_of(primitive, _bare(each))]


def _is_jaxpr(value):
    return hasattr(_bare(value), "eqns")


def _bare(value):
    return getattr(value, "jaxpr", value)


def test_its_memory_is_that_of_the_cell(key):
    network = RecurrentNetwork(key, 3, 4, (), 2)
    seen, memory = jnp.array([0.3, -1.2, 0.7]), (jnp.array([0.1, -0.2, 0.3, 0.4]), jnp.array([1.5, -0.6, 0.2, -2.0]))
    _, ours = network(seen, memory)
    for mine, cells in zip(ours, network.cell(seen, memory), strict=True):
        np.testing.assert_allclose(mine, cells, rtol=1e-5)
