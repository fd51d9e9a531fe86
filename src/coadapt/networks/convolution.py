"""A small convolutional network for grids."""

from collections.abc import Sequence

import equinox as eqx
import jax

from coadapt.arrays import Array, Float, Key, Vector
from coadapt.networks.mlp import Linear


class ConvolutionalNetwork(eqx.Module):
    """Convolutions of 3x3 that keep the size of the grid, and a linear layer on all of it; each with an activation."""

    convolutions: tuple[eqx.nn.Conv2d, ...]
    last: Linear

    def __init__(self, key: Key, shape: Sequence[int], channels: Sequence[int], units: int):
        """`shape` is that of the input: channels, rows, columns."""
        seen, rows, columns = shape
        *keys, for_last = jax.random.split(key, len(channels) + 1)
        sizes = seen, *channels
        self.convolutions = tuple(
            eqx.nn.Conv2d(inputs, outputs, 3, padding=1, key=key)
            for key, inputs, outputs in zip(keys, sizes[:-1], channels, strict=True)
        )
        self.last = Linear(for_last, sizes[-1] * rows * columns, units, scale=2**0.5)

    def __call__(self, grid: Float[Array, "channels rows columns"]) -> Vector:
        for convolution in self.convolutions:
            grid = jax.nn.relu(convolution(grid))
        return jax.nn.relu(self.last(grid.ravel()))
