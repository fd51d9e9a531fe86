# pyright: reportMissingImports=false
"""Random play in Jumanji's level-based foraging: a landmark, for it is another game."""

import time
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import jumanji
from jumanji.wrappers import AutoResetWrapper

PACKAGES = ("jumanji", "jax", "jaxlib")


@cache
def _playing(steps: int):
    game = AutoResetWrapper(jumanji.make("LevelBasedForaging-v0"))
    choices = game.action_spec.num_values

    def step(carry, _):
        key, state, total = carry
        key, for_actions = jax.random.split(key)
        chosen = jax.random.randint(for_actions, choices.shape, 0, choices)
        state, moment = game.step(state, chosen)
        needed = sum(jnp.sum(leaf, dtype=jnp.float32) for leaf in jax.tree.leaves((moment.observation, moment.reward)))
        return (key, state, total + needed), None

    def play(key):
        for_reset, key = jax.random.split(key)
        (_, _, total), _ = jax.lax.scan(step, (key, game.reset(for_reset)[0], jnp.float32(0)), length=steps)
        return total

    return jax.jit(jax.vmap(play))


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """So many steps of so many games; all agents see every step."""
    keys = jax.random.split(jax.random.key(0), request["games"])
    play = _playing(request["steps"])
    started = time.perf_counter()
    jax.block_until_ready(play(keys))
    return {"amount": request["games"] * request["steps"], "seconds": time.perf_counter() - started}
