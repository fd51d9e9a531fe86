"""The relation network: every pair of objects through one perceptron, the sum of what comes out through another.

Pairs are given as indices into a table of all that a pair can be. Pair by pair, the perceptron is applied to the
features of each; tabulated, it is applied to the whole table once, and each state only gathers and sums its rows. Both
are the same function. The second is cheaper as soon as there are more pairs to look at than rows in the table.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Float, Int, Key, Vector
from coadapt.networks.mlp import MLP

Table = Float[Array, "rows features"]


def worth_tabulating(rows: int, pairs: int) -> bool:
    """Whether a table of so many rows is cheaper to work out than so many pairs one by one."""
    return pairs >= rows


class RelationNetwork(eqx.Module):
    """Perceptrons before and after the sum over pairs."""

    before: MLP
    after: MLP

    def __init__(
        self,
        key: Key,
        features: int,
        rest: int,
        before: Sequence[int],
        after: Sequence[int],
        outputs: int,
        *,
        last_scale: float = 1.0,
    ):
        """`before` are the layers up to the sum, `after` the hidden ones behind it; `rest` joins the sum."""
        for_before, for_after = jax.random.split(key)
        *hidden, summed = before
        relu = jax.nn.relu
        self.before = MLP(for_before, features, hidden, summed, last_scale=2**0.5, activation=relu)
        self.after = MLP(for_after, summed + rest, after, outputs, last_scale=last_scale, activation=relu)

    def embed(self, features: Vector) -> Vector:
        """What one pair adds to the sum."""
        return jax.nn.relu(self.before(features))

    def pair_by_pair(self, table: Table) -> "PairByPair":
        return PairByPair(self, table)

    def tabulated(self, table: Table) -> "Tabulated":
        return Tabulated(jax.vmap(self.embed)(table), self.after)


class PairByPair(eqx.Module):
    """The perceptron is applied to the pairs of each state."""

    network: RelationNetwork
    table: Table

    def __call__(self, indices: Int[Array, "pairs"], rest: Vector) -> Vector:
        embedded = jax.vmap(self.network.embed)(self.table[indices])
        return self.network.after(jnp.concatenate([jnp.sum(embedded, axis=0), rest]))


class Tabulated(eqx.Module):
    """The perceptron was applied to all pairs there can be; a state gathers and sums its own."""

    embedded: Float[Array, "rows units"]
    after: MLP

    def __call__(self, indices: Int[Array, "pairs"], rest: Vector) -> Vector:
        # One row after the other: the compiler then adds them up as it reads them. As one gather and a sum it would
        # first copy all rows of all states, which takes several times as long.
        table, total = self.embedded, 0
        for index in indices:
            total = total + table[index]
            # Backwards, each gradient is now added into that of the rows before, and not into zeros of its own.
            table = jax.lax.optimization_barrier(table)
        return self.after(jnp.concatenate([total, rest]))
