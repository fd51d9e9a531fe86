"""Self-play: the newest policy in both seats, and both seats' experience to learn from.

Games go on from one iteration to the next, so an iteration may be much shorter than an episode.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Key, Scalar, Vector
from coadapt.encounters import Meeting, Moment, Players, meet, play
from coadapt.games.game import Game
from coadapt.learning import ppo
from coadapt.learning.ppo import AsPlayer, PPOConfig, PPOState
from coadapt.players import Critic


class SelfPlayState(NamedTuple):
    """All that the next iteration needs: the learner, and the games in flight."""

    learner: PPOState
    meetings: Meeting  # by game


class SelfPlayInfo(NamedTuple):
    """What one iteration looked like."""

    reward: Scalar  # a step
    value_loss: Scalar
    entropy: Scalar
    kl: Scalar
    clip_fraction: Scalar
    explained_variance: Scalar
    policy_gradient_norm: Scalar
    critic_gradient_norm: Scalar
    steps_per_episode: Scalar  # steps played over episodes that ended, or over one if none did
    finished: Scalar  # the share of those that ended by themselves, not at the step limit


def start(
    key: Key, game: Game, policy: Any, critic: Critic, as_player: AsPlayer, label: Vector, config: PPOConfig
) -> SelfPlayState:
    """Before the first iteration."""
    for_learner, for_games = jax.random.split(key)
    players = _in_both_seats(policy, as_player, label)
    meetings = jax.vmap(lambda key: meet(key, game, players))(jax.random.split(for_games, config.games))
    return SelfPlayState(ppo.start(for_learner, policy, critic), meetings)


def train_chunk(
    state: SelfPlayState, game: Game, as_player: AsPlayer, label: Vector, config: PPOConfig, iterations: int
) -> tuple[SelfPlayState, SelfPlayInfo]:
    """Some iterations in one go; the infos are stacked."""
    return jax.lax.scan(lambda s, _: iterate(s, game, as_player, label, config), state, length=iterations)


def iterate(
    state: SelfPlayState, game: Game, as_player: AsPlayer, label: Vector, config: PPOConfig
) -> tuple[SelfPlayState, SelfPlayInfo]:
    """Play on with oneself, then learn from both sides of it."""
    players = _in_both_seats(state.learner.policy.network, as_player, label)
    meetings, moments = jax.vmap(lambda meeting: play(meeting, game, players, config.steps))(state.meetings)
    key, for_updates = jax.random.split(state.learner.key)
    labels = jnp.tile(label, (2 * config.games, 1))
    learner = state.learner._replace(key=key)
    learner, info = ppo.learn_from(for_updates, learner, seen_by_both(moments), labels, as_player, config)
    ended = jnp.maximum(jnp.sum(moments.ended.astype(jnp.float32)), 1)
    told = info._asdict() | {
        "steps_per_episode": moments.reward.size / ended,
        "finished": jnp.sum(moments.terminated.astype(jnp.float32)) / ended,
    }
    return SelfPlayState(learner, meetings), SelfPlayInfo(**told)


def _in_both_seats(policy: Any, as_player: AsPlayer, label: Vector) -> Players:
    player = as_player(policy, label)
    return player, player


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
