"""Clones: players that learn by playing with copies of themselves, and leave partners of three kinds behind.

At first a clone is a novice that walks at random. On its way to being skilled it is once of intermediate skill, known
by the length of its episodes. All three stay as they were, and are the partners of others.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.agents.behaviour_conditioned import BehaviourConditioned
from coadapt.agents.beliefs import ConstantBelief
from coadapt.agents.relational import RelationalCritic, RelationalPolicy, ready
from coadapt.arrays import Count, Flag, Key, Scalar
from coadapt.encounters import Transition
from coadapt.evaluation.episodes import episode_scores
from coadapt.experiments.salesman.world import KINDS, NO_LABEL, World
from coadapt.learning import ppo, selfplay
from coadapt.learning.ppo import PPOConfig, PPOInfo, PPOState
from coadapt.partners.population import Partners
from coadapt.pipeline.stages import Learner, key_for, training_stage
from coadapt.runs.stage import Inputs, Stage


class Clones(NamedTuple):
    """What clone training leaves behind: partners of three kinds, and a critic for who goes on from the last."""

    novice: RelationalPolicy
    intermediate: RelationalPolicy
    skilled: RelationalPolicy
    critic: RelationalCritic
    intermediate_iteration: Count


class Cloning(NamedTuple):
    """Where clone training stands."""

    learner: PPOState
    novice: RelationalPolicy
    intermediate: RelationalPolicy
    intermediate_iteration: Count
    distance: Scalar  # of the intermediate's length from the middle of what is asked for
    passed: Flag  # play has become too good for an intermediate


def told_nothing(policy: RelationalPolicy, label: Any = None) -> BehaviourConditioned:
    """A policy as it plays with copies of itself, and as a partner for ever after."""
    del label
    return BehaviourConditioned(ConstantBelief(NO_LABEL), ready(policy))


def partners_from(clones: Sequence[Clones]) -> Partners:
    """All partners these clones have left behind, in turn the three kinds of each."""
    policies = [getattr(each, kind) for each in clones for kind in KINDS]
    players = jax.tree.map(lambda *leaves: jnp.stack(leaves), *map(told_nothing, policies))
    return Partners(players, jnp.tile(jnp.eye(len(KINDS)), (len(clones), 1)), jnp.arange(len(policies)))


def episode_metrics(transitions: Transition, labels: Any) -> dict[str, Scalar]:
    """How long the episodes are, and how many come to their end."""
    del labels
    scores = episode_scores(transitions)
    return {"length": jnp.mean(scores.length), "finished": jnp.mean(scores.finished)}


def clones(world: World, training: PPOConfig, intermediate_length: tuple[float, ...]) -> Learner:
    """The conditioned policy with copies of itself, told nothing."""
    low, high = intermediate_length

    def start(key: Key, condition: Any) -> Cloning:
        del condition
        for_policy, for_critic, for_training = jax.random.split(key, 3)
        sizes = world.relation_sizes(training)
        policy = RelationalPolicy(for_policy, sizes, len(KINDS), world.game.num_actions[0])
        learner = ppo.start(for_training, policy, RelationalCritic(for_critic, sizes, len(KINDS)), training)
        return Cloning(learner, policy, policy, jnp.int32(0), jnp.float32(jnp.inf), jnp.bool_(False))

    def iterate(state: Cloning, _: None) -> tuple[Cloning, PPOInfo]:
        played = state.learner.policy.network
        learner, info = selfplay.iterate(
            state.learner, world.training_game, told_nothing, NO_LABEL, training, episode_metrics
        )
        length = info.metrics["length"]  # of the policy as it was before it learnt from these episodes
        distance = jnp.abs(length - (low + high) / 2)
        keep = (distance < state.distance) & ~state.passed
        newest = played, state.learner.iteration, distance
        before = state.intermediate, state.intermediate_iteration, state.distance
        kept = jax.tree.map(lambda new, old: jnp.where(keep, new, old), newest, before)
        return Cloning(learner, state.novice, *kept, passed=state.passed | (length < low)), info

    def chunk(state: Cloning, condition: Any, iterations: int) -> tuple[Cloning, PPOInfo]:
        del condition
        return jax.lax.scan(iterate, state, length=iterations)

    def networks(state: Cloning) -> Clones:
        policy, critic = state.learner.policy.network, state.learner.critic.network
        return Clones(state.novice, state.intermediate, policy, critic, state.intermediate_iteration)

    return Learner(start, chunk, networks, training.iterations, training.steps_per_iteration)


def cloning_of(
    seed: int, world: World, training: PPOConfig, intermediate_length: tuple[float, ...], points: int
) -> Stage:
    """The stage that trains the clones of one seed."""
    return training_stage(
        stage_name("clones", seed),
        __name__,
        {
            "world": world,
            "seed": seed,
            "training": training,
            "intermediate_length": intermediate_length,
            "points": points,
        },
        clones(world, training, intermediate_length),
        key_for(seed, "clones")[None],
        lambda inputs: (),
        points,
        keep_all=False,
        **about_training("clones", seed),
    )


def about_training(training: str, seed: int) -> dict[str, Any]:
    """What people are told of the training of one seed."""
    remedy = f"look at {training}.learning_rate and {training}.max_gradient_norm, and at the end of its metrics"
    larger_by = "the layers in world.sizes", f"{training}.games or {training}.steps"
    return {"replicates": (f"seed {seed}",), "remedy": remedy, "larger_by": larger_by}


def stage_name(training: str, seed: int) -> str:
    return f"{training}_{seed}"


def networks_of(inputs: Inputs, training: str, seed: int) -> Any:
    """The finished networks of one training."""
    return jax.tree.map(lambda leaf: leaf[0], inputs[stage_name(training, seed)].networks)
