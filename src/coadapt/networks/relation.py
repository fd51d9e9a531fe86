"""The sum over pairs of a relation network: every pair of objects through one perceptron, and what comes out added up.

Pairs are given as indices into a table of all that a pair can be. Pair by pair, the perceptron is applied to the
features of each; tabulated, it is applied to the whole table once, and each state only gathers and sums its rows. Both
are the same function. The second is cheaper as soon as there are more pairs to look at than rows in the table.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Float, Int, Key, Vector
from coadapt.networks.mlp import HiddenLayers

Table = Float[Array, "rows features"]


def worth_tabulating(rows: int, pairs: int) -> bool:
    """Whether a table of so many rows is cheaper to work out than so many pairs one by one."""
    return pairs >= rows


class PairSum(HiddenLayers):
    """The perceptron before the sum: what one pair adds to it."""

    def __init__(self, key: Key, features: int, layers: Sequence[int]):
        super().__init__(key, features, layers, jax.nn.relu)

    def pair_by_pair(self, table: Table, indices: Int[Array, "pairs"]) -> Vector:
        """The sum over the pairs in these rows of the table."""
        return jnp.sum(jax.vmap(self)(table[indices]), axis=0)

    def tabulated(self, table: Table) -> "TabulatedSum":
        return TabulatedSum(jax.vmap(self)(table))


class TabulatedSum(eqx.Module):
    """The perceptron was applied to all pairs there can be; a state gathers and sums its own."""

    embedded: Float[Array, "rows units"]

    def __call__(self, indices: Int[Array, "pairs"]) -> Vector:
        # One row after the other: the compiler then adds them up as it reads them. As one gather and a sum it would
        # first copy all rows of all states, which takes several times as long.
        table, total = self.embedded, jnp.zeros(self.embedded.shape[-1], self.embedded.dtype)
        for index in indices:
            total = total + table[index]
            # Backwards, each gradient is now added into that of the rows before, and not into zeros of its own.
            table = jax.lax.optimization_barrier(table)
        return total
