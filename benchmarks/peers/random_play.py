# pyright: reportMissingImports=false
"""Random play in games of JAX, as all landmarks are measured: many games side by side, so many steps in one program."""

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

Begin = Callable[[Any], Any]
"""A state, from a key."""
Step = Callable[[Any, Any], tuple[Any, Any]]
"""From a key and a state: the next state, and all that is seen and earned on the way."""


def played_at_random(begin: Begin, step: Step, steps: int) -> Callable[[Any], Any]:
    """So many steps with each key. What comes of it needs all that is seen, so the compiler leaves nothing out."""

    def go_on(carry, _):
        key, state, total = carry
        key, for_step = jax.random.split(key)
        state, seen = step(for_step, state)
        needed = sum(jnp.sum(leaf, dtype=jnp.float32) for leaf in jax.tree.leaves(seen))
        return (key, state, total + needed), None

    def play(key):
        for_reset, key = jax.random.split(key)
        (_, _, total), _ = jax.lax.scan(go_on, (key, begin(for_reset), jnp.float32(0)), length=steps)
        return total

    return jax.jit(jax.vmap(play))


def timed(play: Callable[[Any], Any], request: dict[str, Any]) -> dict[str, Any]:
    """So many games once through."""
    keys = jax.random.split(jax.random.key(0), request["num_envs"])
    started = time.perf_counter()
    jax.block_until_ready(play(keys))
    return {"amount": request["num_envs"] * request["num_steps"], "seconds": time.perf_counter() - started}
