# pyright: reportMissingImports=false
"""Random play in JaxMARL's Overcooked: a landmark, for it is another game."""

from functools import cache
from typing import Any

import jax
import jaxmarl

from random_play import played_at_random, timed

PACKAGES = ("jaxmarl", "jax", "jaxlib")


@cache
def _playing(steps: int):
    game = jaxmarl.make("overcooked")
    actions = {agent: game.action_space(agent).n for agent in game.agents}

    def step(key, state):
        for_game, *for_actions = jax.random.split(key, 1 + len(actions))
        chosen = {
            agent: jax.random.randint(one, (), 0, number)
            for one, (agent, number) in zip(for_actions, actions.items(), strict=True)
        }
        seen, state, reward, _, _ = game.step(for_game, state, chosen)  # begins anew by itself
        return state, (seen, reward)

    return played_at_random(lambda key: game.reset(key)[1], step, steps)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """So many steps of so many games; both players see every step."""
    return timed(_playing(request["num_steps"]), request)
