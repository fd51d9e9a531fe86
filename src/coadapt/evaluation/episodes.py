"""Whole episodes of an agent with many partners, and what they come to on average."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Bool, Float, Key
from coadapt.encounters import Greedy, Transition, rollouts_with_each
from coadapt.games.checks import check_parts
from coadapt.games.game import MAIN, Game
from coadapt.partners.population import Partners, check_partners
from coadapt.players import Player


class StepScores(NamedTuple):
    """Means over the episodes that got as far, for each step of the episode."""

    reward: Float[Array, "steps"]
    prediction_error: Float[Array, "steps"]  # squared distance of the belief to the true label; NaN where there is none


def play_episodes(key: Key, game: Game, partners: Partners, player: Player, greedy: Greedy = False) -> Transition:
    """An episode of the player with each partner: transitions by partner and time.

    There are `game.max_steps` transitions for each; `first_episode` tells which of them count when episodes end early.
    """
    return play_told_episodes(key, game, partners, lambda _: player, partners.ids, greedy)


def play_told_episodes(
    key: Key, game: Game, partners: Partners, as_player: Callable[[Any], Player], told: Any, greedy: Greedy = False
) -> Transition:
    """The same with a player that is told something in each episode, as a control is told the truth.

    `told` has a row for each partner, and `as_player(row)` is who plays with it.
    """
    check_parts(game)
    keys = jax.random.split(key, (len(check_partners(partners).ids), 1))
    return rollouts_with_each(keys, game, partners.players, as_player, told, game.max_steps, greedy)


def first_episode(transitions: Transition) -> Bool[Array, "partners steps"]:
    """Which transitions belong to the first episode of their game: all up to the first end, that one included."""
    ends = transitions.ended.astype(jnp.int32)
    return jnp.cumsum(ends, axis=1) - ends == 0


class EpisodeScores(NamedTuple):
    """What an episode came to, for each of them."""

    length: Float[Array, "episodes"]  # steps taken
    total: Float[Array, "episodes"]  # of the rewards: the return
    finished: Float[Array, "episodes"]  # one if it ended by itself, zero at the step limit


def episode_scores(transitions: Transition) -> EpisodeScores:
    """The first episode of each game."""
    counted = first_episode(transitions)
    return EpisodeScores(
        length=jnp.sum(counted, axis=1, dtype=jnp.float32),
        total=jnp.sum(transitions.reward, axis=1, where=counted),
        finished=jnp.any(transitions.terminated & counted, axis=1).astype(jnp.float32),
    )


def step_scores(transitions: Transition, partners: Partners) -> StepScores:
    """What episodes came to on average, step by step."""
    counted = first_episode(transitions)
    mean = lambda values: jnp.mean(values, axis=0, where=counted)
    belief = transitions.infos[MAIN].get("belief")
    if belief is None:
        return StepScores(mean(transitions.reward), jnp.full(transitions.reward.shape[1], jnp.nan))
    return StepScores(mean(transitions.reward), mean(jnp.sum((belief - partners.labels[:, None]) ** 2, axis=-1)))
