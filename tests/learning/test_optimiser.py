"""How far a step goes, and where to."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.learning.optimiser import apply_gradients, begin, remaining, risen
from coadapt.learning.ppo import PPOConfig
from coadapt.learning.supervised import SupervisedConfig

RATE, NO_BOUND = 0.1, 1e6
GRADIENT = {"matrix": jnp.array([[300.0, 0.0], [0.0, 100.0]]), "vector": jnp.array([5.0, -0.2])}


def moved(optimiser: str, gradient=GRADIENT) -> dict[str, np.ndarray]:
    """By one step, in learning rates."""
    network = jax.tree.map(jnp.zeros_like, gradient)
    after = apply_gradients(begin(network, optimiser), gradient, optimiser, RATE, NO_BOUND).network
    return jax.tree.map(lambda weight: np.asarray(weight) / RATE, after)


def test_adams_first_step_is_equally_long_in_every_weight_with_a_gradient():
    step = moved("adam")
    np.testing.assert_allclose(step["matrix"], [[-1, 0], [0, -1]], atol=1e-4)
    np.testing.assert_allclose(step["vector"], [-1, 1], atol=1e-4)


def test_muon_takes_a_matrix_as_a_whole():
    """Turn the gradient and the step turns with it; Adam's does not."""
    half = np.sqrt(0.5)
    turn = jnp.array([[half, -half], [half, half]])
    turned = {**GRADIENT, "matrix": turn @ GRADIENT["matrix"]}
    np.testing.assert_allclose(moved("muon", turned)["matrix"], turn @ moved("muon")["matrix"], atol=1e-4)
    assert np.abs(moved("adam", turned)["matrix"] - turn @ moved("adam")["matrix"]).max() > 0.2


def test_muon_goes_about_equally_far_in_all_directions_of_a_matrix_and_as_far_as_adam_usually_goes():
    """Weights move by 0.2 on average over a matrix of two by two if each direction is 0.2 times the root of 2 long.

    Muon finds the directions in five rounds, which leaves each up to a third too short or a fifth too long.
    """
    lengths = np.linalg.svd(moved("muon")["matrix"], compute_uv=False)
    assert np.all(lengths > 0.2 * 2**0.5 * 2 / 3)
    assert np.all(lengths < 0.2 * 2**0.5 * 6 / 5)


def test_muon_leaves_vectors_to_adam():
    """It looks a step ahead, so its first is longer than Adam's own, but as long in every weight."""
    main, other = moved("muon")["vector"]
    assert main < -1
    assert other == pytest.approx(-main, rel=1e-4)


@pytest.mark.parametrize("optimiser", ["adam", "muon"])
def test_it_finds_the_least_squares_solution(optimiser):
    """The columns of a matrix that was multiplied by another come back."""
    inputs = jax.random.normal(jax.random.key(0), (32, 4))
    truth = jax.random.normal(jax.random.key(1), (4, 3))
    error = lambda weights: jnp.mean((inputs @ weights - inputs @ truth) ** 2)

    def step(state, rate):
        return apply_gradients(state, jax.grad(error)(state.network), optimiser, rate, 0.5), None

    found, _ = jax.lax.scan(step, begin(jnp.zeros((4, 3)), optimiser), jnp.linspace(0.1, 0, 500))
    np.testing.assert_allclose(found.network, truth, atol=1e-3)


@pytest.mark.parametrize("optimiser", ["adam", "muon"])
def test_a_gradient_counts_for_no_more_than_the_bound_of_its_length(optimiser):
    """Of (3, 4) and of (300, 400) the same is left, which is as long as the bound."""

    def after_two(second):
        state = begin(jnp.zeros(2), optimiser)
        for gradient in (jnp.array([0.3, 0.4]), second):
            state = apply_gradients(state, gradient, optimiser, RATE, 0.5)
        return state.network

    bounded = after_two(jnp.array([0.3, 0.4]))
    np.testing.assert_allclose(after_two(jnp.array([300.0, 400.0])), bounded, rtol=1e-5)
    assert np.abs(after_two(jnp.array([0.03, 0.04])) - bounded).max() > 1e-3  # what is shorter is left as it is


def test_what_falls_and_what_rises():
    share = lambda of, *iterations: [float(of(jnp.int32(n), 4)) for n in iterations]
    assert share(remaining, 0, 1, 3, 4, 9) == [1, 0.75, 0.25, 0, 0]
    assert share(risen, 0, 1, 3, 4, 9) == [0.25, 0.5, 1, 1, 1]


@pytest.mark.parametrize("config", [PPOConfig, SupervisedConfig])
def test_another_optimiser_is_refused(config):
    with pytest.raises(ValueError, match="optimiser must be one of adam, muon, not 'sgd'"):
        config(iterations=1, optimiser="sgd")
