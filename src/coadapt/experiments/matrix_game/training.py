"""What is trained in the matrix game: a predictor, a policy that is told the truth, and RL2."""

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
from coadapt.games.game import MAIN
from coadapt.games.matrix import MatrixGame, clock, full_view, partner_watch
from coadapt.learning import ppo, supervised
from coadapt.partners.dirichlet import DirichletPartners, Stationary
from coadapt.pipeline.stages import Learner, training_stage
from coadapt.runs.stage import Stage


def partners_of(config: MatrixGameConfig, alpha: Scalar) -> DirichletPartners:
    """Whom one meets at this concentration."""
    _, partner_actions = config.game.num_actions
    return DirichletPartners(jnp.full(partner_actions, alpha))


def _observation(game: MatrixGame) -> Any:
    """What the main agent sees: its shapes."""
    return jax.eval_shape(lambda: game.observe(game.reset(jax.random.key(0)), MAIN))


def predictor(config: MatrixGameConfig) -> Learner:
    """The task prediction network, shown partners and told their true distribution.

    The partner takes no notice of the main agent and the predictor does not see it, so anyone may sit in the main seat
    while it learns: here someone who acts at random.
    """
    game, sizes = config.game, config.sizes
    main_actions, partner_actions = game.num_actions
    anyone = Stationary(jnp.zeros(main_actions))

    def start(key: Key, alpha: Scalar):
        del alpha  # whom it will meet does not matter yet
        for_network, for_training = jax.random.split(key)
        units, hidden = sizes.predictor_units, sizes.predictor_hidden
        watch = VectorSpec(partner_watch)
        belief = LearnedBelief(for_network, watch, _observation(game), units, hidden, partner_actions)
        return supervised.start(for_training, belief, config.predictor)

    def chunk(state, alpha: Scalar, iterations: int):
        return supervised.train_chunk(
            state,
            game,
            partners_of(config, alpha),
            lambda belief: anyone,
            supervised.squared_error,
            config.predictor,
            iterations,
        )

    training = config.predictor
    return Learner(start, chunk, lambda s: s.belief.network, training.iterations, training.steps_per_iteration)


def policy(config: MatrixGameConfig) -> Learner:
    """The conditioned policy, told the partner's true distribution."""
    game, hidden = config.game, config.sizes.policy_hidden
    main_actions, labels = game.num_actions

    def start(key: Key, alpha: Scalar):
        del alpha  # whom it will meet does not matter yet
        for_policy, for_critic, for_training = jax.random.split(key, 3)
        time, observation = VectorSpec(clock), _observation(game)
        policy = ConditionedPolicy(for_policy, time, observation, labels, hidden, main_actions)
        critic = ConditionedCritic(for_critic, time, observation, labels, hidden)
        return ppo.start(for_training, policy, critic, config.policy)

    def told_the_truth(policy, label):
        return BehaviourConditioned(ConstantBelief(label), policy)

    return _by_ppo(config, start, told_the_truth, config.policy)


def rl2(config: MatrixGameConfig) -> Learner:
    """RL2, which is told nothing; its critic is."""
    game, sizes = config.game, config.sizes
    main_actions, partner_actions = game.num_actions
    everything, observation = VectorSpec(full_view), _observation(game)

    def start(key: Key, alpha: Scalar):
        del alpha  # whom it will meet does not matter yet
        for_policy, for_critic, for_training = jax.random.split(key, 3)
        units, critic_units, hidden = sizes.rl2_units, sizes.rl2_critic_units, sizes.rl2_hidden
        policy = RecurrentPolicy(for_policy, everything, observation, units, hidden, main_actions)
        critic = RecurrentCritic(for_critic, everything, observation, partner_actions, critic_units, hidden)
        return ppo.start(for_training, policy, critic, config.rl2)

    return _by_ppo(config, start, lambda policy, label: policy, config.rl2)


def _by_ppo(config: MatrixGameConfig, start, as_player: ppo.AsPlayer, training: ppo.PPOConfig) -> Learner:
    def chunk(state, alpha: Scalar, iterations: int):
        return ppo.train_chunk(state, config.game, partners_of(config, alpha), as_player, training, iterations)

    return Learner(start, chunk, lambda s: s.policy.network, training.iterations, training.steps_per_iteration)


LEARNERS = {"predictor": predictor, "policy": policy, "rl2": rl2}


def training_of(name: str, config: MatrixGameConfig, replicates: Replicates) -> Stage:
    """The stage that trains one of the learners in all replicates."""
    return training_stage(
        name,
        (__name__,),
        config.world | {"sizes": config.sizes, "training": getattr(config, name), "curve_points": config.curve_points},
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
