"""Encoders: an observation as a vector, before any head.

Policies, critics, recurrent policies and predictors are the same on top of any of them: a label or a memory joins the
embedding. A *specification* says how an encoder is built, as data: a perceptron on a vector, a convolutional network on
a grid of channels, a relation network on pairs of objects, or one of your own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Float, Int, Key, Vector
from coadapt.networks.convolution import ConvolutionalNetwork
from coadapt.networks.mlp import MLP
from coadapt.networks.relation import PairSum, TabulatedSum, worth_tabulating
from coadapt.players import Actions, Encoder, PairView, View

Activation = Callable[[Vector], Vector]


@runtime_checkable
class EncoderSpec(Protocol):
    """How an encoder is built."""

    @property
    def activation(self) -> Activation:
        """Of the hidden layers that a head puts on top of it."""
        ...

    @property
    def learns(self) -> bool:
        """Whether it has weights of its own."""
        ...

    def build(self, key: Key, observation: Any) -> Encoder:
        """A new encoder of observations that look like this one; only their shapes count."""
        ...


def build_below_head(key: Key, spec: EncoderSpec, observation: Any) -> tuple[Encoder, int, Key]:
    """A new encoder, the size of its embedding, and the key for the head on top of it."""
    # Who learns nothing needs no chance, and leaves the whole key to the head.
    for_encoder, for_head = jax.random.split(key) if spec.learns else (key, key)
    encoder = spec.build(for_encoder, observation)
    return encoder, jax.eval_shape(encoder, observation).size, for_head


class Embedded(NamedTuple):
    """An observation that was encoded already: all of it that needs no memory."""

    vector: Vector
    actions: Actions | None


def embedded(encoder: Encoder, observation: Any) -> Embedded:
    """The embedding of an observation, if it is not one already."""
    if isinstance(observation, Embedded):
        return observation
    return Embedded(encoder(observation), encoder.actions(observation))


def as_acted(logits: Float[Array, "actions"], actions: Actions | None) -> Float[Array, "actions"]:
    """Logits over the actions as they are seen, for the actions as they are."""
    return logits if actions is None else logits[actions]


@dataclass(frozen=True)
class VectorSpec:
    """A view of the observation as a vector, and hidden layers on it if there are any."""

    view: View
    hidden: tuple[int, ...] = ()
    activation: Activation = jnp.tanh

    @property
    def learns(self) -> bool:
        return bool(self.hidden)

    def build(self, key: Key, observation: Any) -> Encoder:
        return VectorEncoder(key, self, jax.eval_shape(self.view, observation).size)


class VectorEncoder(eqx.Module):
    """What the view shows, or what a perceptron makes of it."""

    layers: MLP | None
    view: View = eqx.field(static=True)

    def __init__(self, key: Key, spec: VectorSpec, inputs: int):
        *hidden, last = spec.hidden or (0,)
        act = spec.activation
        self.layers = MLP(key, inputs, hidden, last, last_scale=2**0.5, activation=act) if spec.hidden else None
        self.view = spec.view

    def __call__(self, observation: Any) -> Vector:
        seen = self.view(observation)
        return seen if self.layers is None else self.layers.activation(self.layers(seen))

    def actions(self, observation: Any) -> None:
        del observation

    def prepared(self, samples: int) -> "VectorEncoder":
        del samples
        return self


@dataclass(frozen=True)
class GridSpec:
    """A view of the observation as channels by rows by columns, convolutions of 3x3 on it, and a hidden layer."""

    view: Callable[[Any], Float[Array, "channels rows columns"]]
    channels: tuple[int, ...] = (16, 32)
    units: int = 64

    @property
    def activation(self) -> Activation:
        return jax.nn.relu

    @property
    def learns(self) -> bool:
        return True

    def build(self, key: Key, observation: Any) -> Encoder:
        return GridEncoder(key, self, jax.eval_shape(self.view, observation).shape)


class GridEncoder(eqx.Module):
    """What a convolutional network makes of a grid."""

    network: ConvolutionalNetwork
    view: Callable[[Any], Float[Array, "channels rows columns"]] = eqx.field(static=True)

    def __init__(self, key: Key, spec: GridSpec, shape: tuple[int, ...]):
        self.network = ConvolutionalNetwork(key, shape, spec.channels, spec.units)
        self.view = spec.view

    def __call__(self, observation: Any) -> Vector:
        return self.network(self.view(observation))

    def actions(self, observation: Any) -> None:
        del observation

    def prepared(self, samples: int) -> "GridEncoder":
        del samples
        return self


@dataclass(frozen=True)
class RelationSpec:
    """A view of the observation as pairs of objects; layers before the sum over pairs and, if there are any, after it.

    Whether the layers before the sum are applied to all pairs there can be, or to each pair that is met, is decided by
    which is less work, unless it is said here.
    """

    view: PairView
    before: tuple[int, ...]
    after: tuple[int, ...] = ()
    tabulated: bool | None = None

    @property
    def activation(self) -> Activation:
        return jax.nn.relu

    @property
    def learns(self) -> bool:
        return True

    def build(self, key: Key, observation: Any) -> Encoder:
        pairs, _ = jax.eval_shape(self.view, observation)
        return RelationEncoder(key, self, pairs.size)


class RelationEncoder(eqx.Module):
    """The sum over the pairs of an observation beside what is seen apart from them, or what layers make of both.

    Without layers after the sum the embedding stops there, so that a label joins it at the sum.
    """

    pairs: PairSum | TabulatedSum
    after: MLP | None
    view: PairView = eqx.field(static=True)
    number: int = eqx.field(static=True)  # of pairs in an observation
    tabulated: bool | None = eqx.field(static=True)

    def __init__(self, key: Key, spec: RelationSpec, number: int):
        self.view, self.number, self.tabulated, self.after = spec.view, number, spec.tabulated, None
        features = self.view.table().shape[1]
        if not spec.after:
            self.pairs = PairSum(key, features, spec.before)
            return
        for_pairs, for_after = jax.random.split(key)
        self.pairs = PairSum(for_pairs, features, spec.before)
        inputs, (*hidden, last) = spec.before[-1] + self.view.rest_size, spec.after
        self.after = MLP(for_after, inputs, hidden, last, last_scale=2**0.5, activation=jax.nn.relu)

    def __call__(self, observation: Any) -> Vector:
        indices, rest = self.view(observation)
        if isinstance(self.pairs, TabulatedSum):
            total = self.pairs(indices)
        else:
            total = self.pairs.pair_by_pair(jnp.asarray(self.view.table()), indices)
        seen = jnp.concatenate([total, rest])
        return seen if self.after is None else jax.nn.relu(self.after(seen))

    def actions(self, observation: Any) -> Int[Array, "actions"]:
        return self.view.actions(observation)

    def prepared(self, samples: int) -> "RelationEncoder":
        """The same with the table of pairs worked out, if that is less work for so many observations."""
        if isinstance(self.pairs, TabulatedSum) or not self._is_worth_a_table(samples):
            return self
        tabulate = lambda pairs: pairs.tabulated(jnp.asarray(self.view.table()))
        for _ in range(self.pairs.layers[0].bias.ndim - 1):  # a population's encoders are stacked, and so are tables
            tabulate = jax.vmap(tabulate)
        return eqx.tree_at(lambda encoder: encoder.pairs, self, tabulate(self.pairs))

    def _is_worth_a_table(self, samples: int) -> bool:
        if self.tabulated is not None:
            return self.tabulated
        return worth_tabulating(self.view.rows, samples * self.number)
