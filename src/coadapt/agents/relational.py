"""Policy and critic of the salesman: relation networks that are told, or believe, with whom they play.

What they are told joins the sum over pairs, so the table of pairs stays as small as it is.
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from coadapt.arrays import Key, Scalar, Vector
from coadapt.networks.relation import RelationNetwork, Tabulated
from coadapt.players import PairView


class RelationalPolicy(eqx.Module):
    """A relation network on the pairs it sees and on what it is told about the partner."""

    network: RelationNetwork
    view: PairView = eqx.field(static=True)

    def __init__(
        self, key: Key, view: PairView, labels: int, before: Sequence[int], after: Sequence[int], actions: int
    ):
        features = view.table().shape[1]
        rest = view.rest_size + labels
        self.network = RelationNetwork(key, features, rest, before, after, actions, last_scale=0.01)
        self.view = view

    def ready(self) -> "ReadyPolicy":
        """The same policy with its table of pairs worked out: for whoever asks it again and again."""
        return ReadyPolicy(self.network.tabulated(jnp.asarray(self.view.table())), self.view)

    def __call__(self, observation: Any, belief: Vector) -> Vector:
        return self.ready()(observation, belief)


class ReadyPolicy(eqx.Module):
    """A relational policy whose pairs are looked up."""

    relation: Tabulated
    view: PairView = eqx.field(static=True)

    def __call__(self, observation: Any, belief: Vector) -> Vector:
        indices, rest = self.view(observation)
        return self.relation(indices, jnp.concatenate([rest, belief]))


class RelationalCritic(eqx.Module):
    """The policy's counterpart in training: the same shape, a value instead of actions."""

    network: RelationNetwork
    view: PairView = eqx.field(static=True)

    def __init__(self, key: Key, view: PairView, labels: int, before: Sequence[int], after: Sequence[int]):
        self.network = RelationNetwork(key, view.table().shape[1], view.rest_size + labels, before, after, 1)
        self.view = view

    def start(self) -> tuple[()]:
        return ()

    def value(self, observation: Any, label: Vector, memory: Any) -> tuple[Scalar, Any]:
        # Under `vmap` the table does not depend on the observation, and is worked out once for all of them.
        relation = self.network.tabulated(jnp.asarray(self.view.table()))
        indices, rest = self.view(observation)
        return relation(indices, jnp.concatenate([rest, label]))[0], memory
