"""What can be known of a partner from what it does: the optimum of inference."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Bool, Flag, Float, Vector
from coadapt.players import Seen, among_legal


class Watched(NamedTuple):
    """What is remembered of a partner."""

    begun: Flag  # false before the first observation
    before: Any  # the last observation
    would_do: Float[Array, "partners actions"]  # what each of those it may be would have done there
    log_weights: Float[Array, "partners"]  # how likely it is to be each


class PartnerEvidence(NamedTuple):
    """What a game lets one see of the partner: pure functions of observations."""

    actions: int  # of the partner
    observation: Callable[[], Any]  # any, of which only the shapes count
    led_to: Callable[[Any, Any], Bool[Array, "actions"]]  # before, now: which actions of the partner explain it
    as_partner: Callable[[Any], Seen]  # what the partner is shown


@partial(jax.tree_util.register_dataclass, data_fields=["players", "labels", "prior"], meta_fields=["evidence"])
@dataclass(frozen=True)
class PartnerPosterior:
    """The exact posterior over some memoryless partners, one of whom it is: no belief has a smaller log loss
    on average over them.

    `players` are stacked along their first axis; each has a label, which others may share, and a prior probability.
    The belief is about labels. Actions need not be seen, only what came of them.
    """

    evidence: PartnerEvidence
    players: Any
    labels: Float[Array, "partners label"]
    prior: Vector

    def start(self) -> Watched:
        shapes = jax.eval_shape(self.evidence.observation)
        before = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
        would_do = jnp.zeros((len(self.prior), self.evidence.actions))
        return Watched(jnp.array(False), before, would_do, jnp.log(self.prior))

    def update(self, seen: Seen, memory: Watched) -> tuple[Vector, Watched]:
        observation = seen.observation
        moved = self.evidence.led_to(memory.before, observation)
        likelihoods = jnp.sum(memory.would_do, axis=1, where=moved[None])
        least = jnp.finfo(likelihoods.dtype).tiny
        news = jnp.where(memory.begun, jnp.log(jnp.maximum(likelihoods, least)), 0.0)
        log_weights = jax.nn.log_softmax(memory.log_weights + news)
        belief = jnp.exp(log_weights) @ self.labels
        return belief, Watched(jnp.array(True), observation, self._would_do(observation), log_weights)

    def _would_do(self, observation: Any) -> Float[Array, "partners actions"]:
        theirs = self.evidence.as_partner(observation)
        return jax.vmap(lambda player: _probabilities(player, theirs))(self.players)


def _probabilities(player: Any, seen: Seen) -> Float[Array, "actions"]:
    decision = player.decide(seen, player.start(jax.random.key(0)))  # memoryless, so no use for chance
    return jax.nn.softmax(among_legal(decision.logits, seen))
