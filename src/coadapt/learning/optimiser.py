"""How networks follow their gradients, the gradient's length bounded and the rate falling to nothing.

Adam looks at every weight by itself. Muon looks at a matrix of weights as a whole, and goes equally far in all the
directions that its recent gradients have in common; what is not a matrix is left to Adam. Both go about as far in a
step at the same learning rate.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
import optax.contrib

from coadapt.arrays import Count, Scalar

ADAMS_STEP = 0.2
"""How far Adam moves a weight in a usual step, as a share of the learning rate: Muon's steps are made as long."""

OPTIMISERS: dict[str, Callable[[], optax.GradientTransformation]] = {
    "adam": lambda: optax.scale_by_adam(eps=1e-5),
    # A rate of minus one, for we are asked for the way up: going down it, at which rate, is `apply_gradients`'.
    "muon": lambda: optax.contrib.muon(learning_rate=-1.0, consistent_rms=ADAMS_STEP),
}


class TrainState(NamedTuple):
    """A network in training, with the state of its optimiser."""

    network: Any
    memory: optax.OptState


def begin(network: Any, optimiser: str) -> TrainState:
    """Before the first step."""
    return TrainState(network, _bounded(optimiser, 1.0).init(network))


def apply_gradients(
    state: TrainState,
    gradient: Any,
    optimiser: str,
    learning_rate: Scalar | float,
    max_gradient_norm: Scalar | float,
) -> TrainState:
    """One step of the optimiser."""
    with jax.numpy_dtype_promotion("standard"):  # optax mixes whole numbers and floats; nothing of ours does
        step = _bounded(optimiser, max_gradient_norm).update
        direction, memory = step(gradient, state.memory, state.network)
    network = jax.tree.map(lambda weight, d: weight - learning_rate * d, state.network, direction)
    return TrainState(network, memory)


def _bounded(optimiser: str, max_gradient_norm: Scalar | float) -> optax.GradientTransformation:
    return optax.chain(optax.clip_by_global_norm(max_gradient_norm), OPTIMISERS[optimiser]())


def remaining(iteration: Count, iterations: Scalar | float) -> Scalar:
    """The share of so many iterations still to come, from one to zero: what falls over training falls with it."""
    return jnp.maximum(0.0, 1 - iteration.astype(jnp.float32) / iterations)


def risen(iteration: Count, iterations: int) -> Scalar:
    """The share reached of what rises over so many iterations: the first has one part of it, the last all."""
    return jnp.minimum(1.0, (iteration.astype(jnp.float32) + 1) / iterations)
