"""Learning to infer: a belief is shown encounters and told, afterwards, whom it watched.

The encounters come from `as_player(belief)`, so an agent can act on the belief as it is now. It must never act on the
truth, or the belief would learn to read the label from its own agent's moves.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from coadapt.arrays import Array, Bool, Count, Float, Key, Scalar, Vector
from coadapt.games.game import MAIN, Game
from coadapt.learning.optimiser import TrainState, apply_gradients, begin, remaining
from coadapt.learning.replay import check_covers_an_episode, embedded, replay
from coadapt.learning.training import TrainingConfig, play_with_partners
from coadapt.partners.population import Population
from coadapt.players import Belief, Player, Seen, prepared

AsPlayer = Callable[[Any], Player]
Loss = Callable[[Vector, Vector], Scalar]


@dataclass(frozen=True)
class SupervisedConfig(TrainingConfig):
    """How a belief learns. The learning rate falls linearly to zero over training."""


class SupervisedState(NamedTuple):
    """All that the next iteration needs."""

    key: Key
    iteration: Count
    belief: TrainState


class SupervisedInfo(NamedTuple):
    """What one iteration looked like: means over its samples, each with its weight."""

    loss: Scalar
    accuracy: Scalar  # how often the label believed in most was the one that is truest
    gradient_norm: Scalar


class Watched(NamedTuple):
    """What was seen of some partners, by game and time, and the truth about them."""

    seen: Seen
    ended: Bool[Array, "*games time"]
    labels: Float[Array, "*games label"]


def squared_error(belief: Vector, label: Vector) -> Scalar:
    """The squared distance; the posterior mean makes it smallest."""
    return jnp.sum((belief - label) ** 2)


def negative_log_likelihood(belief: Vector, label: Vector) -> Scalar:
    """How little the truth was believed in, in nats; the posterior makes it smallest."""
    return -jnp.sum(label * jnp.log(jnp.maximum(belief, jnp.finfo(belief.dtype).tiny)))


def start(key: Key, belief: Belief, config: SupervisedConfig) -> SupervisedState:
    """Before the first iteration."""
    return SupervisedState(key, jnp.int32(0), begin(belief, config.optimiser))


def train_chunk(
    state: SupervisedState,
    game: Game,
    population: Population,
    as_player: AsPlayer,
    loss: Loss,
    config: SupervisedConfig,
    iterations: int,
) -> tuple[SupervisedState, SupervisedInfo]:
    """Some iterations in one go; the infos are stacked."""
    check_covers_an_episode(config.num_steps, game)
    return jax.lax.scan(lambda s, _: iterate(s, game, population, as_player, loss, config), state, length=iterations)


def iterate(
    state: SupervisedState,
    game: Game,
    population: Population,
    as_player: AsPlayer,
    loss: Loss,
    config: SupervisedConfig,
) -> tuple[SupervisedState, SupervisedInfo]:
    """Watch partners of the population, then learn who they were."""
    key, for_partners, for_games = jax.random.split(state.key, 3)
    player = as_player(state.belief.network)
    whatever_the_label = lambda _: player
    transitions, labels = play_with_partners(for_partners, for_games, game, population, whatever_the_label, config)
    watched = Watched(transitions.seen[MAIN], transitions.ended, labels)
    rate = config.learning_rate * remaining(state.iteration, config.iterations)

    def learn(belief: TrainState, batch: Watched) -> tuple[TrainState, SupervisedInfo]:
        gradient, (value, accuracy) = jax.grad(mean_loss, has_aux=True)(belief.network, batch, loss)
        info = SupervisedInfo(value, accuracy, optax.tree.norm(gradient))
        return apply_gradients(belief, gradient, config.optimiser, rate, config.max_gradient_norm), info

    belief, infos = jax.lax.scan(learn, state.belief, _dealt(watched, config.minibatches))
    return SupervisedState(key, state.iteration + 1, belief), jax.tree.map(jnp.mean, infos)


def _dealt(watched: Watched, minibatches: int) -> Watched:
    """Games dealt out like cards, so that each minibatch has its share of every partner."""
    return jax.tree.map(lambda x: x.reshape(-1, minibatches, *x.shape[1:]).swapaxes(0, 1), watched)


def mean_loss(belief: Belief, watched: Watched, loss: Loss) -> tuple[Scalar, tuple[Scalar, Scalar]]:
    """The loss over all episodes of some trajectories; and the same again, with the accuracy, as diagnostics."""
    belief = prepared(belief, watched.ended.size)

    def of_one(trajectory: Watched) -> tuple[Float[Array, "time"], Bool[Array, "time"]]:
        seen = embedded(belief, trajectory.seen)
        beliefs, _ = replay(belief.update, seen, belief.start(), trajectory.ended)
        correct = jnp.argmax(beliefs, axis=-1) == jnp.argmax(trajectory.labels)
        return jax.vmap(loss, (0, None))(beliefs, trajectory.labels), correct

    losses, correct = jax.vmap(of_one)(watched)
    weights = jax.vmap(as_of_one_episode)(watched.ended)
    value = jnp.average(losses, weights=weights)
    return value, (value, jnp.average(correct.astype(jnp.float32), weights=weights))


def as_of_one_episode(ended: Bool[Array, "time"]) -> Float[Array, "time"]:
    """What the steps of a trajectory weigh if it is to count as one episode, however many there were time for.

    Whoever is quick meets more often, and a belief that counted meetings would expect the quick ones from the start.
    So a step shares its weight with all that are as many steps into an episode, or could have been: those of episodes
    that began early enough for it.
    """
    time = jnp.arange(len(ended))
    begins = jnp.concatenate([jnp.array([True]), ended[:-1]])
    age = time - jax.lax.cummax(jnp.where(begins, time, 0))
    return 1 / jnp.cumsum(begins)[len(ended) - 1 - age]
