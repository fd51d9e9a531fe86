"""Ways to form an opinion of the partner.

The agent that acts on a belief does not know which of these it has: that is what makes controls of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from coadapt.agents.encoders import Embedded, EncoderSpec, build_below_head, embedded
from coadapt.arrays import Array, Count, Float, Key, Vector
from coadapt.networks.recurrent import LSTMMemory, RecurrentNetwork
from coadapt.oracles.dirichlet import posterior_mean
from coadapt.players import Belief, Decision, Encoder, Player, Seen, View


class LearnedBelief(eqx.Module):
    """The paper's task prediction network: an LSTM layer on the embedding, hidden layers, a softmax."""

    encoder: Encoder
    recurrent: RecurrentNetwork

    def __init__(self, key: Key, spec: EncoderSpec, seen: Seen, units: int, hidden: Sequence[int], labels: int):
        self.encoder, size, for_head = build_below_head(key, spec, seen)
        self.recurrent = RecurrentNetwork(for_head, size, units, hidden, labels, last_scale=0.01)

    def embed(self, seen: Seen | Embedded) -> Embedded:
        """All of what is seen that needs no memory; it may be given in its place."""
        return embedded(self.encoder, seen)

    def start(self) -> LSTMMemory:
        return self.recurrent.start()

    def update(self, seen: Seen | Embedded, memory: LSTMMemory) -> tuple[Vector, LSTMMemory]:
        logits, memory = self.recurrent(self.embed(seen).vector, memory)
        return jax.nn.softmax(logits), memory


@partial(jax.tree_util.register_dataclass, data_fields=["concentration"], meta_fields=["view"])
@dataclass(frozen=True)
class DirichletPosterior:
    """The exact posterior mean of a stationary partner's distribution: no belief has a smaller squared error.

    `view` shows the partner's last action as one-hot, or zeros where there was none.
    """

    concentration: Vector
    view: View

    def start(self) -> Vector:
        return jnp.zeros_like(self.concentration)

    def update(self, seen: Seen, memory: Vector) -> tuple[Vector, Vector]:
        counts = memory + self.view(seen.observation)
        return posterior_mean(self.concentration, counts), counts


class ConstantBelief(NamedTuple):
    """A belief that nothing changes: the truth, where it is known, or the mean of the population."""

    label: Vector

    def start(self) -> tuple[()]:
        return ()

    def update(self, seen: Seen, memory: Any) -> tuple[Vector, Any]:
        del seen
        return self.label, memory


class ReplayedBelief(NamedTuple):
    """The beliefs of another episode played back step by step, whatever happens in this one; the last one stays."""

    labels: Float[Array, "steps label"]

    def start(self) -> Count:
        return jnp.int32(0)

    def update(self, seen: Seen, memory: Count) -> tuple[Vector, Count]:
        del seen
        return self.labels[jnp.minimum(memory, len(self.labels) - 1)], memory + 1


class Restarting(NamedTuple):
    """A belief that is told of a partner switch: after so many observations it starts as in a new episode.

    An observation that still shows what the old partner did belongs to the time before: forget after it.
    """

    belief: Belief
    after: Count | int

    def start(self) -> tuple[Count, Any]:
        return jnp.int32(0), self.belief.start()

    def update(self, seen: Seen, memory: tuple[Count, Any]) -> tuple[Vector, tuple[Count, Any]]:
        step, watched = memory
        afresh = lambda new, old: jnp.where(step == self.after, new, old)
        belief, watched = self.belief.update(seen, jax.tree.map(afresh, self.belief.start(), watched))
        return belief, (step + 1, watched)


class WithOnlooker(NamedTuple):
    """A player that acts as it always does, while another belief watches the same games and changes nothing in them."""

    player: Player
    onlooker: Belief

    def start(self, key: Key) -> tuple[Any, Any]:
        return self.player.start(key), self.onlooker.start()

    def decide(self, seen: Seen, memory: tuple[Any, Any]) -> Decision:
        of_player, of_onlooker = memory
        decision = self.player.decide(seen, of_player)
        belief, of_onlooker = self.onlooker.update(seen, of_onlooker)
        return Decision(decision.logits, (decision.memory, of_onlooker), {**decision.info, "onlooker": belief})
