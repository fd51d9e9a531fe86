"""The paper's agent: one part infers how the partner behaves, another acts on it.

Inference needs a memory and learns from labels. Acting needs none, once it is told whom it plays with, and learns from
reward. In training the policy is told the truth; in execution it gets the belief.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from coadapt.agents.encoders import EncoderSpec, as_acted, build_below_head
from coadapt.arrays import Key, Scalar, Vector
from coadapt.networks.mlp import MLP
from coadapt.players import Belief, Decision, Encoder, Policy, Seen, among_legal


class BehaviourConditioned(NamedTuple):
    """A belief and a policy that acts on it, as one player."""

    belief: Belief
    policy: Policy

    def start(self, key: Key) -> Any:
        del key
        return self.belief.start()

    def decide(self, seen: Seen, memory: Any) -> Decision:
        belief, memory = self.belief.update(seen, memory)
        return Decision(self.policy(seen, belief), memory, {"belief": belief})


class ConditionedOnMAP(NamedTuple):
    """A policy that takes the likeliest label (the maximum a posteriori) for certain."""

    policy: Policy

    def __call__(self, seen: Seen, belief: Vector) -> Vector:
        return self.policy(seen, jax.nn.one_hot(jnp.argmax(belief), belief.size))


class ConditionedOnSample(NamedTuple):
    """A policy that is told, at every step, a label drawn from the belief: a mixture of how it acts on each of them."""

    policy: Policy

    def __call__(self, seen: Seen, belief: Vector) -> Vector:
        logits = jax.vmap(lambda label: among_legal(self.policy(seen, label), seen))(jnp.eye(belief.size))
        shares = jnp.log(jnp.maximum(belief, jnp.finfo(belief.dtype).tiny))
        return jax.nn.logsumexp(jax.nn.log_softmax(logits) + shares[:, None], axis=0)


CONDITIONINGS: dict[str, Callable[[Policy], Policy]] = {
    "probabilities": lambda policy: policy,
    "map": ConditionedOnMAP,
    "sampled": ConditionedOnSample,
}
"""What a policy that was trained on certain labels can be given of a belief that is not certain."""


class ConditionedPolicy(eqx.Module):
    """A memoryless way to act on what is seen and on what one is told about the partner."""

    encoder: Encoder
    head: MLP

    def __init__(self, key: Key, spec: EncoderSpec, seen: Seen, labels: int, hidden: Sequence[int], actions: int):
        self.encoder, size, for_head = build_below_head(key, spec, seen)
        self.head = MLP(for_head, size + labels, hidden, actions, last_scale=0.01, activation=spec.activation)

    def __call__(self, seen: Seen, belief: Vector) -> Vector:
        logits = self.head(jnp.concatenate([self.encoder(seen), belief]))
        return as_acted(logits, self.encoder.permutation(seen))


class ConditionedCritic(eqx.Module):
    """The policy's counterpart in training: the same shape, a value instead of actions."""

    encoder: Encoder
    head: MLP

    def __init__(self, key: Key, spec: EncoderSpec, seen: Seen, labels: int, hidden: Sequence[int]):
        self.encoder, size, for_head = build_below_head(key, spec, seen)
        self.head = MLP(for_head, size + labels, hidden, 1, activation=spec.activation)

    def start(self) -> tuple[()]:
        return ()

    def value(self, seen: Seen, label: Vector, memory: Any) -> tuple[Scalar, Any]:
        return self.head(jnp.concatenate([self.encoder(seen), label]))[0], memory
