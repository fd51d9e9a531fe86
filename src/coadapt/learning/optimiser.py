"""How networks follow their gradients: Adam, with the gradient's length bounded and a rate that falls to nothing."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from coadapt.arrays import Count, Scalar


class Descent(NamedTuple):
    """A network on its way down, with what Adam remembers of the way."""

    network: Any
    memory: optax.OptState


def _adam(max_gradient_norm: Scalar | float) -> optax.GradientTransformation:
    return optax.chain(optax.clip_by_global_norm(max_gradient_norm), optax.scale_by_adam(eps=1e-5))


def begin(network: Any) -> Descent:
    """Before the first step."""
    return Descent(network, _adam(1.0).init(network))


def descend(
    descent: Descent, gradient: Any, learning_rate: Scalar | float, max_gradient_norm: Scalar | float
) -> Descent:
    """One step down."""
    with jax.numpy_dtype_promotion("standard"):  # optax mixes whole numbers and floats; nothing of ours does
        direction, memory = _adam(max_gradient_norm).update(gradient, descent.memory)
    network = jax.tree.map(lambda weight, d: weight - learning_rate * d, descent.network, direction)
    return Descent(network, memory)


def remaining(iteration: Count, iterations: Scalar | float) -> Scalar:
    """The share of so many iterations still to come, from one to zero: what falls over training falls with it."""
    return jnp.maximum(0.0, 1 - iteration.astype(jnp.float32) / iterations)


def risen(iteration: Count, iterations: int) -> Scalar:
    """The share reached of what rises over so many iterations: the first has one part of it, the last all."""
    return jnp.minimum(1.0, (iteration.astype(jnp.float32) + 1) / iterations)
