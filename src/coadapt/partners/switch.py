"""A partner switch: another partner takes the seat in the middle of an episode."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Count, Key
from coadapt.players import Decision, Player, Seen


class PartnerSwitch(NamedTuple):
    """After so many steps the second plays on in place of the first. Nobody says so."""

    first: Player
    second: Player
    after: Count | int

    def start(self, key: Key) -> tuple[Count, Any, Any]:
        for_first, for_second = jax.random.split(key)
        return jnp.int32(0), self.first.start(for_first), self.second.start(for_second)

    def decide(self, seen: Seen, memory: tuple[Count, Any, Any]) -> Decision:
        step, of_first, of_second = memory
        now_first, now_second = self.first.decide(seen, of_first), self.second.decide(seen, of_second)
        is_second = step >= self.after
        logits = jnp.where(is_second, now_second.logits, now_first.logits)
        # Who is not there yet sees nothing.
        seen_by_second = jax.tree.map(lambda new, old: jnp.where(is_second, new, old), now_second.memory, of_second)
        return Decision(logits, (step + 1, now_first.memory, seen_by_second), {})
