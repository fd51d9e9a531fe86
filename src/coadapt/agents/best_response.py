"""Players that read in a table what to do: the ceiling that learned agents are measured against."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Count, Int, Key
from coadapt.games.salesman.layouts import place
from coadapt.games.salesman.rules import MOVES
from coadapt.oracles.salesman import Actions
from coadapt.players import Belief, Decision

CERTAINLY = 1e9
"""A logit beside which others do not count."""


class FollowsTable(NamedTuple):
    """It does what is best at each step, on the layout that the table is for. It remembers nothing but the time."""

    actions: Actions

    def start(self, key: Key) -> Count:
        del key
        return jnp.int32(0)

    def decide(self, observation: Any, memory: Count) -> Decision:
        action = self.actions[(memory, *place(observation.own, observation.other, observation.collected))]
        return Decision(CERTAINLY * jax.nn.one_hot(action, len(MOVES)), memory + 1, {})


class RespondsToLikeliest(NamedTuple):
    """It does what is best with whom its belief holds for the likeliest, a partner or a kind, as if it were certain."""

    belief: Belief
    actions: Int[Array, "label step row column row column set"]

    def start(self, key: Key) -> tuple[Any, Count]:
        del key
        return self.belief.start(), jnp.int32(0)

    def decide(self, observation: Any, memory: tuple[Any, Count]) -> Decision:
        watched, step = memory
        belief, watched = self.belief.update(observation, watched)
        decision = FollowsTable(self.actions[jnp.argmax(belief)]).decide(observation, step)
        return Decision(decision.logits, (watched, decision.memory), {"belief": belief})
