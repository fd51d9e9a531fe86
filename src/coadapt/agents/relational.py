"""The salesman's minds: relation networks that decide, judge, remember or infer.

What a policy or a critic is told about the partner joins the sum over pairs, so the table of pairs stays as small as it
is. `ready(mind)` is the same mind with that table worked out, for whoever asks it again and again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Int, Key, Scalar, Vector
from coadapt.networks.recurrent import LSTMMemory, RecurrentNetwork
from coadapt.networks.relation import PairByPair, RelationNetwork, Tabulated
from coadapt.players import Decision, PairView

NOTHING = jnp.zeros(0)
"""What those are told who have to find out for themselves."""


@dataclass(frozen=True)
class RelationSizes:
    """How a mind looks: through which view, its relation network up to the sum and behind it, and what is on top."""

    view: PairView
    before: tuple[int, ...]
    after: tuple[int, ...]
    on_top: tuple[int, ...] = ()  # hidden layers of minds without a memory
    tabulated: bool = True  # or pair by pair: the same function, see `networks.relation`


class Sight(eqx.Module):
    """A relation network on the pairs of an observation and on what it is told, and the layers on top of it."""

    network: RelationNetwork
    view: PairView = eqx.field(static=True)
    tabulated: bool = eqx.field(static=True)

    def __init__(self, key: Key, sizes: RelationSizes, told: int, outputs: int, last_scale: float = 1.0):
        self.view, self.tabulated = sizes.view, sizes.tabulated
        features, rest = self.view.table().shape[1], self.view.rest_size + told
        behind_sum = (*sizes.after, *sizes.on_top)
        self.network = RelationNetwork(key, features, rest, sizes.before, behind_sum, outputs, last_scale=last_scale)

    def ready(self) -> "ReadySight":
        table = jnp.asarray(self.view.table())
        return ReadySight(
            self.network.tabulated(table) if self.tabulated else self.network.pair_by_pair(table), self.view
        )

    def __call__(self, observation: Any, told: Vector) -> Vector:
        # Under `vmap` the table does not depend on the observation, and is worked out once for all of them.
        return self.ready()(observation, told)


class ReadySight(eqx.Module):
    """The same with its pairs at hand."""

    relation: Tabulated | PairByPair
    view: PairView = eqx.field(static=True)

    def ready(self) -> "ReadySight":
        return self

    def __call__(self, observation: Any, told: Vector) -> Vector:
        indices, rest = self.view(observation)
        return self.relation(indices, jnp.concatenate([rest, told]))


Mind = TypeVar("Mind", bound=eqx.Module)


def ready(mind: Mind) -> Mind:
    """The same mind with its table of pairs worked out."""
    return eqx.tree_at(lambda m: m.sight, mind, mind.sight.ready())  # pyright: ignore[reportAttributeAccessIssue]


class RelationalPolicy(eqx.Module):
    """A memoryless way to act on what is seen and on what one is told about the partner."""

    sight: Sight | ReadySight

    def __init__(self, key: Key, sizes: RelationSizes, labels: int, actions: int):
        self.sight = Sight(key, sizes, labels, actions, last_scale=0.01)

    def __call__(self, observation: Any, belief: Vector) -> Vector:
        return self.sight(observation, belief)[self.sight.view.actions(observation)]


class RelationalCritic(eqx.Module):
    """The policy's counterpart in training: the same shape, a value instead of actions."""

    sight: Sight | ReadySight

    def __init__(self, key: Key, sizes: RelationSizes, labels: int):
        self.sight = Sight(key, sizes, labels, 1)

    def start(self) -> tuple[()]:
        return ()

    def value(self, observation: Any, label: Vector, memory: Any) -> tuple[Scalar, Any]:
        return self.sight(observation, label)[0], memory


class Percept(NamedTuple):
    """An observation that was looked at already: all of it that needs no memory."""

    features: Vector
    actions: Int[Array, "actions"]  # by action: which one it is as it was seen


class _Remembering(eqx.Module):
    """A relation network looks, an LSTM layer remembers, and hidden layers make something of it."""

    sight: Sight | ReadySight
    recurrent: RecurrentNetwork

    def __init__(self, key: Key, sizes: RelationSizes, units: int, hidden: Sequence[int], outputs: int):
        for_sight, for_recurrent = jax.random.split(key)
        *_, seen = sizes.after
        self.sight = Sight(for_sight, _without_last(sizes), 0, seen, last_scale=2**0.5)
        self.recurrent = RecurrentNetwork(for_recurrent, seen, units, hidden, outputs, last_scale=0.01)

    def perceive(self, observation: Any) -> Percept:
        """What is seen, before anything is remembered."""
        return Percept(jax.nn.relu(self.sight(observation, NOTHING)), self.sight.view.actions(observation))

    def _perceived(self, observation: Any) -> Percept:
        return observation if isinstance(observation, Percept) else self.perceive(observation)


def _without_last(sizes: RelationSizes) -> RelationSizes:
    """The last layer behind the sum is what the memory gets: an output, not a hidden layer, and nothing on top."""
    return replace(sizes, after=sizes.after[:-1], on_top=())


class RelationalLSTM(_Remembering):
    """The LSTM baseline: one recurrent policy that has to learn both to infer and to act."""

    def __init__(self, key: Key, sizes: RelationSizes, units: int, actions: int):
        super().__init__(key, sizes, units, (), actions)

    def start(self, key: Key) -> LSTMMemory:
        del key
        return self.recurrent.start()

    def decide(self, observation: Any, memory: LSTMMemory) -> Decision:
        features, actions = self._perceived(observation)
        logits, memory = self.recurrent(features, memory)
        return Decision(logits[actions], memory, {})


class RelationalBelief(_Remembering):
    """The skill prediction network: it watches and says of which kind the partner is."""

    def __init__(self, key: Key, sizes: RelationSizes, units: int, hidden: Sequence[int], labels: int):
        super().__init__(key, sizes, units, hidden, labels)

    def start(self) -> LSTMMemory:
        return self.recurrent.start()

    def update(self, observation: Any, memory: LSTMMemory) -> tuple[Vector, LSTMMemory]:
        logits, memory = self.recurrent(self._perceived(observation).features, memory)
        return jax.nn.softmax(logits), memory
