"""Recurrent policies: one network that has to learn both to infer and to act, from reward alone.

With its own last action and reward in its embedding, this is RL2; without them, the LSTM baseline. A critic, which only
training uses, is told the truth about the partner, like that of the agent it is compared with.
"""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp

from coadapt.agents.encoders import Embedded, EncoderSpec, as_acted, build_below_head, embedded
from coadapt.arrays import Key, Scalar, Vector
from coadapt.networks.recurrent import LSTMMemory, RecurrentNetwork
from coadapt.players import Decision, Encoder, Seen


class RecurrentPolicy(eqx.Module):
    """An LSTM layer on the embedding, hidden layers, a softmax over actions."""

    encoder: Encoder
    recurrent: RecurrentNetwork

    def __init__(self, key: Key, spec: EncoderSpec, seen: Seen, units: int, hidden: Sequence[int], actions: int):
        self.encoder, size, for_head = build_below_head(key, spec, seen)
        self.recurrent = RecurrentNetwork(for_head, size, units, hidden, actions, last_scale=0.01)

    def embed(self, seen: Seen | Embedded) -> Embedded:
        """All of what is seen that needs no memory; it may be given in its place."""
        return embedded(self.encoder, seen)

    def start(self, key: Key) -> LSTMMemory:
        del key
        return self.recurrent.start()

    def decide(self, seen: Seen | Embedded, memory: LSTMMemory) -> Decision:
        embedding = self.embed(seen)
        logits, memory = self.recurrent(embedding.vector, memory)
        return Decision(as_acted(logits, embedding.permutation), memory, {})


class RecurrentCritic(eqx.Module):
    """An LSTM layer on the embedding and the partner's true label, hidden layers, a value."""

    encoder: Encoder
    recurrent: RecurrentNetwork

    def __init__(self, key: Key, spec: EncoderSpec, seen: Seen, labels: int, units: int, hidden: Sequence[int]):
        self.encoder, size, for_head = build_below_head(key, spec, seen)
        self.recurrent = RecurrentNetwork(for_head, size + labels, units, hidden, 1)

    def start(self) -> LSTMMemory:
        return self.recurrent.start()

    def value(self, seen: Seen, label: Vector, memory: LSTMMemory) -> tuple[Scalar, LSTMMemory]:
        value, memory = self.recurrent(jnp.concatenate([self.encoder(seen), label]), memory)
        return value[0], memory
