"""The machine that was measured on, and how fast it multiplies matrices: no training can do more."""

import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.client import PeerFailed, Process
from benchmarks.contenders import cores
from coadapt.storage.provenance import commit, now


def describe(matrix_size: int, seconds: float = 2.0) -> dict[str, Any]:
    """All that a reader needs to judge the numbers. The load is what others were doing before we began."""
    return {
        "processor": processor(),
        "cores": cores(),
        "memory_gb": round(_memory() / 1e9, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "load_average_at_start": [round(load, 2) for load in os.getloadavg()],
        "matrix_multiplication": peaks(matrix_size, seconds),
        "commit": commit(),
        "date": now(),
    }


def peaks(size: int, seconds: float) -> dict[str, float | None]:
    """The most GFLOP/s in float32 that one core and all cores came to."""
    return {"one_core": _peak(size, seconds, 1), "all_cores": _peak(size, seconds, cores())}


def _peak(size: int, seconds: float, cores_used: int) -> float | None:
    """In a process of its own, for a library that has started its threads keeps them."""
    threads = {name: str(cores_used) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    try:
        with _confined_to(cores_used):
            process = Process("matrix multiplication", __name__, settings=threads)
        with process:
            return process.ask({"size": size, "seconds": seconds}, 60 + 10 * seconds)["gflops"]
    except PeerFailed:
        return None


@contextmanager
def _confined_to(number: int) -> Iterator[None]:
    """Processes that are started within it have so many cores, where the system lets us say so."""
    if sys.platform != "linux":
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:number])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """How fast this process multiplies."""
    return {"gflops": multiplying(request["size"], request["seconds"])}


def multiplying(size: int, seconds: float) -> float:
    """The most GFLOP/s in float32 that multiplying matrices came to, by NumPy or by XLA, in so many seconds."""
    one, other = np.random.default_rng(0).standard_normal((2, size, size), np.float32)
    compiled, arrays = jax.jit(jnp.matmul), (jnp.asarray(one), jnp.asarray(other))
    ways = (lambda: one @ other, lambda: jax.block_until_ready(compiled(*arrays)))
    best = min(fastest(way, seconds / len(ways)) for way in ways)
    return 2 * size**3 / best / 1e9


def fastest(work: Any, seconds: float) -> float:
    """The shortest time a piece of work took, of as many as fit into so many seconds; the first is not counted."""
    work()
    times, began = [], time.perf_counter()
    while not times or time.perf_counter() - began < seconds:
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def processor() -> str:
    """What the processor calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
