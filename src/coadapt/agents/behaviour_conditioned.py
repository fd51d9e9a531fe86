"""The paper's agent: one part infers how the partner behaves, another acts on it.

Inference needs a memory and learns from labels. Acting needs none, once it is told whom it plays with, and learns from
reward. In training the policy is told the truth; in execution it gets the belief.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp

from coadapt.arrays import Key, Scalar, Vector
from coadapt.networks.mlp import MLP
from coadapt.players import Belief, Decision, Policy, View


class BehaviourConditioned(NamedTuple):
    """A belief and a policy that acts on it, as one player."""

    belief: Belief
    policy: Policy

    def start(self, key: Key) -> Any:
        del key
        return self.belief.start()

    def decide(self, observation: Any, memory: Any) -> Decision:
        belief, memory = self.belief.update(observation, memory)
        return Decision(self.policy(observation, belief), memory, {"belief": belief})


class ConditionedPolicy(eqx.Module):
    """A perceptron on what it sees and on what it is told about the partner."""

    network: MLP
    view: View = eqx.field(static=True)

    def __init__(self, key: Key, view: View, inputs: int, labels: int, hidden: Sequence[int], actions: int):
        self.network = MLP(key, inputs + labels, hidden, actions, last_scale=0.01)
        self.view = view

    def __call__(self, observation: Any, belief: Vector) -> Vector:
        return self.network(jnp.concatenate([self.view(observation), belief]))


class ConditionedCritic(eqx.Module):
    """The policy's counterpart in training: the same shape, a value instead of actions."""

    network: MLP
    view: View = eqx.field(static=True)

    def __init__(self, key: Key, view: View, inputs: int, labels: int, hidden: Sequence[int]):
        self.network = MLP(key, inputs + labels, hidden, 1)
        self.view = view

    def start(self) -> tuple[()]:
        return ()

    def value(self, observation: Any, label: Vector, memory: Any) -> tuple[Scalar, Any]:
        return self.network(jnp.concatenate([self.view(observation), label]))[0], memory
