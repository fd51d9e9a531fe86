# pyright: reportMissingImports=false
"""Random play in JaxMARL's Overcooked: a landmark, for it is another game."""

import time
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import jaxmarl

PACKAGES = ("jaxmarl", "jax", "jaxlib")


@cache
def _playing(steps: int):
    game = jaxmarl.make("overcooked")
    actions = {agent: game.action_space(agent).n for agent in game.agents}

    def step(carry, _):
        key, state, total = carry
        key, for_game, *for_actions = jax.random.split(key, 2 + len(actions))
        chosen = {
            agent: jax.random.randint(one, (), 0, number)
            for one, (agent, number) in zip(for_actions, actions.items(), strict=True)
        }
        seen, state, reward, _, _ = game.step(for_game, state, chosen)  # begins anew by itself
        needed = sum(jnp.sum(leaf, dtype=jnp.float32) for leaf in jax.tree.leaves((seen, reward)))
        return (key, state, total + needed), None

    def play(key):
        for_reset, key = jax.random.split(key)
        (_, _, total), _ = jax.lax.scan(step, (key, game.reset(for_reset)[1], jnp.float32(0)), length=steps)
        return total

    return jax.jit(jax.vmap(play))


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """So many steps of so many games; both players see every step."""
    keys = jax.random.split(jax.random.key(0), request["games"])
    play = _playing(request["steps"])
    started = time.perf_counter()
    jax.block_until_ready(play(keys))
    return {"amount": request["games"] * request["steps"], "seconds": time.perf_counter() - started}
