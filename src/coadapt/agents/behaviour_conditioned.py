"""The paper's agent: one part infers how the partner behaves, another acts on it.

Inference needs a memory and learns from labels. Acting needs none, once it is told whom it plays with, and learns from
reward. In training the policy is told the truth; in execution it gets the belief.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
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


class OnTheLikeliest(NamedTuple):
    """A policy that takes what seems likeliest for certain."""

    policy: Policy

    def __call__(self, observation: Any, belief: Vector) -> Vector:
        return self.policy(observation, jax.nn.one_hot(jnp.argmax(belief), belief.size))


class OnADrawnLabel(NamedTuple):
    """A policy that is told, at every step, a label drawn from the belief: a mixture of how it acts on each of them."""

    policy: Policy

    def __call__(self, observation: Any, belief: Vector) -> Vector:
        logits = jax.vmap(lambda label: self.policy(observation, label))(jnp.eye(belief.size))
        shares = jnp.log(jnp.maximum(belief, jnp.finfo(belief.dtype).tiny))
        return jax.nn.logsumexp(jax.nn.log_softmax(logits) + shares[:, None], axis=0)


FEEDS = {"probabilities": lambda policy: policy, "likeliest": OnTheLikeliest, "drawn": OnADrawnLabel}
"""What a policy that was trained on certain labels can be given of a belief that is not certain."""


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
