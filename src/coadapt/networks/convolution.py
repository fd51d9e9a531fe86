"""A small convolutional network for grids."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Float, Key, Vector
from coadapt.networks.mlp import Linear

SIDE = 3
"""Of the square that a convolution looks at around each cell."""


class ConvolutionalNetwork(eqx.Module):
    """Convolutions of 3x3 that keep the size of the grid, and a linear layer on all of it; each with an activation.

    A convolution is one matrix on the surroundings of every cell. Inside a loop, where all training happens, processors
    take about fifteen times as long for the compiler's own convolutions.
    """

    convolutions: tuple[Linear, ...]
    last: Linear

    def __init__(self, key: Key, shape: Sequence[int], channels: Sequence[int], units: int):
        """`shape` is that of the input: channels, rows, columns."""
        seen, rows, columns = shape
        *keys, for_last = jax.random.split(key, len(channels) + 1)
        sizes = seen, *channels
        self.convolutions = tuple(
            Linear(key, inputs * SIDE**2, outputs, scale=2**0.5)
            for key, inputs, outputs in zip(keys, sizes[:-1], channels, strict=True)
        )
        self.last = Linear(for_last, sizes[-1] * rows * columns, units, scale=2**0.5)

    def __call__(self, grid: Float[Array, "channels rows columns"]) -> Vector:
        cells = jnp.moveaxis(grid, 0, -1)
        for convolution in self.convolutions:
            cells = jax.nn.relu(surroundings(cells) @ convolution.weight.T + convolution.bias[None, None])
        return jax.nn.relu(self.last(cells.ravel()))


def surroundings(cells: Float[Array, "rows columns channels"]) -> Float[Array, "rows columns neighbours"]:
    """What is in the square around each cell, from the upper left to the lower right; nothing beyond the border."""
    rows, columns, _ = cells.shape
    beyond = SIDE // 2
    padded = jnp.pad(cells, ((beyond, beyond), (beyond, beyond), (0, 0)))
    shifted = [padded[row : row + rows, column : column + columns] for row in range(SIDE) for column in range(SIDE)]
    return jnp.concatenate(shifted, axis=-1)
