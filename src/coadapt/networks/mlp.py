"""The multi-layer perceptron."""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Float, Key, Vector


class Linear(eqx.Module):
    """A linear layer that starts with orthogonal weights of the given scale, and no bias."""

    weight: Float[Array, "outputs inputs"]
    bias: Float[Array, "outputs"]

    def __init__(self, key: Key, inputs: int, outputs: int, scale: float):
        self.weight = _orthogonal(key, outputs, inputs, scale)
        self.bias = jnp.zeros(outputs, jnp.float32)

    def __call__(self, x: Vector) -> Vector:
        return x @ self.weight.T + self.bias


def _orthogonal(key: Key, outputs: int, inputs: int, scale: float) -> Float[Array, "outputs inputs"]:
    """For several keys one matrix after the other.

    Decomposed side by side, each would wait for threads that others have taken: with two cores, for ever.
    """
    draw = jax.nn.initializers.orthogonal(scale)
    return jax.custom_batching.sequential_vmap(lambda key: draw(key, (outputs, inputs), jnp.float32))(key)


class MLP(eqx.Module):
    """Hidden layers with an activation after each, then a linear layer.

    A small `last_scale` makes an untrained policy act almost uniformly.
    """

    layers: tuple[Linear, ...]
    activation: Callable[[Vector], Vector] = eqx.field(static=True)

    def __init__(
        self,
        key: Key,
        inputs: int,
        hidden: Sequence[int],
        outputs: int,
        *,
        last_scale: float = 1.0,
        activation: Callable[[Vector], Vector] = jnp.tanh,
    ):
        sizes = (inputs, *hidden, outputs)
        scales = (2**0.5,) * len(hidden) + (last_scale,)
        keys = jax.random.split(key, len(scales))
        self.layers = tuple(map(Linear, keys, sizes[:-1], sizes[1:], scales))
        self.activation = activation

    def __call__(self, x: Vector) -> Vector:
        for layer in self.layers[:-1]:
            x = self.activation(layer(x))
        return self.layers[-1](x)


class HiddenLayers(MLP):
    """Layers with an activation after each, the last one included."""

    def __init__(self, key: Key, inputs: int, layers: Sequence[int], activation: Callable[[Vector], Vector]):
        *hidden, last = layers
        super().__init__(key, inputs, hidden, last, last_scale=2**0.5, activation=activation)

    def __call__(self, x: Vector) -> Vector:
        return self.activation(super().__call__(x))
