"""Encoders: what is seen as a vector, before any head.

Policies, critics, recurrent policies and predictors are the same on top of any of them: a label or a memory joins the
embedding. A *specification* says how an encoder is built, as data: a perceptron on a vector, a convolutional network on
a grid of channels, a relation network on pairs of objects, or one of your own.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Float, Key, Vector
from coadapt.games.traced import Unfit, explained, shape_of, shapes_of, traced
from coadapt.networks.convolution import ConvolutionalNetwork
from coadapt.networks.mlp import HiddenLayers
from coadapt.networks.relation import PairSum, TabulatedSum, worth_tabulating
from coadapt.players import Encoder, PairView, Permutation, Seen, View

Activation = Callable[[Vector], Vector]


@runtime_checkable
class EncoderSpec(Protocol):
    """How an encoder is built. One of your own that derives from this needs nothing but `build`."""

    @property
    def activation(self) -> Activation:
        """Of the hidden layers that a head puts on top of it."""
        return jax.nn.relu

    @property
    def learns(self) -> bool:
        """Whether it has weights of its own."""
        return True

    def build(self, key: Key, seen: Seen) -> Encoder:
        """A new encoder of what looks like this; only shapes count."""
        ...


def build_below_head(key: Key, spec: EncoderSpec, seen: Seen) -> tuple[Encoder, int, Key]:
    """A new encoder, the size of its embedding, and the key for the head on top of it."""
    if not isinstance(seen, Seen):
        raise Unfit(f"networks are made for all that a player is shown, a coadapt.Seen, not for {shape_of(seen)} alone")
    what = f"{type(spec).__name__} of the observation ({shapes_of(seen.observation)})"
    with explained(what):
        # Who learns nothing needs no chance, and leaves the whole key to the head.
        for_encoder, for_head = jax.random.split(key) if spec.learns else (key, key)
        encoder = spec.build(for_encoder, seen)
    embedding = traced(what, encoder, seen)
    _check_axes(what, "the encoder", embedding, 1)
    return encoder, embedding.size, for_head


def _viewed(spec: Any, seen: Seen, axes: int) -> jax.ShapeDtypeStruct:
    """The shape of what a specification's view makes of an observation."""
    what = f"{type(spec).__name__} of the observation ({shapes_of(seen.observation)})"
    viewed = traced(what, spec.view, seen.observation)
    _check_axes(what, "the view", viewed, axes)
    return viewed


def _check_axes(what: str, whose: str, viewed: Any, axes: int) -> None:
    if not isinstance(viewed, jax.ShapeDtypeStruct) or viewed.ndim != axes:
        wanted = {1: "a vector, float32[n]", 3: "channels by rows by columns, float32[c,h,w]"}[axes]
        raise Unfit(f"{what}: {whose} must return {wanted}, not {shapes_of(viewed)}")


class Embedded(NamedTuple):
    """What was seen and encoded already: all of it that needs no memory."""

    vector: Vector
    permutation: Permutation | None


def embedded(encoder: Encoder, seen: Seen | Embedded) -> Embedded:
    """The embedding of what is seen, if it is not one already."""
    return seen if isinstance(seen, Embedded) else Embedded(encoder(seen), encoder.permutation(seen))


def as_acted(logits: Float[Array, "actions"], permutation: Permutation | None) -> Float[Array, "actions"]:
    """Logits over the actions as they are seen, for the actions as they are."""
    return logits if permutation is None else logits[permutation]


class ViewEncoder(Encoder):
    """What a view shows, or what a network makes of it."""

    network: HiddenLayers | ConvolutionalNetwork | None
    view: Callable[[Any], Float[Array, "..."]] = eqx.field(static=True)

    def __call__(self, seen: Seen) -> Vector:
        viewed = self.view(seen.observation)
        return viewed if self.network is None else self.network(viewed)


@dataclass(frozen=True)
class VectorSpec:
    """A view of the observation as a vector, and hidden layers on it if there are any."""

    view: View
    hidden: tuple[int, ...] = ()
    activation: Activation = jnp.tanh

    @property
    def learns(self) -> bool:
        return bool(self.hidden)

    def build(self, key: Key, seen: Seen) -> Encoder:
        inputs = _viewed(self, seen, axes=1).size
        return ViewEncoder(HiddenLayers(key, inputs, self.hidden, self.activation) if self.hidden else None, self.view)


@dataclass(frozen=True)
class GridSpec(EncoderSpec):
    """A view of the observation as channels by rows by columns, convolutions of 3x3 on it, and a hidden layer."""

    view: Callable[[Any], Float[Array, "channels rows columns"]]
    channels: tuple[int, ...] = (16, 32)
    units: int = 64

    def build(self, key: Key, seen: Seen) -> Encoder:
        shape = _viewed(self, seen, axes=3).shape
        return ViewEncoder(ConvolutionalNetwork(key, shape, self.channels, self.units), self.view)


@dataclass(frozen=True)
class RelationSpec(EncoderSpec):
    """A view of the observation as pairs of objects; layers before the sum over pairs and, if there are any, after it.

    Whether the layers before the sum are applied to all pairs there can be, or to each pair that is met, is decided by
    which is less work, unless it is said here.
    """

    view: PairView
    before: tuple[int, ...]
    after: tuple[int, ...] = ()
    tabulated: bool | None = None

    def build(self, key: Key, seen: Seen) -> Encoder:
        pairs, _ = jax.eval_shape(self.view, seen.observation)
        return RelationEncoder(key, self, pairs.size)


class RelationEncoder(Encoder):
    """The sum over the pairs of an observation beside what is seen apart from them, or what layers make of both.

    Without layers after the sum the embedding stops there, so that a label joins it at the sum.
    """

    pairs: PairSum | TabulatedSum
    after: HiddenLayers | None
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
        self.after = HiddenLayers(for_after, spec.before[-1] + self.view.rest_size, spec.after, jax.nn.relu)

    def __call__(self, seen: Seen) -> Vector:
        indices, rest = self.view(seen.observation)
        if isinstance(self.pairs, TabulatedSum):
            total = self.pairs(indices)
        else:
            total = self.pairs.pair_by_pair(jnp.asarray(self.view.table()), indices)
        together = jnp.concatenate([total, rest])
        return together if self.after is None else self.after(together)

    def permutation(self, seen: Seen) -> Permutation:
        return self.view.permutation(seen.observation)

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


@dataclass(frozen=True)
class FeedbackSpec(EncoderSpec):
    """What another encoder makes of an observation, and beside it what came of the last step.

    That is what an agent needs that has to find out by itself what pays: RL2.
    """

    spec: EncoderSpec
    actions: int

    @property
    def activation(self) -> Activation:
        return self.spec.activation

    @property
    def learns(self) -> bool:
        return self.spec.learns

    def build(self, key: Key, seen: Seen) -> Encoder:
        return FeedbackEncoder(self.spec.build(key, seen), self.actions)


class FeedbackEncoder(Encoder):
    """An embedding beside one's own last action, as one-hot, the reward it brought, and whether an episode begins."""

    encoder: Encoder
    actions: int = eqx.field(static=True)

    def __call__(self, seen: Seen) -> Vector:
        last, turned = jax.nn.one_hot(seen.last_action, self.actions), self.permutation(seen)
        last = last if turned is None else jnp.zeros_like(last).at[turned].set(last)  # as it looks from here, too
        return jnp.concatenate([self.encoder(seen), last, seen.last_reward[None], seen.first.astype(jnp.float32)[None]])

    def permutation(self, seen: Seen) -> Permutation | None:
        return self.encoder.permutation(seen)

    def prepared(self, samples: int) -> "FeedbackEncoder":
        return replace(self, encoder=self.encoder.prepared(samples))


def usual_spec(seen: Seen, memoryless: bool) -> EncoderSpec:
    """How a network looks at a game of which nothing is said: at all of an observation.

    What a label joins is the observation itself, or the embedding of a grid; a memory gets a hidden layer before it.
    """
    leaves = jax.tree.leaves(seen.observation)
    if len(leaves) == 1 and leaves[0].ndim == 3:
        return GridSpec(as_channels)
    return VectorSpec(as_one_vector, () if memoryless else (64,))


def as_channels(observation: Any) -> Float[Array, "channels rows columns"]:
    """The one array of an observation."""
    (grid,) = jax.tree.leaves(observation)
    return grid.astype(jnp.float32)


def as_one_vector(observation: Any) -> Vector:
    """All numbers of an observation, one after the other."""
    return jnp.concatenate([leaf.astype(jnp.float32).ravel() for leaf in jax.tree.leaves(observation)])
