"""RL2: one recurrent policy that has to learn both to infer and to act, from reward alone.

It sees its own last action and reward as well as the partner's action, as RL2 does. Its critic, which only training
uses, is told the truth about the partner, like that of the agent it is compared with.
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from coadapt.arrays import Key, Scalar, Vector
from coadapt.networks.recurrent import LSTMMemory, RecurrentNetwork
from coadapt.players import Decision, View


class RL2(eqx.Module):
    """An LSTM layer, hidden layers, a softmax over actions."""

    network: RecurrentNetwork
    view: View = eqx.field(static=True)

    def __init__(self, key: Key, view: View, inputs: int, units: int, hidden: Sequence[int], actions: int):
        self.network = RecurrentNetwork(key, inputs, units, hidden, actions, last_scale=0.01)
        self.view = view

    def start(self, key: Key) -> LSTMMemory:
        del key
        return self.network.start()

    def decide(self, observation: Any, memory: LSTMMemory) -> Decision:
        logits, memory = self.network(self.view(observation), memory)
        return Decision(logits, memory, {})


class RL2Critic(eqx.Module):
    """An LSTM layer, hidden layers, a value; the partner's true label is part of the input."""

    network: RecurrentNetwork
    view: View = eqx.field(static=True)

    def __init__(self, key: Key, view: View, inputs: int, labels: int, units: int, hidden: Sequence[int]):
        self.network = RecurrentNetwork(key, inputs + labels, units, hidden, 1)
        self.view = view

    def start(self) -> LSTMMemory:
        return self.network.start()

    def value(self, observation: Any, label: Vector, memory: LSTMMemory) -> tuple[Scalar, LSTMMemory]:
        value, memory = self.network(jnp.concatenate([self.view(observation), label]), memory)
        return value[0], memory
