"""Row 6: how far the PPO update is from what the machine can do at best, which is to multiply large matrices.

The tabulated network needs far fewer operations than the pairwise one. Counted in those that the pairwise one would
have needed for the same result, it may well be beyond what the machine can do.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax

from coadapt.benchmarks.amounts import Amounts
from coadapt.benchmarks.counting import ppo_update
from coadapt.benchmarks.machine import multiplying
from coadapt.benchmarks.measuring import Contender, Entry, Measured, Quantity, side_by_side, turns
from coadapt.benchmarks.ours import Arranged, arranged
from coadapt.experiments.salesman.clones import clones, told_nothing
from coadapt.experiments.salesman.world import NO_LABEL
from coadapt.learning import ppo, selfplay
from coadapt.learning.ppo import PPOConfig
from coadapt.runs.progress import Progress

ROW = "limit"
DONE = Quantity("operations done", "GFLOP/s")
SHARE = Quantity("operations done", "of the peak")
WORTH = Quantity("operations that pair by pair would need", "GFLOP/s")
WORTH_SHARE = Quantity("operations that pair by pair would need", "of the peak")

PEAK = "matrix multiplication"


class Peak:
    """The most that this machine does, measured anew in every turn: each turn's shares are of the peak of that turn."""

    def __init__(self, size: int, seconds: float):
        self.size, self.seconds = size, seconds
        self.now = float("nan")

    def __call__(self) -> Measured:
        self.now = multiplying(self.size, self.seconds)
        return {DONE: self.now}


def measure(amounts: Amounts, progress: Progress) -> list[Entry]:
    """The update in both arrangements, beside the multiplication of two large matrices."""
    counted = ppo_update(amounts.world, amounts.self_play)
    size = amounts.matrix_size
    peak = Peak(size, amounts.multiplying)
    tabulated = _update(arranged(amounts.world, True), amounts.self_play)
    pairwise = _update(arranged(amounts.world, False), amounts.self_play)

    def measure_tabulated() -> Measured:
        seconds = _seconds(tabulated)
        done, worth = counted.tabulated / seconds / 1e9, counted.pairwise / seconds / 1e9
        return {DONE: done, SHARE: done / peak.now, WORTH: worth, WORTH_SHARE: worth / peak.now}

    def measure_pairwise() -> Measured:
        done = counted.pairwise / _seconds(pairwise) / 1e9
        return {DONE: done, SHARE: done / peak.now}

    contenders = [  # the peak first, for the others need it
        Contender(PEAK, peak, {"size": size}, f"float32, {size} by {size}, all cores, the fastest of many: the peak"),
        Contender("coadapt's update, tabulated", measure_tabulated, {"operations": counted.tabulated}),
        Contender("coadapt's update, pair by pair", measure_pairwise, {"operations": counted.pairwise}),
    ]
    with progress.stage(ROW, turns(contenders, amounts.repetitions)) as advance:
        entries = side_by_side(ROW, contenders, amounts.repetitions, advance)
    return [replace(entry, ratio=None) for entry in entries]  # shares say it all, and the peak is no rival


def _seconds(work: Callable[[], Any]) -> float:
    """That a piece of work takes."""
    started = time.perf_counter()
    jax.block_until_ready(work())
    return time.perf_counter() - started


def _update(world: Arranged, training: PPOConfig) -> Callable[[], Any]:
    """All epochs over the experience of one iteration, without collecting it."""
    state = jax.jit(clones(world, training, (1.0, 2.0)).start)(jax.random.key(0), ()).learner

    @jax.jit
    def experience(state: ppo.PPOState) -> ppo.Experience:
        transitions, labels = selfplay.collect(
            jax.random.key(1), world.training_game, told_nothing, NO_LABEL, state.policy.network, training
        )
        return jax.vmap(ppo.assess, (0, 0, None, None))(transitions, labels, state.critic.network, training)[0]

    learnt_from = experience(state)
    improve = jax.jit(
        lambda state, learnt_from: ppo.improve(jax.random.key(2), state, learnt_from, told_nothing, training)[0]
    )
    return lambda: improve(state, learnt_from)
