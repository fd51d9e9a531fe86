"""What can be known of a partner in the salesman's gridworld from how it moves: the ceiling of inference."""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Bool, Flag, Float, Vector
from coadapt.games.salesman.rules import MOVES, Cell, Salesman, SalesmanObservation


class Watched(NamedTuple):
    """What is remembered of a partner."""

    begun: Flag  # false before the first observation
    cell: Cell  # where it was
    would_do: Float[Array, "partners actions"]  # what each of those it may be would do there
    log_weights: Float[Array, "partners"]  # how likely it is to be each


@partial(jax.tree_util.register_dataclass, data_fields=["players", "labels", "prior"], meta_fields=["game"])
@dataclass(frozen=True)
class PartnerPosterior:
    """The exact posterior over some memoryless partners, one of whom it is: no belief has a smaller log loss
    on average over them.

    Actions are not seen, only moves: a partner that stays where it is has walked into a wall, and in a corner it may
    have been either. `players` are stacked along their first axis; each has a label, which others may share, and a
    prior probability. The belief is about labels.
    """

    game: Salesman
    players: Any
    labels: Float[Array, "partners label"]
    prior: Vector

    def start(self) -> Watched:
        nothing = jnp.zeros((len(self.prior), len(MOVES)))
        return Watched(jnp.array(False), jnp.zeros(2, jnp.int32), nothing, jnp.log(self.prior))

    def update(self, observation: SalesmanObservation, memory: Watched) -> tuple[Vector, Watched]:
        moved = led_to(self.game, memory.cell, observation.other)
        likelihoods = jnp.sum(memory.would_do, axis=1, where=moved[None])
        least = jnp.finfo(likelihoods.dtype).tiny
        news = jnp.where(memory.begun, jnp.log(jnp.maximum(likelihoods, least)), 0.0)
        log_weights = jax.nn.log_softmax(memory.log_weights + news)
        theirs = observation._replace(own=observation.other, other=observation.own)
        would_do = jax.vmap(lambda player: _probabilities(player, theirs))(self.players)
        belief = jnp.exp(log_weights) @ self.labels
        return belief, Watched(jnp.array(True), observation.other, would_do, log_weights)


def led_to(game: Salesman, before: Cell, after: Cell) -> Bool[Array, "actions"]:
    """Which actions can have brought an agent from one cell to another."""
    return jnp.all(jnp.clip(before[None] + jnp.asarray(MOVES), 0, game.size - 1) == after[None], axis=1)


def _probabilities(player: Any, observation: SalesmanObservation) -> Float[Array, "actions"]:
    decision = player.decide(observation, player.start(jax.random.key(0)))  # memoryless, so no use for chance
    return jax.nn.softmax(decision.logits)
