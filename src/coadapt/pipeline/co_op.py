"""Co-op training: what is trained with the snapshots of others as partners.

All start from clones of their own, which have learnt to play, and learn to get along with partners of every type. The
conditioned policy is told of which type each is, and its predictor learns to tell. Others have to do without.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.agents.behaviour_conditioned import CONDITIONINGS, BehaviourConditioned, ConditionedPolicy
from coadapt.agents.beliefs import ConstantBelief
from coadapt.arrays import Array, Float, Key, Scalar, Vector
from coadapt.encounters import Transition
from coadapt.evaluation.episodes import episode_scores
from coadapt.learning import ppo, supervised
from coadapt.learning.ppo import AsPlayer, Metrics, PPOConfig, PPOState
from coadapt.learning.supervised import SupervisedConfig, SupervisedState
from coadapt.partners.population import FixedPopulation, Partners
from coadapt.pipeline import self_play
from coadapt.pipeline.method import Training
from coadapt.pipeline.self_play import Clones, about_training, networks_of, partners_from
from coadapt.pipeline.stages import Learner, key_for, stage_name, training_stage
from coadapt.pipeline.study import Study
from coadapt.pipeline.task import Task, code_of, new_predictor
from coadapt.players import Belief
from coadapt.runs.stage import Inputs, Stage


class Beginning(NamedTuple):
    """What a training with partners starts from, and whom it trains with."""

    networks: Any
    partners: Partners


def with_oracle_label(policy: ConditionedPolicy, label: Vector) -> BehaviourConditioned:
    """The conditioned policy in training, told the truth."""
    return BehaviourConditioned(ConstantBelief(label), policy)


def acting_on(belief: Belief, policy: ConditionedPolicy, conditioning: str) -> BehaviourConditioned:
    """The agent in execution: it acts on what it believes, whatever the belief is."""
    return BehaviourConditioned(belief, CONDITIONINGS[conditioning](policy))


def metrics_by_type(task: Task) -> Metrics:
    """How long the episodes are with partners of each type."""

    def metrics(transitions: Transition, labels: Float[Array, "games label"]) -> dict[str, Scalar]:
        length = episode_scores(transitions).length
        return {f"length_{name}": jnp.average(length, weights=labels[:, k]) for k, name in enumerate(task.types)}

    return metrics


def with_partners(study: Study, training: PPOConfig, as_player: AsPlayer) -> Learner:
    """A policy that goes on from self-play with partners of all types."""

    def start(key: Key, beginning: Beginning) -> PPOState:
        policy, critic = beginning.networks
        return ppo.start(key, policy, critic, training)

    def chunk(state: PPOState, beginning: Beginning, iterations: int):
        game, population = study.task.learning_game, FixedPopulation(beginning.partners)
        metrics = metrics_by_type(study.task)
        return ppo.train_chunk(state, game, population, as_player, training, iterations, metrics)

    return Learner(start, chunk, lambda s: s.policy.network, training.iterations, training.steps_per_iteration)


def predictor(study: Study, training: SupervisedConfig) -> Learner:
    """The predictor. The agent it learns from acts on what it predicts now."""
    task = study.task

    def start(key: Key, beginning: Beginning) -> SupervisedState:
        del beginning
        for_network, for_training = jax.random.split(key)
        return supervised.start(for_training, new_predictor(for_network, task), training)

    def chunk(state: SupervisedState, beginning: Beginning, iterations: int):
        as_player = lambda belief: acting_on(belief, beginning.networks, study.conditioning)
        loss = supervised.negative_log_likelihood
        game, population = task.learning_game, FixedPopulation(beginning.partners)
        return supervised.train_chunk(state, game, population, as_player, loss, training, iterations)

    return Learner(start, chunk, lambda s: s.belief.network, training.iterations, training.steps_per_iteration)


def training_of(study: Study, training: Training, seed: int) -> Stage:
    """The stage of one training of one seed."""
    settings = {"task": study.task, "seed": seed, "training": training.settings, "points": study.curve_points}
    if training.conditioning is not None:
        settings["conditioning"] = training.conditioning
    alone = training.starts is None
    return training_stage(
        stage_name(training.purpose, seed),
        (__name__, training.code, *code_of(study.task)),
        settings,
        training.learner(study, training.settings),
        key_for(seed, training.purpose)[None],
        lambda inputs: () if alone else jax.tree.map(lambda leaf: leaf[None], beginning(study, training, seed, inputs)),
        study.curve_points,
        keep_all=False,
        needs=() if alone else _needs(study, training, seed),
        **about_training(training.purpose, seed),
    )


def _needs(study: Study, training: Training, seed: int) -> tuple[str, ...]:
    assert training.starts is not None
    population = [stage_name(self_play.PURPOSE, clone) for clone in study.population_of(seed)]
    return tuple(dict.fromkeys((stage_name(training.starts, seed), *population)))


def beginning(study: Study, training: Training, seed: int, inputs: Inputs) -> Beginning:
    """What a training of a seed starts from: finished networks, and the population's partners."""
    assert training.starts is not None
    population = [networks_of(inputs, self_play.PURPOSE, clone).snapshots for clone in study.population_of(seed)]
    before = networks_of(inputs, training.starts, seed)
    networks = (before.trained, before.critic) if isinstance(before, Clones) else before
    return Beginning(networks, partners_from(population, study.task))
