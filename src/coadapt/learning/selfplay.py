"""Self-play: the newest policy in both seats, and both seats' experience to learn from."""

from typing import Any

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Float, Key, Vector
from coadapt.encounters import Transition, rollout, start_episode
from coadapt.games.game import Game
from coadapt.learning import ppo
from coadapt.learning.ppo import AsPlayer, Metrics, PPOConfig, PPOInfo, PPOState, no_metrics
from coadapt.learning.replay import check_covers_an_episode
from coadapt.players import prepared


def train_chunk(
    state: PPOState,
    game: Game,
    as_player: AsPlayer,
    label: Vector,
    config: PPOConfig,
    iterations: int,
    metrics: Metrics = no_metrics,
) -> tuple[PPOState, PPOInfo]:
    """Some iterations in one go; the infos are stacked."""
    check_covers_an_episode(config.num_steps, game)
    return jax.lax.scan(lambda s, _: iterate(s, game, as_player, label, config, metrics), state, length=iterations)


def iterate(
    state: PPOState, game: Game, as_player: AsPlayer, label: Vector, config: PPOConfig, metrics: Metrics = no_metrics
) -> tuple[PPOState, PPOInfo]:
    """Play with oneself, then learn from both sides of it. Both seats are told the same label, such as nothing."""
    key, for_play, for_updates = jax.random.split(state.key, 3)
    transitions, labels = collect(for_play, game, as_player, label, state.policy.network, config)
    return ppo.learn_from(for_updates, state._replace(key=key), transitions, labels, as_player, config, metrics)


def collect(
    key: Key, game: Game, as_player: AsPlayer, label: Vector, policy: Any, config: PPOConfig
) -> tuple[Transition, Float[Array, "sides label"]]:
    """The transitions of both sides of some games, by side and time, and the label of each."""
    player = prepared(as_player(policy, label), 2 * config.steps_per_iteration)
    players = player, player
    play = lambda key: rollout(start_episode(key, game, players), game, players, config.num_steps)[1]
    transitions = jax.vmap(play)(jax.random.split(key, config.num_envs))
    return seen_by_both(transitions), jnp.tile(label, (2 * config.num_envs, 1))


def seen_by_both(transitions: Transition) -> Transition:
    """Transitions by game as each of the two players had them: all of the main seat, then all of the partner's."""
    partners = transitions._replace(
        seen=transitions.seen[::-1],
        logits=transitions.logits[::-1],
        infos=transitions.infos[::-1],
        actions=transitions.actions[::-1],
        next_seen=transitions.next_seen[::-1],
    )
    return jax.tree.map(lambda main, partner: jnp.concatenate([main, partner]), transitions, partners)
