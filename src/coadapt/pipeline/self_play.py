"""Partners by self-play: clones that learn by playing with copies of themselves leave partners of every type behind.

At first a clone is untrained. On its way to being trained it is once of each skill in between, known by the length of
its episodes. All of these snapshots stay as they were, and are the partners of others.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.agents.behaviour_conditioned import BehaviourConditioned, ConditionedCritic, ConditionedPolicy
from coadapt.agents.beliefs import ConstantBelief
from coadapt.arrays import Array, Bool, Float, Int, Key, Scalar, Vector
from coadapt.encounters import Transition
from coadapt.evaluation.episodes import episode_scores
from coadapt.learning import ppo, selfplay
from coadapt.learning.ppo import AsPlayer, PPOConfig, PPOInfo, PPOState
from coadapt.partners.population import Partners
from coadapt.pipeline.stages import Learner, key_for, stage_name, training_stage
from coadapt.pipeline.study import Study
from coadapt.pipeline.task import Task, code_of, new_critic, new_policy, no_label
from coadapt.runs.stage import Inputs, Stage

PURPOSE = "clones"


class Clones(NamedTuple):
    """What clone training leaves behind: partners by type, and a critic for who goes on from the last."""

    snapshots: tuple[ConditionedPolicy, ...]  # from the untrained to the trained
    critic: ConditionedCritic
    iterations: Int[Array, "between"]  # at which the types in between were kept

    @property
    def trained(self) -> ConditionedPolicy:
        return self.snapshots[-1]


class Cloning(NamedTuple):
    """Where clone training stands."""

    learner: PPOState
    untrained: ConditionedPolicy
    between: tuple[ConditionedPolicy, ...]
    iterations: Int[Array, "between"]
    distances: Float[Array, "between"]  # of their lengths from the middle of what is asked for
    passed: Bool[Array, "between"]  # play has become too good for it


def untold(policy: ConditionedPolicy, label: Vector) -> BehaviourConditioned:
    """A policy that is told nothing, whatever the truth: the label is there for its size."""
    return BehaviourConditioned(ConstantBelief(jnp.zeros_like(label)), policy)


def as_partner(policy: ConditionedPolicy, task: Task) -> BehaviourConditioned:
    """A policy as it plays with copies of itself, and as a partner for ever after."""
    return untold(policy, no_label(task))


def partners_from(clones: Sequence[Sequence[ConditionedPolicy]], task: Task) -> Partners:
    """All partners that clones have left behind, each the snapshots by type, in turn all types of each."""
    policies = [policy for snapshots in clones for policy in snapshots]
    players = jax.tree.map(lambda *leaves: jnp.stack(leaves), *(as_partner(policy, task) for policy in policies))
    return Partners(players, jnp.tile(jnp.eye(len(task.types)), (len(clones), 1)), jnp.arange(len(policies)))


def episode_metrics(transitions: Transition, labels: Any) -> dict[str, Scalar]:
    """How long the episodes are, and how many come to their end."""
    del labels
    scores = episode_scores(transitions)
    return {"length": jnp.mean(scores.length), "finished": jnp.mean(scores.finished)}


def self_play(training: PPOConfig, task: Task, new: Any, as_player: AsPlayer) -> Learner:
    """A network, made by `new(key, task)`, that learns with copies of itself, told nothing."""

    def start(key: Key, condition: Any) -> PPOState:
        del condition
        for_policy, for_critic, for_training = jax.random.split(key, 3)
        return ppo.start(for_training, new(for_policy, task), new_critic(for_critic, task), training)

    def chunk(state: PPOState, condition: Any, iterations: int) -> tuple[PPOState, PPOInfo]:
        del condition
        game, label = task.learning_game, no_label(task)
        return selfplay.train_chunk(state, game, as_player, label, training, iterations, episode_metrics)

    both = lambda state: (state.policy.network, state.critic.network)
    return Learner(start, chunk, both, training.iterations, training.steps_per_iteration)


def clones(task: Task, training: PPOConfig, levels: tuple[tuple[float, ...], ...]) -> Learner:
    """The conditioned policy with copies of itself, and what it was like on the way."""
    learner = self_play(training, task, new_policy, untold)
    low, high = jnp.asarray(levels, jnp.float32).reshape(-1, 2).T
    game, label = task.learning_game, no_label(task)

    def start(key: Key, condition: Any) -> Cloning:
        begun = learner.start(key, condition)
        untrained, number = begun.policy.network, len(levels)
        nothing = jnp.zeros(number, jnp.int32), jnp.full(number, jnp.inf), jnp.zeros(number, bool)
        return Cloning(begun, untrained, (untrained,) * number, *nothing)

    def iterate(state: Cloning, _: None) -> tuple[Cloning, PPOInfo]:
        played = state.learner.policy.network
        learnt, info = selfplay.iterate(state.learner, game, untold, label, training, episode_metrics)
        length = info.metrics["length"]  # of the policy as it was before it learnt from these episodes
        distances = jnp.abs(length - (low + high) / 2)
        keep = (distances < state.distances) & ~state.passed
        between = tuple(
            jax.tree.map(lambda new, old, k=k: jnp.where(keep[k], new, old), played, before)
            for k, before in enumerate(state.between)
        )
        newest = state.learner.iteration, distances
        kept = (jnp.where(keep, new, old) for new, old in zip(newest, (state.iterations, state.distances), strict=True))
        return Cloning(learnt, state.untrained, between, *kept, passed=state.passed | (length < low)), info

    def chunk(state: Cloning, condition: Any, iterations: int) -> tuple[Cloning, PPOInfo]:
        del condition
        return jax.lax.scan(iterate, state, length=iterations)

    def networks(state: Cloning) -> Clones:
        policy, critic = state.learner.policy.network, state.learner.critic.network
        return Clones((state.untrained, *state.between, policy), critic, state.iterations)

    return Learner(start, chunk, networks, training.iterations, training.steps_per_iteration)


def cloning_of(study: Study, seed: int) -> Stage:
    """The stage that trains the clones of one seed."""
    task, training = study.task, study.clones
    settings = {"task": task, "seed": seed, "training": training, "levels": study.levels, "points": study.curve_points}
    return training_stage(
        stage_name(PURPOSE, seed),
        (__name__, *code_of(task)),
        settings,
        clones(task, training, study.levels),
        key_for(seed, PURPOSE)[None],
        lambda inputs: (),
        study.curve_points,
        keep_all=False,
        **about_training(PURPOSE, seed),
    )


def about_training(purpose: str, seed: int) -> dict[str, Any]:
    """What people are told of the training of one seed."""
    remedy = f"look at {purpose}.learning_rate and {purpose}.max_gradient_norm, and at the end of its metrics"
    larger_by = "the layers in task.sizes", f"{purpose}.num_envs or {purpose}.num_steps"
    return {"family": purpose, "replicates": (f"seed {seed}",), "remedy": remedy, "larger_by": larger_by}


def networks_of(inputs: Inputs, purpose: str, seed: int) -> Any:
    """The finished networks of one training."""
    return jax.tree.map(lambda leaf: leaf[0], inputs[stage_name(purpose, seed)].networks)
