"""Proximal policy optimisation, for players with and without memory.

PPO trains a policy network and a critic. What it plays with is a player made of the policy and, for those who may know
it in training, the partner's true label: `as_player(policy, label)`. An agent that learns from end to end ignores the
label; a conditioned policy is told it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from coadapt.arrays import Array, Bool, Count, Float, Int, Key, Scalar, Vector
from coadapt.configs.checks import between, positive, whole
from coadapt.encounters import Transition
from coadapt.games.game import MAIN, Game
from coadapt.learning.advantage import generalised_advantages
from coadapt.learning.optimiser import TrainState, apply_gradients, begin, remaining, risen
from coadapt.learning.replay import check_covers_an_episode, embedded, replay
from coadapt.learning.training import TrainingConfig, play_with_partners
from coadapt.partners.population import Population
from coadapt.players import Critic, Player, Seen, among_legal, prepared

AsPlayer = Callable[[Any, Vector], Player]
Metrics = Callable[[Transition, Float[Array, "games label"]], dict[str, Scalar]]
"""Numbers of a rollout for people, from its transitions by game and time and the labels by game."""
Auxiliary = Callable[[Key, Any, Transition], Scalar]
"""A loss beside PPO's: key, policy network, rollout of both seats by game and time -> what is to be made smaller."""


def no_metrics(transitions: Transition, labels: Float[Array, "games label"]) -> dict[str, Scalar]:
    """Nothing beyond what PPO tells by itself."""
    del transitions, labels
    return {}


@dataclass(frozen=True)
class PPOConfig(TrainingConfig):
    """How PPO learns. The learning rate falls linearly to zero over training, the entropy bonus over its span.

    A policy that goes on from another training should be warmed up: Adam remembers nothing of it, so its first steps go
    as far as they can in every weight, whatever the gradient, and may undo all that was learnt.
    """

    epochs: int = 4
    warm_up: int = 1  # in so many iterations the learning rate rises to its full height; in the first one, usually
    discount: float = 0.99
    gae_lambda: float = 0.95
    clip: float = 0.2
    entropy_coefficient: float = 0.01
    entropy_span: float = 1.0  # the share of training after which the bonus is gone
    shaping_span: float = 1.0  # the share of training over which the game's shaping of rewards falls to nothing

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("epochs", "warm_up"):
            whole(name, getattr(self, name))
        for name in ("clip", "entropy_span", "shaping_span"):
            positive(name, getattr(self, name))
        for name in ("discount", "gae_lambda", "entropy_coefficient"):
            between(name, getattr(self, name), 0, 1)


class PPOState(NamedTuple):
    """All that the next iteration needs."""

    key: Key
    iteration: Count
    policy: TrainState
    critic: TrainState


class PPOInfo(NamedTuple):
    """What one iteration looked like: means over its samples, and over its updates where those change it."""

    reward: Scalar  # a step
    value_loss: Scalar
    entropy: Scalar
    kl: Scalar  # from the policy that played to the one that was being updated
    clip_fraction: Scalar
    explained_variance: Scalar
    policy_gradient_norm: Scalar  # before it is clipped
    critic_gradient_norm: Scalar
    metrics: dict[str, Scalar]  # that whoever trains has asked for, and an auxiliary loss


class Experience(NamedTuple):
    """The main agent's side of one game, ready to learn from; the first axis is time, but for the label."""

    seen: Seen
    ended: Bool[Array, "time"]
    actions: Int[Array, "time"]
    log_probabilities: Float[Array, "time"]
    advantages: Float[Array, "time"]
    targets: Float[Array, "time"]
    label: Vector
    rollout: Transition | None = None  # of both seats, where there is an auxiliary loss


def start(key: Key, policy: Any, critic: Critic, config: PPOConfig) -> PPOState:
    """Before the first iteration."""
    return PPOState(key, jnp.int32(0), begin(policy, config.optimiser), begin(critic, config.optimiser))


def train_chunk(
    state: PPOState,
    game: Game,
    population: Population,
    as_player: AsPlayer,
    config: PPOConfig,
    iterations: int,
    metrics: Metrics = no_metrics,
    auxiliary: Auxiliary | None = None,
) -> tuple[PPOState, PPOInfo]:
    """Some iterations in one go; the infos are stacked."""
    check_covers_an_episode(config.num_steps, game)
    one = lambda state, _: iterate(state, game, population, as_player, config, metrics, auxiliary)
    return jax.lax.scan(one, state, length=iterations)


def iterate(
    state: PPOState,
    game: Game,
    population: Population,
    as_player: AsPlayer,
    config: PPOConfig,
    metrics: Metrics = no_metrics,
    auxiliary: Auxiliary | None = None,
) -> tuple[PPOState, PPOInfo]:
    """Play with partners of the population, then learn from it."""
    key, for_play, for_updates = jax.random.split(state.key, 3)
    for_partners, for_games = jax.random.split(for_play)
    told = lambda label: as_player(state.policy.network, label)
    transitions, labels = play_with_partners(for_partners, for_games, game, population, told, config)
    state = state._replace(key=key)
    return learn_from(for_updates, state, transitions, labels, as_player, config, metrics, auxiliary)


def learn_from(
    key: Key,
    state: PPOState,
    transitions: Transition,
    labels: Float[Array, "games label"],
    as_player: AsPlayer,
    config: PPOConfig,
    metrics: Metrics = no_metrics,
    auxiliary: Auxiliary | None = None,
) -> tuple[PPOState, PPOInfo]:
    """One iteration's learning from what was played: transitions of the main seat by game and time."""
    critic = prepared(state.critic.network, transitions.ended.size)
    shaping = remaining(state.iteration, config.iterations * config.shaping_span)
    shaped = transitions._replace(reward=transitions.reward + shaping * transitions.shaping)
    experience, values = jax.vmap(assess, (0, 0, None, None))(shaped, labels, critic, config)
    advantages = jax.nn.standardize(experience.advantages, axis=None, epsilon=1e-8)
    experience = experience._replace(advantages=advantages, rollout=None if auxiliary is None else transitions)
    state, diagnostics = improve(key, state, experience, as_player, config, auxiliary)
    beside = {} if auxiliary is None else {"auxiliary": diagnostics.pop("auxiliary")}
    info = PPOInfo(
        reward=jnp.mean(transitions.reward),
        explained_variance=1 - jnp.var(experience.targets - values) / (jnp.var(experience.targets) + 1e-8),
        metrics=metrics(transitions, labels) | beside,
        **diagnostics,
    )
    return state._replace(iteration=state.iteration + 1), info


def assess(
    transitions: Transition, label: Vector, critic: Critic, config: PPOConfig
) -> tuple[Experience, Float[Array, "time"]]:
    """How each action of one game did against what the critic expected; and what it expected."""
    judge = lambda seen, memory: critic.value(seen, label, memory)
    values, memories = replay(judge, transitions.seen[MAIN], critic.start(), transitions.ended)
    next_values, _ = jax.vmap(judge)(transitions.next_seen[MAIN], memories)
    advantages = generalised_advantages(
        transitions.reward,
        values,
        next_values,
        transitions.terminated,
        transitions.truncated,
        config.discount,
        config.gae_lambda,
    )
    actions = transitions.actions[MAIN]
    experience = Experience(
        seen=transitions.seen[MAIN],
        ended=transitions.ended,
        actions=actions,
        log_probabilities=_chosen(jax.nn.log_softmax(transitions.logits[MAIN]), actions),
        advantages=advantages,
        targets=advantages + values,
        label=label,
    )
    return experience, values


def improve(
    key: Key,
    state: PPOState,
    experience: Experience,
    as_player: AsPlayer,
    config: PPOConfig,
    auxiliary: Auxiliary | None = None,
) -> tuple[PPOState, dict[str, Scalar]]:
    """All epochs over the experience of one iteration, each in new minibatches of whole games."""
    share = remaining(state.iteration, config.iterations) * risen(state.iteration, config.warm_up)
    rate = config.learning_rate * share
    bonus = config.entropy_coefficient * remaining(state.iteration, config.iterations * config.entropy_span)

    def loss_of(networks: tuple[Any, Critic], batch: Experience, key: Key):
        value, diagnostics = loss(networks, batch, as_player, config.clip, bonus)
        if auxiliary is None or batch.rollout is None:
            return value, diagnostics
        beside = auxiliary(key, networks[0], batch.rollout)
        return value + beside, diagnostics | {"auxiliary": beside}

    def update(state: PPOState, now: tuple[Experience, Key]):
        networks = state.policy.network, state.critic.network
        gradients, diagnostics = jax.grad(loss_of, has_aux=True)(networks, *now)
        for name, gradient in zip(("policy", "critic"), gradients, strict=True):
            diagnostics[f"{name}_gradient_norm"] = optax.tree.norm(gradient)
        policy, critic = (
            apply_gradients(each, gradient, config.optimiser, rate, config.max_gradient_norm)
            for each, gradient in zip((state.policy, state.critic), gradients, strict=True)
        )
        return state._replace(policy=policy, critic=critic), diagnostics

    def epoch(state: PPOState, key: Key):
        order = jax.random.permutation(key, len(experience.label)).reshape(config.minibatches, -1)
        # For auxiliary losses alone: a third key beside the two that the permutation makes of its own.
        keys = jax.random.split(jax.random.fold_in(key, 2), config.minibatches)
        dealt = lambda games: jax.tree.map(lambda x: x[games], experience)
        return jax.lax.scan(lambda s, now: update(s, (dealt(now[0]), now[1])), state, (order, keys))

    state, diagnostics = jax.lax.scan(epoch, state, jax.random.split(key, config.epochs))
    return state, jax.tree.map(jnp.mean, diagnostics)


def loss(
    networks: tuple[Any, Critic],
    batch: Experience,
    as_player: AsPlayer,
    clip: Scalar | float,
    entropy_coefficient: Scalar | float,
) -> tuple[Scalar, dict[str, Scalar]]:
    """The clipped surrogate with its entropy bonus, plus the critic's squared error, and diagnostics beside it.

    The two networks share no weights, so adding their losses trains each on its own.
    """
    ready = prepared(networks, batch.ended.size)
    log_policy, values = jax.vmap(_reconsider, (0, None, None))(batch, as_player, ready)
    surprise = jnp.where(jnp.isneginf(log_policy), 0.0, log_policy)  # an action that is never taken surprises nobody
    entropy = -jnp.mean(jnp.sum(jnp.exp(log_policy) * surprise, axis=-1))
    log_ratio = _chosen(log_policy, batch.actions) - batch.log_probabilities
    ratio = jnp.exp(log_ratio)
    clipped = jnp.clip(ratio, 1 - clip, 1 + clip)
    surrogate = jnp.mean(jnp.minimum(ratio * batch.advantages, clipped * batch.advantages))
    value_loss = 0.5 * jnp.mean((values - batch.targets) ** 2)
    diagnostics = {
        "value_loss": value_loss,
        "entropy": entropy,
        "kl": jnp.mean(jnp.expm1(log_ratio) - log_ratio),
        "clip_fraction": jnp.mean((jnp.abs(ratio - 1) > clip).astype(jnp.float32)),
    }
    return value_loss - surrogate - entropy_coefficient * entropy, diagnostics


def _reconsider(
    game: Experience, as_player: AsPlayer, networks: tuple[Any, Critic]
) -> tuple[Float[Array, "time actions"], Float[Array, "time"]]:
    """One game once more through the networks as they are now: the policy's log probabilities, the critic's values."""
    policy, critic = networks
    player = as_player(policy, game.label)

    def decide(now, memory):
        seen, may_be_embedded = now
        decision = player.decide(may_be_embedded, memory)
        return jax.nn.log_softmax(among_legal(decision.logits, seen)), decision.memory

    judge = lambda seen, memory: critic.value(seen, game.label, memory)
    start = player.start(jax.random.key(0))  # every learner starts an episode with the same memory, whatever the key
    log_policy, _ = replay(decide, (game.seen, embedded(player, game.seen)), start, game.ended)
    values, _ = replay(judge, game.seen, critic.start(), game.ended)
    return log_policy, values


def _chosen(log_probabilities: Float[Array, "*axes actions"], actions: Int[Array, "*axes"]) -> Float[Array, "*axes"]:
    return jnp.take_along_axis(log_probabilities, actions[..., None], axis=-1)[..., 0]
