"""An experiment that takes no time: two random walks, the second drawn to where the first ended, and a look at both.

Everything about running, storing and going on is the same as for a real one. As a script it is a process to send
signals to: python -m tests.runs.toy FOLDER CONFIG
"""

import json
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.pipeline.stages import Learner, measuring_stage, training_stage
from coadapt.runs.executor import RunOptions
from coadapt.runs.experiment import Experiment, Report
from coadapt.runs.launch import carry_out
from coadapt.runs.progress import Progress
from coadapt.runs.stage import Inputs, Stage
from coadapt.storage.files import write_json
from coadapt.tables import Table

WALKERS = 3
LOST_AT = 0
"""The step at which a walker leaves the numbers, if any."""


@dataclass(frozen=True)
class ToyConfig:
    """`stride` concerns the first walk alone, `pull` the second; `patience` is how much is computed for nothing."""

    stride: float = 1.0
    pull: float = 0.5
    iterations: int = 20
    points: int = 4
    patience: int = 0
    first_walker: int = 0  # the walkers are counted from here

    def __post_init__(self):
        if not self.stride > 0:
            raise ValueError(f"stride must be positive, not {self.stride}")


class Walk(NamedTuple):
    key: Any
    place: Any
    memory: dict[str, Any]  # as an optimiser or a player would have


class WalkInfo(NamedTuple):
    place: Any
    loss: Any


def _wait(patience: int):
    """Some work that the compiler cannot leave out, and whose result is zero."""
    return 0 * jax.lax.fori_loop(0, patience, lambda _, x: jnp.sin(x + 1), jnp.float32(0))


def walker(stride: float, iterations: int, patience: int) -> Learner:
    def start(key, home):
        return Walk(key, jnp.float32(0), {"steps": jnp.int32(0), "longest": jnp.float32(0)})

    def chunk(walk: Walk, home: Any, iterations: int):
        def step(walk: Walk, _):
            key, now = jax.random.split(walk.key)
            move = stride * jax.random.normal(now) + 0.1 * (home - walk.place) + _wait(patience)
            move = jnp.where(walk.memory["steps"] == LOST_AT, jnp.nan, move) if LOST_AT else move
            memory = {"steps": walk.memory["steps"] + 1, "longest": jnp.maximum(walk.memory["longest"], jnp.abs(move))}
            return Walk(key, walk.place + move, memory), WalkInfo(walk.place, (home - walk.place) ** 2)

        return jax.lax.scan(step, walk, length=iterations)

    return Learner(start, chunk, lambda walk: {"place": walk.place}, iterations, steps_per_iteration=1)


@cache  # the same stages for the same configuration, so that nothing is compiled twice in one process
def stages(config: ToyConfig) -> list[Stage]:
    keys = jax.random.split(jax.random.key(7), WALKERS)
    names = tuple(f"walker {number}" for number in range(config.first_walker, config.first_walker + WALKERS))
    more: dict[str, Any] = {"replicates": names, "remedy": "look at stride"}
    settings = {"stride": config.stride, "iterations": config.iterations, "points": config.points}
    learner = walker(config.stride, config.iterations, config.patience)

    def to_where_it_ended(inputs: Inputs):
        return config.pull * inputs["first"].networks["place"][-1]

    def look(inputs: Inputs, key: Any, part: Any):
        del key
        places = [inputs[name].networks["place"][part] for name in ("first", "second")]
        return jnp.stack(places), {"distance": jnp.abs(places[0] - places[1])}

    return [
        training_stage(
            "first", (__name__,), settings, learner, keys, lambda _: jnp.zeros(WALKERS), config.points, **more
        ),
        training_stage(
            "second",
            (__name__,),
            settings | {"pull": config.pull},
            learner,
            keys,
            to_where_it_ended,
            config.points,
            needs=("first",),
            **more,
        ),
        measuring_stage(
            "look", (__name__,), {"points": config.points}, look, keys, config.points, ("first", "second"), **more
        ),
    ]


def report(config: ToyConfig, outcomes: Inputs, folder: Path) -> Report:
    places = outcomes["look"].tolist()
    write_json(folder / "summary.json", {"places": places})
    last = places[-1][0][0]
    return Report(
        [Table("Places", ["", "first"], [["walker 0", f"{last:.2f}"]])], {"first place": last}, "Look around."
    )


TOY = Experiment("toy", ToyConfig, stages, report)


class Listener(Progress):
    """Hears all that is said."""

    def __init__(self):
        self.heard: list[str] = []

    def say(self, text: str) -> None:
        self.heard.append(text)


def run_toy(folder: Path, config: ToyConfig | None = None, **options: Any) -> list[str]:
    """Carry it out with a checkpoint after every chunk; what was said."""
    listener = Listener()
    carry_out(TOY, config or ToyConfig(), folder, RunOptions(progress=listener, checkpoint_every=0, **options))
    return listener.heard


def bits(folder: Path) -> dict[str, bytes]:
    """All of a run that must not depend on how often it was stopped: final states, outcomes, metrics, results."""
    files = [*(folder / "checkpoints").glob("*.safetensors"), *(folder / "metrics").iterdir()]
    files += [folder / "results/summary.json"]
    store = folder.parent / "artefacts"
    files += [*store.glob("*/outcome.safetensors"), *store.glob("*/metrics.jsonl")]
    return {str(file.relative_to(folder.parent)): file.read_bytes() for file in files if "damaged" not in file.name}


def main(folder: str, config: str = "{}") -> None:
    """As a command would carry it out."""
    import signal

    from coadapt.cli.answers import say_stopped, stops_explained
    from coadapt.runs.progress import Lines

    signal.signal(signal.SIGINT, signal.default_int_handler)  # even if the tests are a job in the background
    with stops_explained(Path(folder)):
        options = RunOptions(Lines(seconds_between=0), checkpoint_every=0, stopped=say_stopped)
        carry_out(TOY, ToyConfig(**json.loads(config)), Path(folder), options)


if __name__ == "__main__":
    main(*sys.argv[1:])
