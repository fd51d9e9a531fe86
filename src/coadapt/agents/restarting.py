"""A belief that is told of a partner switch."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Count, Vector
from coadapt.players import Belief


class Restarting(NamedTuple):
    """After so many observations it forgets all it has seen, and goes on as if the episode had just begun.

    An observation that still shows what the old partner did belongs to the time before: forget after it.
    """

    belief: Belief
    after: Count | int

    def start(self) -> tuple[Count, Any]:
        return jnp.int32(0), self.belief.start()

    def update(self, observation: Any, memory: tuple[Count, Any]) -> tuple[Vector, tuple[Count, Any]]:
        step, watched = memory
        afresh = lambda new, old: jnp.where(step == self.after, new, old)
        belief, watched = self.belief.update(observation, jax.tree.map(afresh, self.belief.start(), watched))
        return belief, (step + 1, watched)
