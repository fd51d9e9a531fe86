"""What is trained with the clones of others as partners: the paper's agent, its baseline, and a control.

All start from clones of their own, which have learnt to play, and learn to get along with partners of every kind. The
conditioned policy is told of which kind each is, and its predictor learns to tell. The LSTM and the label-blind policy
have to do without.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.agents.behaviour_conditioned import FEEDS, BehaviourConditioned
from coadapt.agents.beliefs import ConstantBelief
from coadapt.agents.relational import RelationalBelief, RelationalPolicy, ready
from coadapt.arrays import Array, Float, Key, Scalar
from coadapt.encounters import Transition
from coadapt.evaluation.episodes import episode_scores
from coadapt.experiments.salesman.baseline import finding_out
from coadapt.experiments.salesman.clones import (
    Clones,
    about_training,
    networks_of,
    partners_from,
    stage_name,
    told_nothing,
)
from coadapt.experiments.salesman.config import SalesmanConfig
from coadapt.experiments.salesman.world import KINDS
from coadapt.learning import ppo, supervised
from coadapt.learning.ppo import PPOConfig, PPOState
from coadapt.learning.supervised import SupervisedState
from coadapt.partners.population import FixedPopulation, Partners
from coadapt.pipeline.stages import Learner, key_for, training_stage
from coadapt.players import Belief
from coadapt.runs.stage import Inputs, Stage


class Beginning(NamedTuple):
    """What a training with partners starts from, and whom it trains with."""

    networks: Any
    partners: Partners


def told_the_truth(policy: RelationalPolicy, label: Float[Array, "label"]) -> BehaviourConditioned:
    """The conditioned policy in training."""
    return BehaviourConditioned(ConstantBelief(label), ready(policy))


def told_by(belief: RelationalBelief, policy: RelationalPolicy, feed: str) -> BehaviourConditioned:
    """The agent in execution: it acts on what it believes."""
    return acting_on(ready(belief), policy, feed)


def acting_on(belief: Belief, policy: RelationalPolicy, feed: str) -> BehaviourConditioned:
    """The conditioned policy with whatever belief."""
    return BehaviourConditioned(belief, FEEDS[feed](ready(policy)))


def metrics_by_type(transitions: Transition, labels: Float[Array, "games label"]) -> dict[str, Scalar]:
    """How long the episodes are with partners of each kind."""
    length = episode_scores(transitions).length
    return {f"length_{kind}": jnp.average(length, weights=labels[:, k]) for k, kind in enumerate(KINDS)}


def with_partners(training: PPOConfig, config: SalesmanConfig, as_player: ppo.AsPlayer) -> Learner:
    """A policy that goes on from self-play with partners of all kinds."""

    def start(key: Key, beginning: Beginning) -> PPOState:
        policy, critic = beginning.networks
        return ppo.start(key, policy, critic, training)

    def chunk(state: PPOState, beginning: Beginning, iterations: int):
        game, population = config.world.training_game, FixedPopulation(beginning.partners)
        return ppo.train_chunk(state, game, population, as_player, training, iterations, metrics_by_type)

    return Learner(start, chunk, lambda s: s.policy.network, training.iterations, training.steps_per_iteration)


def predictor(config: SalesmanConfig) -> Learner:
    """The skill prediction network. The agent it learns from acts on what it predicts now."""
    world, training = config.world, config.predictor

    def start(key: Key, beginning: Beginning) -> SupervisedState:
        del beginning
        for_network, for_training = jax.random.split(key)
        units, hidden = world.sizes.lstm_units, world.sizes.predictor_hidden
        belief = RelationalBelief(for_network, world.relation_sizes(training), units, hidden, len(KINDS))
        return supervised.start(for_training, belief, training)

    def chunk(state: SupervisedState, beginning: Beginning, iterations: int):
        acting_on = lambda belief: told_by(belief, beginning.networks, config.feed)
        loss = supervised.negative_log_likelihood
        game, population = world.training_game, FixedPopulation(beginning.partners)
        return supervised.train_chunk(state, game, population, acting_on, loss, training, iterations)

    return Learner(start, chunk, lambda s: s.belief.network, training.iterations, training.steps_per_iteration)


LEARNERS: dict[str, Callable[[SalesmanConfig], Learner]] = {
    "policy": lambda config: with_partners(config.policy, config, told_the_truth),
    "predictor": predictor,
    # The control: the same policy in the same training, told nothing. Its critic knows as much as that of the others.
    "label_blind": lambda config: with_partners(config.label_blind, config, told_nothing),
    "lstm": lambda config: with_partners(config.lstm, config, finding_out),
    "lstm_matched": lambda config: with_partners(config.lstm_matched, config, finding_out),
}
STARTS = {
    "policy": "clones",
    "predictor": "policy",
    "label_blind": "clones",
    "lstm": "lstm_clones",
    "lstm_matched": "lstm_clones",
}
"""Whose networks a training needs: it goes on with them or, as the predictor, acts by them."""


def training_of(training: str, config: SalesmanConfig, seed: int) -> Stage:
    """The stage that trains one of the learners for one seed."""
    settings = {"world": config.world, "seed": seed, "training": getattr(config, training)}
    settings |= {"points": config.curve_points} | ({"feed": config.feed} if training == "predictor" else {})
    return training_stage(
        stage_name(training, seed),
        __name__,
        settings,
        LEARNERS[training](config),
        key_for(seed, training)[None],
        lambda inputs: jax.tree.map(lambda leaf: leaf[None], _beginning(training, config, seed, inputs)),
        config.curve_points,
        keep_all=False,
        needs=_needs(training, config, seed),
        **about_training(training, seed),
    )


def _needs(training: str, config: SalesmanConfig, seed: int) -> tuple[str, ...]:
    population = [stage_name("clones", clone) for clone in config.population_of(seed)]
    return tuple(dict.fromkeys((stage_name(STARTS[training], seed), *population)))


def _beginning(training: str, config: SalesmanConfig, seed: int, inputs: Inputs) -> Beginning:
    partners = partners_from([networks_of(inputs, "clones", clone) for clone in config.population_of(seed)])
    before = networks_of(inputs, STARTS[training], seed)
    return Beginning((before.skilled, before.critic) if isinstance(before, Clones) else before, partners)
