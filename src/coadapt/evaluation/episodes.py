"""Whole episodes of an agent with many partners, and what they come to on average."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Float, Key
from coadapt.encounters import Moment, meet, play
from coadapt.games.game import MAIN, Game
from coadapt.partners.population import Partners
from coadapt.players import Player


class StepScores(NamedTuple):
    """Means over episodes, for each step of the episode."""

    reward: Float[Array, "steps"]
    prediction_error: Float[Array, "steps"]  # squared distance of the belief to the true label; NaN where there is none


def play_episodes(
    key: Key, game: Game, partners: Partners, as_player: Callable[[Any], Player], told: Any, greedy: bool
) -> Moment:
    """One episode with each partner, by partner and time.

    `told` has a row for each episode, and `as_player(row)` is who plays it: that is how a control is told the truth.
    """

    def episode(key, partner, row):
        players = as_player(row), partner
        return play(meet(key, game, players), game, players, game.max_steps, greedy)[1]

    return jax.vmap(episode)(jax.random.split(key, len(partners.ids)), partners.players, told)


def step_scores(moments: Moment, partners: Partners) -> StepScores:
    """The mean of each step, for episodes that all take the same number of steps."""
    rewards = jnp.mean(moments.reward, axis=0)
    belief = moments.infos[MAIN].get("belief")
    if belief is None:
        return StepScores(rewards, jnp.full_like(rewards, jnp.nan))
    distances = jnp.sum((belief - partners.labels[:, None]) ** 2, axis=-1)
    return StepScores(rewards, jnp.mean(distances, axis=0))
