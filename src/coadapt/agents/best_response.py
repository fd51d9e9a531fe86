"""Players that read in a table what to do: the optimum that learned agents are measured against."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Count, Integer, Key
from coadapt.players import Belief, Decision, Seen

CERTAINLY = 1e9
"""A logit beside which others do not count."""

Place = Callable[[Any], tuple[Count, ...]]
"""Where in a table to look for an observation."""


@partial(jax.tree_util.register_dataclass, data_fields=["table"], meta_fields=["place", "actions"])
@dataclass(frozen=True)
class FollowsTable:
    """It does what is best at each step, where the table is for. It remembers nothing but the time."""

    table: Integer[Array, "step *state"]
    place: Place
    actions: int  # how many there are

    def start(self, key: Key) -> Count:
        del key
        return jnp.int32(0)

    def decide(self, seen: Seen, memory: Count) -> Decision:
        action = self.table[(memory, *self.place(seen.observation))]
        return Decision(CERTAINLY * jax.nn.one_hot(action, self.actions), memory + 1, {})


class RespondsToLikeliest(NamedTuple):
    """It does what is best with whom its belief holds for the likeliest, a partner or a type, as if it were certain."""

    belief: Belief
    tables: FollowsTable  # of which the table has one more axis in front, by label

    def start(self, key: Key) -> tuple[Any, Count]:
        return self.belief.start(), self.tables.start(key)

    def decide(self, seen: Seen, memory: tuple[Any, Count]) -> Decision:
        watched, step = memory
        belief, watched = self.belief.update(seen, watched)
        likeliest = jax.tree.map(lambda table: table[jnp.argmax(belief)], self.tables)
        decision = likeliest.decide(seen, step)
        return Decision(decision.logits, (watched, decision.memory), {"belief": belief})
