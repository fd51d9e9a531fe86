"""Training a method many times over: all its runs as one program, a chunk of iterations at a time."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Float, Int, Key, Scalar
from coadapt.progress import Progress

SHOWN = ("reward", "loss")
"""Of all that a chunk tells, what the progress bar shows."""


class Runs(NamedTuple):
    """One run a row: the concentration of its partners, its seed, and the key that all its chances come from."""

    alphas: Float[Array, "runs"]
    seeds: Int[Array, "runs"]
    keys: Key


def all_runs(alphas: tuple[float, ...], seeds: tuple[int, ...]) -> Runs:
    """Every concentration with every seed. A run's key depends on the two alone, not on which others there are."""
    pairs = [(alpha, seed) for alpha in alphas for seed in seeds]
    each_alpha = jnp.array([alpha for alpha, _ in pairs], jnp.float32)
    each_seed = jnp.array([seed for _, seed in pairs], jnp.uint32)
    bits = jax.lax.bitcast_convert_type(each_alpha, jnp.uint32)
    keys = jax.vmap(lambda seed, alpha: jax.random.fold_in(jax.random.key(seed), alpha))(each_seed, bits)
    return Runs(each_alpha, each_seed, keys)


def keys_for(runs: Runs, purpose: str) -> Key:
    """The keys of all runs for one purpose, such as the training of a network; each purpose has keys of its own."""
    number = zlib.crc32(purpose.encode())
    return jax.vmap(lambda key: jax.random.fold_in(key, number))(runs.keys)


@dataclass(frozen=True)
class Stage:
    """Something to train, written for one run."""

    name: str
    start: Callable[[Key], Any]  # -> state
    chunk: Callable[[Any, Scalar, int], tuple[Any, Any]]  # state, alpha, iterations -> state, info
    networks: Callable[[Any], Any]  # state -> what is kept of it
    iterations: int
    steps_per_iteration: int

    @property
    def environment_steps(self) -> int:
        return self.iterations * self.steps_per_iteration


class Trained(NamedTuple):
    """What a stage comes to: by point of the learning curve, then by run."""

    networks: list[Any]  # after each chunk; the last are the finished ones
    infos: list[Any]  # of each chunk: means over its iterations


def train(stage: Stage, runs: Runs, points: int, progress: Progress) -> Trained:
    """All iterations of a stage, stopping at evenly spaced points to look."""
    chunk = stage.iterations // points

    @jax.jit
    def go_on(state, alphas):
        state, info = jax.vmap(lambda s, alpha: stage.chunk(s, alpha, chunk))(state, alphas)
        return state, jax.tree.map(lambda leaf: jnp.mean(leaf, axis=1), info)

    state = jax.jit(jax.vmap(stage.start))(keys_for(runs, stage.name))
    trained = Trained([], [])
    with progress.stage(f"training {stage.name}", points) as advance:
        for _ in range(points):
            state, info = jax.block_until_ready(go_on(state, runs.alphas))
            trained.networks.append(stage.networks(state))
            trained.infos.append(info)
            advance(**{name: float(jnp.mean(value)) for name, value in info._asdict().items() if name in SHOWN})
    return trained
