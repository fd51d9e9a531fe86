"""Row 6: how far the PPO update is below the machine's roofline: the most it can do, multiplying large matrices.

The tabulated network needs far fewer operations than the pairwise one. Counted in those that the pairwise one would
have needed for the same result, it may well be beyond what the machine can do.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax

from benchmarks.flops import ppo_update
from benchmarks.machine import multiplying
from benchmarks.measuring import Contender, Entry, Measured, Quantity, side_by_side, turns
from benchmarks.ours import ArrangedTask, arranged
from benchmarks.sizes import Sizes
from coadapt.learning import ppo, selfplay
from coadapt.learning.ppo import PPOConfig
from coadapt.pipeline.self_play import self_play, untold
from coadapt.pipeline.task import new_policy, no_label
from coadapt.players import prepared
from coadapt.runs.progress import Progress

ROW = "roofline"
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


def measure(sizes: Sizes, progress: Progress) -> list[Entry]:
    """The update in both arrangements, beside the multiplication of two large matrices."""
    flops = ppo_update(sizes.task, sizes.self_play)
    size = sizes.matrix_size
    peak = Peak(size, sizes.multiplying)
    tabulated = _update(arranged(sizes.task, True), sizes.self_play)
    pairwise = _update(arranged(sizes.task, False), sizes.self_play)

    def measure_tabulated() -> Measured:
        seconds = _seconds(tabulated)
        done, worth = flops.tabulated / seconds / 1e9, flops.pairwise / seconds / 1e9
        return {DONE: done, SHARE: done / peak.now, WORTH: worth, WORTH_SHARE: worth / peak.now}

    def measure_pairwise() -> Measured:
        done = flops.pairwise / _seconds(pairwise) / 1e9
        return {DONE: done, SHARE: done / peak.now}

    contenders = [  # the peak first, for the others need it
        Contender(PEAK, peak, {"size": size}, f"float32, {size} by {size}, all cores, the fastest of many: the peak"),
        Contender("coadapt's update, tabulated", measure_tabulated, {"operations": flops.tabulated}),
        Contender("coadapt's update, pair by pair", measure_pairwise, {"operations": flops.pairwise}),
    ]
    with progress.stage(ROW, turns(contenders, sizes.repetitions)) as advance:
        entries = side_by_side(ROW, contenders, sizes.repetitions, advance)
    return [replace(entry, ratio=None) for entry in entries]  # shares say it all, and the peak is no rival


def _seconds(work: Callable[[], Any]) -> float:
    """That a piece of work takes."""
    started = time.perf_counter()
    jax.block_until_ready(work())
    return time.perf_counter() - started


def _update(task: ArrangedTask, training: PPOConfig) -> Callable[[], Any]:
    """All epochs over the experience of one iteration, without collecting it."""
    state = jax.jit(self_play(training, task, new_policy, untold).start)(jax.random.key(0), ())

    @jax.jit
    def experience(state: ppo.PPOState) -> ppo.Experience:
        transitions, labels = selfplay.collect(
            jax.random.key(1), task.learning_game, untold, no_label(task), state.policy.network, training
        )
        critic = prepared(state.critic.network, transitions.ended.size)
        return jax.vmap(ppo.assess, (0, 0, None, None))(transitions, labels, critic, training)[0]

    learnt_from = experience(state)
    improve = jax.jit(
        lambda state, learnt_from: ppo.improve(jax.random.key(2), state, learnt_from, untold, training)[0]
    )
    return lambda: improve(state, learnt_from)
