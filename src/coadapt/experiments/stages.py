"""What an experiment consists of: stages, each a piece of work in equal chunks, each building on those before it.

A stage says what is computed and nothing of how it is run, stored or shown; that is `running`'s. So the code behind a
stage, which its outcome is known by, is the code that computes.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Count, Float, Int, Key

Inputs = dict[str, Any]
"""The outcomes of the stages before, by name."""
Info = dict[str, Float[Array, "replicates"]]
"""What a person wants to see of a chunk, by name, for each replicate."""

LONGEST_CHUNK = 25
"""How many iterations are made in one go at the most. Between two chunks one can stop."""


@dataclass(frozen=True)
class Stage:
    """A piece of work whose outcome depends on nothing but what is named here."""

    name: str
    code: str  # the module that says what is computed
    settings: Any  # the part of the configuration that matters for it
    chunks: int
    begin: Callable[[Inputs], Any]  # -> state
    go_on: Callable[[Any, Inputs], tuple[Any, Info]]  # one chunk: state -> state
    outcome: Callable[[Any], Any]  # of the last state
    needs: tuple[str, ...] = ()  # the stages whose outcomes it is given
    iterations: int = 1  # in a chunk
    steps: int = 0  # environment steps in an iteration, of all replicates together
    replicates: tuple[str, ...] = ()  # what a person calls each of them
    shown: tuple[str, ...] = ()  # which numbers of its info matter the most
    finite: Callable[[Any], Any] = lambda state: ()  # of a state, what must be finite numbers
    remedy: str = ""  # what to look at when a number is not finite
    larger_by: tuple[str, str] = ("its settings", "its settings")  # which ones its state, and its work, grow with


class Replicates(NamedTuple):
    """What is trained side by side in one program, a row each: the concentration of the partners, and a seed."""

    alphas: Float[Array, "replicates"]
    seeds: Int[Array, "replicates"]
    keys: Key  # that all its chances come from

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(
            f"alpha {alpha:g}, seed {seed}"
            for alpha, seed in zip(self.alphas.tolist(), self.seeds.tolist(), strict=True)
        )


def all_replicates(alphas: tuple[float, ...], seeds: tuple[int, ...]) -> Replicates:
    """Every concentration with every seed. Its key depends on the two alone, not on which others there are."""
    pairs = [(alpha, seed) for alpha in alphas for seed in seeds]
    each_alpha = jnp.array([alpha for alpha, _ in pairs], jnp.float32)
    each_seed = jnp.array([seed for _, seed in pairs], jnp.uint32)
    bits = jax.lax.bitcast_convert_type(each_alpha, jnp.uint32)
    keys = jax.vmap(lambda seed, alpha: jax.random.fold_in(jax.random.key(seed), alpha))(each_seed, bits)
    return Replicates(each_alpha, each_seed, keys)


def keys_for(replicates: Replicates, purpose: str) -> Key:
    """The keys of all replicates for one purpose, such as the training of a network; each purpose has its own."""
    return jax.vmap(lambda key: _for_purpose(key, purpose))(replicates.keys)


def key_for(seed: int, purpose: str) -> Key:
    """The key of a seed alone for one purpose."""
    return _for_purpose(jax.random.key(seed), purpose)


def _for_purpose(key: Key, purpose: str) -> Key:
    return jax.random.fold_in(key, zlib.crc32(purpose.encode()))


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
    code: str,
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

    kept = learner.networks if keep_all else lambda states: ()

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
        return curve if keep_all else curve._replace(networks=learner.networks(training.states))

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


def measuring_stage(
    name: str,
    code: str,
    settings: Any,
    measure: Callable[[Inputs, Key, Count], tuple[Any, Info]],
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
