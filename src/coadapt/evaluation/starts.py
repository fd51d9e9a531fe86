"""Episodes from given starts: everybody who is compared begins where the others do."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax

from coadapt.arrays import Array, Float, Key
from coadapt.encounters import Greedy, rollout, start_episode
from coadapt.evaluation.episodes import EpisodeScores, episode_scores
from coadapt.games.game import Game, StartsAt
from coadapt.partners.population import Partners
from coadapt.players import Player, prepared


class Played(NamedTuple):
    """What a player came to with each partner, from each start."""

    total: Float[Array, "partners *layouts starts"]
    length: Float[Array, "partners *layouts starts"]


def with_each(
    key: Key,
    game: Game,
    starts: Any,
    shape: tuple[int, ...],
    partners: Partners,
    as_player: Callable[[Any], Player],
    told: Any,
    greedy: Greedy = False,
) -> Played:
    """An episode from each start with every partner; `told` has a row for each of them, and `as_player(row)` plays.

    `shape` is that of the starts: how many layouts there are, if there is more than one, and how many starts on each.
    """
    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[len(shape) :]), starts)

    def with_one(row: Any) -> Played:
        partner, said = row
        scores = from_starts(key, game, flat, math.prod(shape), as_player(said), partner, greedy)
        return Played(scores.total.reshape(shape), scores.length.reshape(shape))

    return jax.lax.map(with_one, (partners.players, told))


def from_starts(
    key: Key, game: Game, starts: Any, number: int, player: Player, partner: Any, greedy: Greedy = False
) -> EpisodeScores:
    """An episode from each of so many starts."""
    players = prepared((player, partner), number * game.max_steps)

    def one(key: Key, start: Any):
        here = StartsAt(game, start)
        return rollout(start_episode(key, here, players), here, players, game.max_steps, greedy)[1]

    return episode_scores(jax.vmap(one)(jax.random.split(key, number), starts))
