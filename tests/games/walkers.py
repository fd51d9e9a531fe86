"""Players of the salesman's game that everybody can foresee."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Key
from coadapt.games.salesman.rules import MOVES
from coadapt.players import Decision, Seen


class Seeker(NamedTuple):
    """Walks to the nearest open subgoal, at last to the goal, and is ever surer of its partner."""

    def start(self, key: Key) -> Array:
        del key
        return jnp.zeros(3)

    def decide(self, seen: Seen, memory: Array) -> Decision:
        observation = seen.observation
        open_now = jnp.append(~observation.collected, jnp.all(observation.collected))
        places = jnp.concatenate([observation.subgoals, observation.goal[None]])
        far = jnp.abs(places - observation.own[None]).sum(-1)
        target = places[jnp.argmin(jnp.where(open_now, far, 1_000))]
        after = jnp.abs(observation.own[None] + MOVES - target[None]).sum(-1)
        certain = jnp.where(jnp.arange(4) == jnp.argmin(after), 0.0, -1e9)
        return Decision(certain, memory + jnp.array([0.0, 0.1, 0.3]), {"belief": jax.nn.softmax(memory)})


class Upward(NamedTuple):
    """Walks into the upper wall and thinks nothing."""

    def start(self, key: Key) -> tuple[()]:
        del key
        return ()

    def decide(self, seen: Seen, memory: Any) -> Decision:
        del seen
        return Decision(jnp.array([0.0, -1e9, -1e9, -1e9]), memory, {})


class Wanderer(NamedTuple):
    """Walks at random."""

    def start(self, key: Key) -> tuple[()]:
        del key
        return ()

    def decide(self, seen: Seen, memory: Any) -> Decision:
        del seen
        return Decision(jnp.zeros(4), memory, {"belief": jnp.full(3, 1 / 3)})
