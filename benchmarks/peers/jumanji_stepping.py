# pyright: reportMissingImports=false
"""Random play in Jumanji's level-based foraging: a landmark, for it is another game."""

from functools import cache
from typing import Any

import jax
import jumanji
from jumanji.wrappers import AutoResetWrapper

from random_play import played_at_random, timed

PACKAGES = ("jumanji", "jax", "jaxlib")


@cache
def _playing(steps: int):
    game = AutoResetWrapper(jumanji.make("LevelBasedForaging-v0"))
    choices = game.action_spec.num_values

    def step(key, state):
        state, moment = game.step(state, jax.random.randint(key, choices.shape, 0, choices))
        return state, (moment.observation, moment.reward)

    return played_at_random(lambda key: game.reset(key)[0], step, steps)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """So many steps of so many games; all agents see every step."""
    return timed(_playing(request["num_steps"]), request)
