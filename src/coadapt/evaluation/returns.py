"""What a player earns with each of some partners: the shortest way from a trained agent to a number."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Float, Key, Vector
from coadapt.encounters import play_with_each
from coadapt.evaluation.episodes import episode_scores
from coadapt.games.game import Game
from coadapt.partners.population import Partners, label_by_game
from coadapt.players import Player


def mean_returns(
    key: Key, game: Game, partners: Partners, as_player: Callable[[Vector], Player], episodes: int, greedy: bool = False
) -> Float[Array, "partners"]:
    """The return of an episode with each partner, averaged over so many.

    `as_player(label)` plays with a partner of this label: a control is told it, an agent takes no notice. The same key
    brings the same luck to whoever plays. All is compiled into one program, anew in each call.
    """

    @jax.jit
    def play(key: Key) -> Float[Array, "partners"]:
        keys = jax.random.split(key, (len(partners.ids), episodes))
        labels = label_by_game(keys.size, partners)
        moments = play_with_each(keys, game, partners.players, as_player, labels, game.max_steps, greedy)
        return jnp.mean(episode_scores(moments).total.reshape(keys.shape), axis=1)

    return play(key)
