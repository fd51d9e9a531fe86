"""Co-op training: what is trained with the training partners.

Who has clones starts from them, which have learnt to play; all learn to get along with partners of every type. The
conditioned policy is told of which type each is, and its predictor learns to tell. Others have to do without.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

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
from coadapt.pipeline.method import Training
from coadapt.pipeline.partners import partners_of
from coadapt.pipeline.self_play import Clones, about_training, networks_of
from coadapt.pipeline.stages import Learner, key_for, stage_name, training_stage
from coadapt.pipeline.task import AnyTask, code_of, identity_of, new_critic, new_predictor
from coadapt.players import Belief
from coadapt.runs.stage import Inputs, Stage

if TYPE_CHECKING:
    from coadapt.pipeline.study import Study

New = Callable[[Key, AnyTask], Any]
"""An untrained network for a task."""


class Beginning(NamedTuple):
    """What a training with partners starts from, and whom it trains with."""

    networks: Any  # none where it starts with untrained ones
    partners: Partners


def with_oracle_label(policy: ConditionedPolicy, label: Vector) -> BehaviourConditioned:
    """The conditioned policy in training, told the truth."""
    return BehaviourConditioned(ConstantBelief(label), policy)


def acting_on(belief: Belief, policy: ConditionedPolicy, conditioning: str) -> BehaviourConditioned:
    """The agent in execution: it acts on what it believes, whatever the belief is."""
    return BehaviourConditioned(belief, CONDITIONINGS[conditioning](policy))


def metrics_by_type(task: AnyTask) -> Metrics:
    """How long the episodes are with partners of each type."""

    def metrics(transitions: Transition, labels: Float[Array, "games label"]) -> dict[str, Scalar]:
        length = episode_scores(transitions).length
        return {f"length_{name}": jnp.average(length, weights=labels[:, k]) for k, name in enumerate(task.types)}

    return metrics


def with_partners(study: Study, training: PPOConfig, as_player: AsPlayer, new: New) -> Learner:
    """A policy with partners of all types: it goes on from self-play, or else starts as one that `new` makes."""

    def start(key: Key, beginning: Beginning) -> PPOState:
        if beginning.networks is None:
            key, for_policy, for_critic = jax.random.split(key, 3)
            return ppo.start(key, new(for_policy, study.task), new_critic(for_critic, study.task), training)
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
    settings = {
        "task": identity_of(study.task),
        "seed": seed,
        "training": training.settings,
        "points": study.curve_points,
    }
    if training.conditioning is not None:
        settings["conditioning"] = training.conditioning
    code, needs = (__name__, training.code, *code_of(study.task)), ()
    if not training.alone:
        settings["partners"] = study.partners.settings
        code, needs = (*code, *study.partners.code), study.partners.needs(study, seed)
    if training.starts is not None:
        needs = (stage_name(training.starts, seed), *needs)
    return training_stage(
        stage_name(training.purpose, seed),
        code,
        settings,
        training.learner(study, training.settings),
        key_for(seed, training.purpose)[None],
        lambda inputs: jax.tree.map(lambda leaf: leaf[None], beginning(study, training, seed, inputs)),
        study.curve_points,
        keep_all=False,
        needs=tuple(dict.fromkeys(needs)),
        **about_training(training.purpose, seed),
    )


def beginning(study: Study, training: Training, seed: int, inputs: Inputs) -> Beginning | tuple[()]:
    """What a training of a seed starts from: finished networks, if there are any, and the training partners."""
    if training.alone:
        return ()
    before = None if training.starts is None else networks_of(inputs, training.starts, seed)
    networks = (before.trained, before.critic) if isinstance(before, Clones) else before
    return Beginning(networks, partners_of(study, study.partners, inputs, seed))
