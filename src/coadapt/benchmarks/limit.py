"""Row 6: how far the PPO update is from what the machine can do at best, which is to multiply large matrices.

The tabulated network needs far fewer operations than the pairwise one. Counted in those that the pairwise one would
have needed for the same result, it may well be beyond what the machine can do.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp

from coadapt.benchmarks.amounts import Amounts
from coadapt.benchmarks.counting import ppo_update
from coadapt.benchmarks.machine import fastest
from coadapt.benchmarks.measuring import Contender, Entry, Measured, Quantity, side_by_side, turns
from coadapt.benchmarks.ours import Arranged, arranged
from coadapt.experiments.salesman.clones import clones, told_nothing
from coadapt.experiments.salesman.world import NO_LABEL
from coadapt.learning import ppo, selfplay
from coadapt.learning.ppo import PPOConfig
from coadapt.progress import Progress

ROW = "limit"
DONE = Quantity("operations done", "GFLOP/s")
SHARE = Quantity("operations done", "of the peak")
WORTH = Quantity("operations that pair by pair would need", "GFLOP/s")
WORTH_SHARE = Quantity("operations that pair by pair would need", "of the peak")

PEAK = "matrix multiplication"


def measure(amounts: Amounts, progress: Progress) -> list[Entry]:
    """The update in both arrangements, beside the multiplication of two large matrices."""
    counted = ppo_update(amounts.world, amounts.self_play)
    multiply = _multiplication(amounts.matrix_size)
    last_peak = [float("nan")]

    def peak() -> Measured:
        last_peak[0] = 2 * amounts.matrix_size**3 / fastest(multiply, amounts.multiplying) / 1e9
        return {DONE: last_peak[0]}

    def update(tabulated: bool) -> Callable[[], Measured]:
        operations = counted.tabulated if tabulated else counted.pairwise
        seconds = _timed(_update(arranged(amounts.world, tabulated), amounts.self_play))

        def measured() -> Measured:
            took = seconds()
            done, worth = operations / took / 1e9, counted.pairwise / took / 1e9
            found = {DONE: done, SHARE: done / last_peak[0]}
            return found | ({WORTH: worth, WORTH_SHARE: worth / last_peak[0]} if tabulated else {})

        return measured

    size = amounts.matrix_size
    contenders = [
        # First, for each turn's shares are of the peak of that turn.
        Contender(PEAK, peak, {"size": size}, f"float32, {size} by {size}, all cores, the fastest of many: the peak"),
        Contender("coadapt's update, tabulated", update(True), {"operations": counted.tabulated}),
        Contender("coadapt's update, pair by pair", update(False), {"operations": counted.pairwise}),
    ]
    with progress.stage(ROW, turns(contenders, amounts.repetitions)) as advance:
        entries = side_by_side(ROW, contenders, amounts.repetitions, advance)
    return [replace(entry, ratio=None) for entry in entries]  # shares say it all, and the peak is no rival


def _timed(work: Callable[[], Any]) -> Callable[[], float]:
    """The seconds that a piece of work takes."""

    def seconds() -> float:
        started = time.perf_counter()
        jax.block_until_ready(work())
        return time.perf_counter() - started

    return seconds


def _multiplication(size: int) -> Callable[[], Any]:
    one, other = jax.random.normal(jax.random.key(0), (2, size, size))
    multiply = jax.jit(jnp.matmul)
    return lambda: jax.block_until_ready(multiply(one, other))


def _update(world: Arranged, training: PPOConfig) -> Callable[[], Any]:
    """All epochs over the experience of one iteration, without collecting it."""
    state = jax.jit(clones(world, training, (1.0, 2.0)).start)(jax.random.key(0), ()).learner

    @jax.jit
    def experience(state: ppo.PPOState) -> ppo.Experience:
        moments, labels = selfplay.collect(
            jax.random.key(1), world.training_game, told_nothing, NO_LABEL, state.policy.network, training
        )
        return jax.vmap(ppo.assess, (0, 0, None, None))(moments, labels, state.critic.network, training)[0]

    learnt_from = experience(state)
    improve = jax.jit(
        lambda state, learnt_from: ppo.improve(jax.random.key(2), state, learnt_from, told_nothing, training)[0]
    )
    return lambda: improve(state, learnt_from)
