"""Row 5: one decision of a pretrained agent, as a server would ask for it: one observation in, one action out."""

import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from benchmarks.measuring import Contender, Entry, Measured, Quantity, side_by_side, turns
from benchmarks.sizes import Sizes
from coadapt.catalogue import find
from coadapt.games.game import MAIN
from coadapt.players import Seen, seen_first
from coadapt.runs.progress import Progress

ROW = "decision"
AGENT = "salesman/behaviour-conditioned"
MEDIAN = Quantity("one decision, 50th percentile", "ms", more_is_better=False)
SLOWEST = Quantity("one decision, 99th percentile", "ms", more_is_better=False)

Decide = Callable[[Any, Any], tuple[Any, Any]]
"""What is seen and memory in; logits and memory out."""


def measure(sizes: Sizes, progress: Progress) -> list[Entry]:
    """Predictor and policy together, compiled in two ways."""
    saved = find(AGENT)
    player = jax.block_until_ready(saved.player())
    compiled = jax.jit(lambda player, seen, memory: player.decide(seen, memory)[:2])
    within = jax.jit(lambda seen, memory: player.decide(seen, memory)[:2])
    as_argument: Decide = lambda seen, memory: compiled(player, seen, memory)
    shown = _shown(saved.task.game, 100)
    start = jax.tree.map(np.asarray, player.start(jax.random.key(0)))
    settings = {"agent": AGENT, "calls": sizes.decisions}
    timed = lambda decide: lambda: _percentiles(_times(decide, shown, start, sizes.decisions))
    taking_part = [
        Contender("coadapt, networks compiled in", timed(within), settings, "for a server with one agent"),
        Contender("coadapt, networks as arguments", timed(as_argument), settings, "for a server with many"),
    ]
    with progress.stage(ROW, turns(taking_part, sizes.repetitions)) as advance:
        return side_by_side(ROW, taking_part, sizes.repetitions, advance)


def _shown(game, number: int) -> list[Seen]:
    """As they come from outside: arrays of NumPy."""
    keys = jax.random.split(jax.random.key(1), number)
    return [jax.tree.map(np.asarray, seen_first(game, game.reset(key), MAIN)) for key in keys]


def _times(decide: Decide, shown: list[Seen], memory: Any, calls: int) -> np.ndarray:
    """The seconds of each call, from the observation to the action as a number."""
    seconds = np.empty(calls)
    for call in range(calls):
        started = time.perf_counter()
        logits, memory = decide(shown[call % len(shown)], memory)
        int(np.argmax(logits))
        seconds[call] = time.perf_counter() - started
    return seconds


def _percentiles(seconds: np.ndarray) -> Measured:
    middle, slow = np.percentile(1e3 * seconds, [50, 99])
    return {MEDIAN: float(middle), SLOWEST: float(slow)}
