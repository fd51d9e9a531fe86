"""What is trained in the matrix game: a predictor, a policy that is told the truth, and RL2."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from coadapt.agents.behaviour_conditioned import BehaviourConditioned, ConditionedCritic, ConditionedPolicy
from coadapt.agents.beliefs import ConstantBelief, LearnedBelief
from coadapt.agents.encoders import VectorSpec
from coadapt.agents.recurrent import RecurrentCritic, RecurrentPolicy
from coadapt.arrays import Key, Scalar
from coadapt.experiments.matrix_game.config import MatrixGameConfig
from coadapt.experiments.matrix_game.replicates import Replicates, keys_for
from coadapt.games.matrix import clock, full_view, partner_watch
from coadapt.learning import ppo, supervised
from coadapt.partners.dirichlet import DirichletPartners, Stationary
from coadapt.pipeline.stages import Learner, training_stage
from coadapt.pipeline.task import seen_in
from coadapt.runs.stage import Stage


def partners_of(config: MatrixGameConfig, alpha: Scalar) -> DirichletPartners:
    """Whom one meets at this concentration."""
    _, partner_actions = config.game.num_actions
    return DirichletPartners(jnp.full(partner_actions, alpha))


def predictor(config: MatrixGameConfig) -> Learner:
    """The task prediction network, shown partners and told their true distribution.

    The partner takes no notice of the main agent and the predictor does not see it, so anyone may sit in the main seat
    while it learns: here someone who acts at random.
    """
    game, sizes, training = config.game, config.sizes, config.predictor
    main_actions, labels = game.num_actions
    watch, seen = VectorSpec(partner_watch), seen_in(game)
    anyone = Stationary(jnp.zeros(main_actions))

    def start(key: Key, alpha: Scalar):
        del alpha  # whom it will meet does not matter yet
        for_network, for_training = jax.random.split(key)
        belief = LearnedBelief(for_network, watch, seen, sizes.predictor_units, sizes.predictor_hidden, labels)
        return supervised.start(for_training, belief, training)

    def chunk(state, alpha: Scalar, iterations: int):
        partners, loss = partners_of(config, alpha), supervised.squared_error
        return supervised.train_chunk(state, game, partners, lambda belief: anyone, loss, training, iterations)

    return Learner(start, chunk, lambda s: s.belief.network, training.iterations, training.steps_per_iteration)


def policy(config: MatrixGameConfig) -> Learner:
    """The conditioned policy, told the partner's true distribution."""
    hidden, (main_actions, labels) = config.sizes.policy_hidden, config.game.num_actions
    time, seen = VectorSpec(clock), seen_in(config.game)
    return _by_ppo(
        config,
        config.policy,
        lambda key: ConditionedPolicy(key, time, seen, labels, hidden, main_actions),
        lambda key: ConditionedCritic(key, time, seen, labels, hidden),
        lambda policy, label: BehaviourConditioned(ConstantBelief(label), policy),
    )


def rl2(config: MatrixGameConfig) -> Learner:
    """RL2, which is told nothing; its critic is."""
    sizes, (main_actions, labels) = config.sizes, config.game.num_actions
    everything, seen = VectorSpec(full_view), seen_in(config.game)
    return _by_ppo(
        config,
        config.rl2,
        lambda key: RecurrentPolicy(key, everything, seen, sizes.rl2_units, sizes.rl2_hidden, main_actions),
        lambda key: RecurrentCritic(key, everything, seen, labels, sizes.rl2_critic_units, sizes.rl2_hidden),
        lambda policy, label: policy,
    )


def _by_ppo(
    config: MatrixGameConfig,
    training: ppo.PPOConfig,
    new_policy: Callable[[Key], Any],
    new_critic: Callable[[Key], Any],
    as_player: ppo.AsPlayer,
) -> Learner:
    def start(key: Key, alpha: Scalar):
        del alpha  # whom it will meet does not matter yet
        for_policy, for_critic, for_training = jax.random.split(key, 3)
        return ppo.start(for_training, new_policy(for_policy), new_critic(for_critic), training)

    def chunk(state, alpha: Scalar, iterations: int):
        return ppo.train_chunk(state, config.game, partners_of(config, alpha), as_player, training, iterations)

    return Learner(start, chunk, lambda s: s.policy.network, training.iterations, training.steps_per_iteration)


LEARNERS = {"predictor": predictor, "policy": policy, "rl2": rl2}


def training_of(name: str, config: MatrixGameConfig, replicates: Replicates) -> Stage:
    """The stage that trains one of the learners in all replicates."""
    own = {"sizes": config.sizes, "training": getattr(config, name), "curve_points": config.curve_points}
    return training_stage(
        name,
        (__name__,),
        config.shared_settings | own,
        LEARNERS[name](config),
        keys_for(replicates, name),
        lambda inputs: replicates.alphas,
        config.curve_points,
        replicates=replicates.names,
        remedy=remedy_for(name),
        larger_by=("the layers in sizes, curve_points or the number of seeds", f"{name}.num_envs"),
    )


def remedy_for(name: str) -> str:
    """What to look at when its training comes to nothing."""
    return f"look at {name}.learning_rate and {name}.max_gradient_norm, and at the last lines of its metrics"
