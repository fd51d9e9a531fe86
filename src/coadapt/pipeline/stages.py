"""Stages that train and stages that measure.

A learner or a measurement is written for one replicate; here it becomes a stage of many, with a learning curve.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Count, Key
from coadapt.learning.training import TrainingConfig
from coadapt.runs.stage import Info, Inputs, Stage

LONGEST_CHUNK = 25
"""How many iterations are made in one go at the most. Between two chunks one can stop."""


def key_for(seed: int, purpose: str) -> Key:
    """The key of a seed alone for one purpose."""
    return for_purpose(jax.random.key(seed), purpose)


def for_purpose(key: Key, purpose: str) -> Key:
    """A key for one purpose, such as the training of a network; each purpose has its own."""
    return jax.random.fold_in(key, zlib.crc32(purpose.encode()))


def stage_name(purpose: str, seed: int, method: str | None = None) -> str:
    """What the stage is called that does this for one seed, and for one method if it does so for each of them."""
    return f"{purpose}_{seed}" if method is None else f"{purpose}_{method}_{seed}"


@dataclass(frozen=True)
class Learner:
    """Something to train, written for one replicate."""

    start: Callable[[Key, Any], Any]  # key, condition -> state
    chunk: Callable[[Any, Any, int], tuple[Any, Any]]  # state, condition, iterations -> state, info
    networks: Callable[[Any], Any]  # state -> what is kept of it
    iterations: int
    steps_per_iteration: int

    @property
    def environment_steps(self) -> int:
        return self.iterations * self.steps_per_iteration


def environment_steps(training: TrainingConfig | None) -> int:
    """How many steps of the game a training takes, if there is one."""
    return 0 if training is None else training.iterations * training.steps_per_iteration


class Trained(NamedTuple):
    """What training comes to: by point of the learning curve, then by replicate."""

    networks: Any  # the last are the finished ones; without the first axis where only those are kept
    infos: Info  # means over the iterations since the point before


class Training(NamedTuple):
    """Where training stands: all that the next chunk needs, and the learning curve so far."""

    states: Any  # by replicate
    chunk: Count
    curve: Trained


def training_stage(
    name: str,
    code: tuple[str, ...],
    settings: Any,
    learner: Learner,
    keys: Key,
    conditions: Callable[[Inputs], Any],
    points: int,
    keep_all: bool = True,
    **more: Any,
) -> Stage:
    """All iterations of a learner in all replicates, looking at them at evenly spaced points.

    Each replicate has a key, and a condition that it is trained under, such as the concentration of its partners. The
    networks are kept at every point, or just the last.
    """
    iterations = _longest_chunk(learner.iterations // points)
    chunks_a_point = learner.iterations // points // iterations

    networks_of_all = _map(learner.networks)
    kept = networks_of_all if keep_all else lambda states: ()

    @_traced_once
    def chunk_of_all(states: Any, conditions: Any) -> tuple[Any, Info]:
        states, infos = _map(lambda s, condition: learner.chunk(s, condition, iterations))(states, conditions)
        return states, {name: jnp.mean(value, axis=1) for name, value in _named(infos).items()}

    def begin(inputs: Inputs) -> Training:
        states = _map(learner.start)(keys, conditions(inputs))
        _, info = jax.eval_shape(chunk_of_all, states, conditions(inputs))
        empty = lambda leaf: jnp.zeros((points, *leaf.shape), leaf.dtype)
        curve = jax.tree.map(empty, Trained(kept(states), info))
        return Training(states, jnp.int32(0), curve)

    def go_on(training: Training, inputs: Inputs) -> tuple[Training, Info]:
        states, info = chunk_of_all(training.states, conditions(inputs))
        point = training.chunk // chunks_a_point
        before = training.curve
        networks = jax.tree.map(lambda curve, n: curve.at[point].set(n), before.networks, kept(states))
        infos = jax.tree.map(lambda curve, i: curve.at[point].add(i / chunks_a_point), before.infos, info)
        return Training(states, training.chunk + 1, Trained(networks, infos)), info

    def outcome(training: Training) -> Trained:
        curve = training.curve
        return curve if keep_all else curve._replace(networks=networks_of_all(training.states))

    return Stage(
        name,
        code,
        settings,
        chunks=points * chunks_a_point,
        begin=begin,
        go_on=go_on,
        outcome=outcome,
        iterations=iterations,
        steps=learner.steps_per_iteration * len(keys),
        shown=("reward", "loss"),
        finite=lambda training: training.states,
        **more,
    )


_traced_once = partial(jax.jit, inline=True)
"""Who asks for shapes, and who then computes, go through the same code: for arguments of the same shapes, once."""


def _map(of_one: Callable) -> Callable:
    """What is written for one replicate, for all of them. One alone is spared the axis, which would be in the way."""

    def of_all(*arguments: Any) -> Any:
        if len(jax.tree.leaves(arguments)[0]) > 1:
            return jax.vmap(of_one)(*arguments)
        alone = of_one(*jax.tree.map(lambda leaf: leaf[0], arguments))
        return jax.tree.map(lambda leaf: leaf[None], alone)

    return of_all


def _named(infos: Any) -> dict[str, Array]:
    """All numbers of an info by name, those in a dictionary within it, too."""
    named: dict[str, Array] = {}
    for name, value in infos._asdict().items():
        named |= value if isinstance(value, dict) else {name: value}
    return named


def _longest_chunk(iterations: int) -> int:
    """The largest number up to the longest chunk that divides the iterations."""
    return max(length for length in range(1, LONGEST_CHUNK + 1) if iterations % length == 0)


class Measuring(NamedTuple):
    """How far a measurement is: which part is next, and what the parts before came to."""

    key: Key  # part of the state and not of the program, which is thus the same for every seed and compiled once
    part: Count
    measured: Any  # the first axis is the part


Measure = Callable[[Inputs, Key, Count], tuple[Any, Info]]
"""Inputs, key, part -> what is kept of it, and what is shown."""


def measuring_stage(
    name: str,
    code: tuple[str, ...],
    settings: Any,
    measure: Measure,
    key: Key,
    parts: int,
    needs: tuple[str, ...],
    **more: Any,
) -> Stage:
    """`measure(inputs, key, part)` for every part, each on its own; what it returns is kept, and its info shown.

    The key, or keys, are the same for all parts: each makes its own of them.
    """
    measure = _traced_once(measure)

    def begin(inputs: Inputs) -> Measuring:
        measured, _ = jax.eval_shape(measure, inputs, key, jnp.int32(0))
        nothing = jax.tree.map(lambda leaf: jnp.zeros((parts, *leaf.shape), leaf.dtype), measured)
        return Measuring(key, jnp.int32(0), nothing)

    def go_on(state: Measuring, inputs: Inputs) -> tuple[Measuring, Info]:
        measured, info = measure(inputs, state.key, state.part)
        together = jax.tree.map(lambda all_parts, now: all_parts.at[state.part].set(now), state.measured, measured)
        return Measuring(state.key, state.part + 1, together), info

    return Stage(name, code, settings, parts, begin, go_on, lambda state: state.measured, needs, **more)


def display_of(family: str, seed: int, *shown: str) -> dict[str, Any]:
    """What people see of a measurement of one seed while it goes on, and when it goes wrong."""
    remedy = "look at the networks it was given: their training must have gone wrong"
    larger_by = "episodes, measures.episodes or task.game.max_steps", "batch or task.game.max_steps"
    return {"family": family, "replicates": (f"seed {seed}",), "shown": shown, "remedy": remedy, "larger_by": larger_by}
