"""Clone training: a policy that learns by playing with copies of itself leaves partners of every skill behind.

At first a clone is untrained. On its way to being trained it passes every skill in between. A level of skill is known
by the length of its episodes, and then it is kept when training comes by; or by its share of the way from an untrained
player's return to a trained one's, and then it is picked afterwards from candidates that were kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.agents.behaviour_conditioned import BehaviourConditioned, ConditionedCritic, ConditionedPolicy
from coadapt.agents.beliefs import ConstantBelief
from coadapt.arrays import Array, Bool, Count, Float, Int, Key, Scalar, Vector
from coadapt.encounters import Transition
from coadapt.evaluation.episodes import episode_scores
from coadapt.evaluation.returns import Means, play_with_all, side_by_side
from coadapt.learning import ppo, selfplay
from coadapt.learning.ppo import AsPlayer, PPOConfig, PPOInfo, PPOState
from coadapt.partners.population import Partners
from coadapt.pipeline.stages import Learner, display_of, key_for, measuring_stage, stage_name, training_stage
from coadapt.pipeline.task import AnyTask, code_of, identity_of, new_critic, new_policy, no_label
from coadapt.runs.stage import Info, Inputs, Stage

if TYPE_CHECKING:
    from coadapt.pipeline.study import Study

CLONES, LEVELS, SELF_PLAY = "clones", "levels", "self_play"

CANDIDATES, EPISODES = 24, 1_000
"""So many snapshots are kept where levels are picked afterwards, and each is measured in so many episodes."""


class Clones(NamedTuple):
    """What clone training leaves behind: snapshots, and a critic for who goes on from the last."""

    snapshots: ConditionedPolicy  # stacked, from the untrained to the trained
    critic: ConditionedCritic
    iterations: Int[Array, "snapshots"]  # at which they were kept

    @property
    def trained(self) -> ConditionedPolicy:
        return jax.tree.map(lambda leaf: leaf[-1], self.snapshots)


class Cloning(NamedTuple):
    """Where clone training stands."""

    learner: PPOState
    untrained: ConditionedPolicy
    between: ConditionedPolicy  # stacked
    iterations: Int[Array, "between"]
    distances: Float[Array, "between"]  # of their lengths from the middle of what is asked for
    passed: Bool[Array, "between"]  # play has become too good for it


def untold(policy: ConditionedPolicy, label: Vector) -> BehaviourConditioned:
    """A policy that is told nothing, whatever the truth: the label is there for its size."""
    return BehaviourConditioned(ConstantBelief(jnp.zeros_like(label)), policy)


def as_partner(policy: ConditionedPolicy, task: AnyTask) -> BehaviourConditioned:
    """A policy as it plays with copies of itself, and as a partner for ever after."""
    return untold(policy, no_label(task))


def episode_metrics(transitions: Transition, labels: Any) -> dict[str, Scalar]:
    """How long the episodes are, and how many come to their end."""
    del labels
    scores = episode_scores(transitions)
    return {"length": jnp.mean(scores.length), "finished": jnp.mean(scores.finished)}


def self_play(training: PPOConfig, task: AnyTask, new: Any, as_player: AsPlayer) -> Learner:
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


Keep = Callable[["Cloning", Scalar], tuple[Bool[Array, "between"], Float[Array, "between"], Bool[Array, "between"]]]
"""State, length of its episodes -> by level: whether it is met better than before, how far off, whether passed."""


def by_length(levels: Sequence[Sequence[float]]) -> tuple[int, Keep]:
    """Levels of skill that are known by the length of their episodes: whoever comes closest before it gets too good."""
    low, high = jnp.asarray(levels, jnp.float32).reshape(-1, 2).T

    def keep(state: Cloning, length: Scalar) -> tuple[Array, Array, Array]:
        distances = jnp.abs(length - (low + high) / 2)
        return (distances < state.distances) & ~state.passed, distances, state.passed | (length < low)

    return len(levels), keep


def by_plan(iterations: Sequence[int]) -> tuple[int, Keep]:
    """Candidates at these iterations, to choose from afterwards."""
    planned = jnp.array(iterations, jnp.int32)
    return len(iterations), lambda state, length: (state.learner.iteration == planned, state.distances, state.passed)


def candidates(iterations: int) -> list[int]:
    """The iterations at which candidates are kept: dense early, where skill rises fast, and all where there are few."""
    number = min(CANDIDATES, iterations - 1)
    return [max(n, round(iterations * (n / (CANDIDATES + 1)) ** 2)) for n in range(1, number + 1)]


def clones(task: AnyTask, training: PPOConfig, kept: tuple[int, Keep]) -> Learner:
    """The conditioned policy with copies of itself, and what it was like on the way: so many, kept by a rule."""
    learner = self_play(training, task, new_policy, untold)
    (number, keep), game, label = kept, task.learning_game, no_label(task)

    def start(key: Key, condition: Any) -> Cloning:
        begun = learner.start(key, condition)
        untrained = begun.policy.network
        between = jax.tree.map(lambda leaf: jnp.repeat(leaf[None], number, axis=0), untrained)
        far = jnp.full(number, jnp.finfo(jnp.float32).max)  # and finite, as all of a state must be
        nothing = jnp.zeros(number, jnp.int32), far, jnp.zeros(number, bool)
        return Cloning(begun, untrained, between, *nothing)

    def iterate(state: Cloning, _: None) -> tuple[Cloning, PPOInfo]:
        played, iteration = state.learner.policy.network, state.learner.iteration
        learnt, info = selfplay.iterate(state.learner, game, untold, label, training, episode_metrics)
        # The length is that of the policy as it was before it learnt from these episodes.
        better, distances, passed = keep(state, info.metrics["length"])
        newer = lambda new, old: jnp.where(better.reshape(-1, *[1] * (old.ndim - 1)), new, old)
        between = jax.tree.map(newer, played, state.between)
        kept = newer(iteration, state.iterations), newer(distances, state.distances)
        return Cloning(learnt, state.untrained, between, *kept, passed=passed), info

    def chunk(state: Cloning, condition: Any, iterations: int) -> tuple[Cloning, PPOInfo]:
        del condition
        return jax.lax.scan(iterate, state, length=iterations)

    def networks(state: Cloning) -> Clones:
        policy, critic = state.learner.policy.network, state.learner.critic.network
        ends = lambda first, between, last: jnp.concatenate([first[None], between, last[None]])
        snapshots = jax.tree.map(ends, state.untrained, state.between, policy)
        return Clones(snapshots, critic, ends(jnp.int32(0), state.iterations, jnp.int32(training.iterations)))

    return Learner(start, chunk, networks, training.iterations, training.steps_per_iteration)


def cloning_of(study: Study, seed: int) -> Stage:
    """The stage that trains the clones of one seed."""
    task, training = study.task, study.clones
    assert training is not None
    kept = by_plan(candidates(training.iterations)) if study.shares else by_length(study.levels)
    levels = "picked afterwards" if study.shares else study.levels
    settings = {"seed": seed, "training": training, "levels": levels, "points": study.curve_points}
    return training_stage(
        stage_name(CLONES, seed),
        (__name__, *code_of(task)),
        settings | {"task": identity_of(task)},
        clones(task, training, kept),
        key_for(seed, CLONES)[None],
        lambda inputs: (),
        study.curve_points,
        keep_all=False,
        **about_training(CLONES, seed),
    )


def levels_of(study: Study, seed: int) -> Stage:
    """The stage that measures everybody from whom the levels of skill are picked, each with a copy of itself."""
    assert study.clones is not None

    def measure(inputs: Inputs, key: Key, part: Count) -> tuple[Means, Info]:
        snapshots = networks_of(inputs, CLONES, seed).snapshots
        policy = jax.tree.map(lambda leaf: leaf[part], snapshots)
        found = with_itself(jax.random.fold_in(key, part), study.task, policy, EPISODES)
        return found, {"return": found.total[None]}

    return measuring_stage(
        stage_name(LEVELS, seed),
        (__name__, *code_of(study.task)),
        {"task": identity_of(study.task), "seed": seed},
        measure,
        key_for(seed, LEVELS),
        len(candidates(study.clones.iterations)) + 2,
        (stage_name(CLONES, seed),),
        **display_of(LEVELS, seed, "return"),
    )


def self_play_of(study: Study, seed: int, types: Sequence[str]) -> Stage:
    """The stage that measures the partners a clone has left behind, one of each of these types, with themselves."""
    task = study.task

    def measure(inputs: Inputs, key: Key, part: Count) -> tuple[Means, Info]:
        for_play = jax.random.fold_in(key, part)
        policies = snapshots_of(study, inputs, seed)
        by_type = jax.lax.map(lambda policy: with_itself(for_play, task, policy, study.batch), policies)
        return by_type, {f"length_{name}": by_type.length[k][None] for k, name in enumerate(types)}

    settings = {"task": identity_of(task), "seed": seed, "episodes": study.episodes, "batch": study.batch}
    return measuring_stage(
        stage_name(SELF_PLAY, seed),
        (__name__, *code_of(task)),
        settings | {"shares": study.shares},
        measure,
        key_for(seed, SELF_PLAY),
        study.episodes // study.batch,
        made_by(study, seed),
        **display_of(SELF_PLAY, seed, f"length_{types[-1]}"),
    )


def with_itself(key: Key, task: AnyTask, policy: ConditionedPolicy, episodes: int) -> Means:
    """What a policy comes to with a copy of itself."""
    player, nothing = as_partner(policy, task), jnp.zeros((side_by_side(episodes), 0))
    alone = Partners(jax.tree.map(lambda leaf: leaf[None], player), jnp.zeros((1, 0)), jnp.zeros(1, jnp.int32))
    means = play_with_all(key, task.game, alone, lambda _: player, nothing, episodes).means
    return jax.tree.map(lambda leaf: leaf[0], means)


def snapshots_of(study: Study, inputs: Inputs, clone: int) -> ConditionedPolicy:
    """The policies that a clone has left behind, stacked: one for each type, from the untrained to the trained."""
    found: Clones = networks_of(inputs, CLONES, clone)
    if not study.shares:
        return found.snapshots
    return jax.tree.map(lambda leaf: leaf[picked(study, inputs, clone)], found.snapshots)


def goes_on_from(study: Study) -> str | None:
    """The training that policies go on from: their own clones, where there are any."""
    return None if study.clones is None else CLONES


def made_by(study: Study, clone: int) -> tuple[str, ...]:
    """The stages that snapshots come from."""
    return tuple(stage_name(purpose, clone) for purpose in ((CLONES, LEVELS) if study.shares else (CLONES,)))


def iterations_of(study: Study, inputs: Inputs, clone: int) -> Int[Array, "types"]:
    """At which iterations of clone training they were kept."""
    found = networks_of(inputs, CLONES, clone).iterations
    return found[picked(study, inputs, clone)] if study.shares else found


def picked(study: Study, inputs: Inputs, clone: int) -> Int[Array, "types"]:
    """Which snapshots come closest to the shares of the way from the untrained one's return to the trained one's."""
    returns = jnp.asarray(inputs[stage_name(LEVELS, clone)].total)
    shares = jnp.array([0.0, *study.shares, 1.0])
    asked = returns[0] + shares * (returns[-1] - returns[0])
    between = jnp.argmin(jnp.abs(returns[1:-1, None] - asked[None, 1:-1]), axis=0) + 1
    return jnp.concatenate([jnp.array([0]), between, jnp.array([len(returns) - 1])])


def about_training(purpose: str, seed: int) -> dict[str, Any]:
    """What people are told of the training of one seed."""
    remedy = f"look at {purpose}.learning_rate and {purpose}.max_gradient_norm, and at the end of its metrics"
    larger_by = "the layers in task.sizes", f"{purpose}.num_envs or {purpose}.num_steps"
    return {"family": purpose, "replicates": (f"seed {seed}",), "remedy": remedy, "larger_by": larger_by}


def networks_of(inputs: Inputs, purpose: str, seed: int) -> Any:
    """The finished networks of one training."""
    return jax.tree.map(lambda leaf: leaf[0], inputs[stage_name(purpose, seed)].networks)
