"""Self-play: the newest policy in both seats, and both seats' experience to learn from."""

from typing import Any

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Float, Key, Vector
from coadapt.encounters import Moment, meet, play
from coadapt.games.game import Game
from coadapt.learning import ppo
from coadapt.learning.ppo import AsPlayer, Look, PPOConfig, PPOInfo, PPOState, no_look
from coadapt.learning.replay import check_covers_an_episode


def train_chunk(
    state: PPOState,
    game: Game,
    as_player: AsPlayer,
    label: Vector,
    config: PPOConfig,
    iterations: int,
    look: Look = no_look,
) -> tuple[PPOState, PPOInfo]:
    """Some iterations in one go; the infos are stacked."""
    check_covers_an_episode(config.steps, game)
    return jax.lax.scan(lambda s, _: iterate(s, game, as_player, label, config, look), state, length=iterations)


def iterate(
    state: PPOState, game: Game, as_player: AsPlayer, label: Vector, config: PPOConfig, look: Look = no_look
) -> tuple[PPOState, PPOInfo]:
    """Play with oneself, then learn from both sides of it. Both seats are told the same label, such as nothing."""
    key, for_play, for_updates = jax.random.split(state.key, 3)
    moments, labels = collect(for_play, game, as_player, label, state.policy.network, config)
    return ppo.learn_from(for_updates, state._replace(key=key), moments, labels, as_player, config, look)


def collect(
    key: Key, game: Game, as_player: AsPlayer, label: Vector, policy: Any, config: PPOConfig
) -> tuple[Moment, Float[Array, "sides label"]]:
    """The moments of both sides of some games, by side and time, and the label of each."""
    player = as_player(policy, label)
    players = player, player
    keys = jax.random.split(key, config.games)
    moments = jax.vmap(lambda key: play(meet(key, game, players), game, players, config.steps)[1])(keys)
    return seen_by_both(moments), jnp.tile(label, (2 * config.games, 1))


def seen_by_both(moments: Moment) -> Moment:
    """Moments by game as each of the two players had them: first all of the main seat, then all of the partner's."""
    partners = moments._replace(
        observations=moments.observations[::-1],
        logits=moments.logits[::-1],
        infos=moments.infos[::-1],
        actions=moments.actions[::-1],
        next_observations=moments.next_observations[::-1],
    )
    return jax.tree.map(lambda main, partner: jnp.concatenate([main, partner]), moments, partners)
