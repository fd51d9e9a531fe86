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

from coadapt.arrays import Array, Count, Float, Key, Scalar, Vector
from coadapt.configs.checks import positive, whole
from coadapt.encounters import meet, play
from coadapt.games.game import MAIN, Game
from coadapt.learning.optimiser import Descent, begin, descend, remaining
from coadapt.learning.replay import replay
from coadapt.partners.population import Population
from coadapt.players import Belief, Player

AsPlayer = Callable[[Any], Player]
Loss = Callable[[Vector, Vector], Scalar]


@dataclass(frozen=True)
class SupervisedConfig:
    """How a belief learns. The learning rate falls linearly to zero over training."""

    iterations: int
    games: int = 50  # a partner each
    steps: int = 10
    learning_rate: float = 5e-4
    max_gradient_norm: float = 0.5

    def __post_init__(self):
        for name in ("iterations", "games", "steps"):
            whole(name, getattr(self, name))
        for name in ("learning_rate", "max_gradient_norm"):
            positive(name, getattr(self, name))

    @property
    def steps_per_iteration(self) -> int:
        """Environment steps consumed by one iteration."""
        return self.games * self.steps


class SupervisedState(NamedTuple):
    """All that the next iteration needs."""

    key: Key
    iteration: Count
    belief: Descent


class SupervisedInfo(NamedTuple):
    """What one iteration looked like."""

    loss: Scalar
    gradient_norm: Scalar


def squared_error(belief: Vector, label: Vector) -> Scalar:
    """The squared distance; the posterior mean makes it smallest."""
    return jnp.sum((belief - label) ** 2)


def start(key: Key, belief: Belief) -> SupervisedState:
    """Before the first iteration."""
    return SupervisedState(key, jnp.int32(0), begin(belief))


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
    if config.steps < game.max_steps:
        raise ValueError(f"steps ({config.steps}) must cover an episode ({game.max_steps}): each iteration starts anew")
    return jax.lax.scan(lambda s, _: iterate(s, game, population, as_player, loss, config), state, length=iterations)


def iterate(
    state: SupervisedState,
    game: Game,
    population: Population,
    as_player: AsPlayer,
    loss: Loss,
    config: SupervisedConfig,
) -> tuple[SupervisedState, SupervisedInfo]:
    """Watch new partners, then learn who they were."""
    key, for_partners, for_games = jax.random.split(state.key, 3)
    partners = population.draw(for_partners, config.games)
    player = as_player(state.belief.network)

    def watch(key, partner):
        players = player, partner
        return play(meet(key, game, players), game, players, config.steps)[1]

    moments = jax.vmap(watch)(jax.random.split(for_games, config.games), partners.players)

    def mean_loss(belief: Belief) -> Scalar:
        losses = jax.vmap(trajectory_losses, (None, 0, 0, 0, None))(
            belief, moments.observations[MAIN], moments.ended, partners.labels, loss
        )
        return jnp.mean(losses)

    value, gradient = jax.value_and_grad(mean_loss)(state.belief.network)
    rate = config.learning_rate * remaining(state.iteration, config.iterations)
    belief = descend(state.belief, gradient, rate, config.max_gradient_norm)
    return SupervisedState(key, state.iteration + 1, belief), SupervisedInfo(value, optax.tree.norm(gradient))


def trajectory_losses(
    belief: Belief, observations: Any, ended: Array, label: Vector, loss: Loss
) -> Float[Array, "time"]:
    """The loss at every step of one trajectory."""
    beliefs, _ = replay(belief.update, observations, belief.start(), ended)
    return jax.vmap(loss, (0, None))(beliefs, label)
