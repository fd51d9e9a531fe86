"""A network with a memory: an LSTM layer, and a perceptron that reads it."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp

from coadapt.arrays import Key, Vector
from coadapt.networks.mlp import MLP

LSTMMemory = tuple[Vector, Vector]


class RecurrentNetwork(eqx.Module):
    """An LSTM layer, hidden layers, a linear layer."""

    cell: eqx.nn.LSTMCell
    head: MLP

    def __init__(
        self, key: Key, inputs: int, units: int, hidden: Sequence[int], outputs: int, *, last_scale: float = 1.0
    ):
        for_cell, for_head = jax.random.split(key)
        self.cell = eqx.nn.LSTMCell(inputs, units, key=for_cell)
        self.head = MLP(for_head, units, hidden, outputs, last_scale=last_scale)

    def start(self) -> LSTMMemory:
        """The memory of nothing."""
        return jnp.zeros(self.cell.hidden_size), jnp.zeros(self.cell.hidden_size)

    def __call__(self, x: Vector, memory: LSTMMemory) -> tuple[Vector, LSTMMemory]:
        memory = _remember(self.cell, x, memory)
        return self.head(memory[0]), memory


def _remember(cell: eqx.nn.LSTMCell, x: Vector, memory: LSTMMemory) -> LSTMMemory:
    """What the cell does, with one product in place of its two: a step is small, and costs what its products cost."""
    assert cell.bias is not None
    hidden, kept = memory
    weight = jnp.concatenate([cell.weight_ih, cell.weight_hh], axis=1)
    write, keep, new, show = jnp.split(jnp.concatenate([x, hidden]) @ weight.T + cell.bias, 4)
    kept = jax.nn.sigmoid(keep) * kept + jax.nn.sigmoid(write) * jnp.tanh(new)
    return jax.nn.sigmoid(show) * jnp.tanh(kept), kept
