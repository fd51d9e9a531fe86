"""Making the stages of a run one after the other: what is finished is taken from the shelf, the rest is worked on.

Between two chunks of work everything the next one needs is in one tree of arrays, and now and then that tree goes to
the disk. So a run can be stopped, killed or cut off from its disk at any moment: it goes on from its newest whole
checkpoint and ends with the same bits as if nothing had happened.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import jax
import numpy as np

from coadapt.configs.data import plain
from coadapt.experiments.planning import Planned, Report
from coadapt.experiments.stages import Inputs, Stage
from coadapt.interruption import Interrupted, Interruption
from coadapt.progress import Progress, Silent
from coadapt.storage import runs
from coadapt.storage.artefacts import Artefact
from coadapt.storage.checkpoints import Checkpoint
from coadapt.storage.files import Foreign, StorageError, write_json
from coadapt.storage.fingerprint import versions
from coadapt.storage.journal import Journal
from coadapt.storage.provenance import commit
from coadapt.storage.runs import Run
from coadapt.storage.sealed import checksum
from coadapt.tracking import TRACKERS, Tracker

CHECKPOINT_EVERY = 30.0
"""Seconds. A checkpoint takes some hundredths of one."""


ORIGIN = ("commit", "finished", "seconds")
"""What results tell of the making of each stage."""


class Diverged(Exception):
    """A number that should be finite is not."""


@dataclass(frozen=True)
class Manner:
    """How a run is carried out. Nothing of it changes what a stage comes to."""

    progress: Progress = field(default_factory=Silent)
    checkpoint_every: float = CHECKPOINT_EVERY  # seconds
    track: str | None = None
    fresh: bool = False  # make everything again, whatever is there already
    fork: bool = False  # go on in a run of its own, whatever has changed


class Worker:
    """Makes the stages of one run in turn, and keeps its folder up to date."""

    def __init__(self, run: Run, manner: Manner, interruption: Interruption):
        self.run, self.manner, self.interruption = run, manner, interruption
        self.tracker: Tracker | None = None
        self.seconds = {"working": 0.0, "storing": 0.0}
        self.origins: dict[str, Any] = {}  # which artefact each stage came to, and what made it
        runs.tidy(run, self.report)
        run.report_bad_metrics(self.report)

    def report(self, text: str) -> None:
        """Something that the person should know, now and later."""
        self.manner.progress.say(text)
        self.run.log(text)

    @contextmanager
    def tracking(self) -> Iterator[None]:
        """Within it metrics also go where the person wants to see them."""
        if self.manner.track is None:
            yield
            return
        tracker = TRACKERS[self.manner.track](self.run.folder, self.run.name, self.run.config)
        self.tracker = tracker
        try:
            yield
        finally:
            tracker.close()

    def make_all(self, planned: Sequence[Planned]) -> Inputs:
        """The outcomes of all stages. If something stops them, the run remembers what."""
        outcomes: Inputs = {}
        self.chunks_before, self.all_chunks = 0, sum(each.stage.chunks for each in planned)
        for each in planned:
            stage = each.stage
            try:
                outcomes[stage.name] = self.make(each, {need: outcomes[need] for need in stage.needs})
            except (Interrupted, Diverged, StorageError) as why:
                state = "interrupted" if isinstance(why, Interrupted) else "failed"
                self.run.log(f"{stage.name}: {state}: {why}")
                self.run.set_state(state, **self._place(stage, self.done), note=str(why))
                raise
            self.chunks_before += stage.chunks
        return outcomes

    def make(self, planned: Planned, inputs: Inputs) -> Any:
        """One stage: taken from the shelf if it was finished before, made otherwise. Its last checkpoint remains."""
        self.done = 0
        name = planned.stage.name
        artefact = self._on_the_shelf(planned)
        if artefact is None:
            artefact = self._work(planned, inputs)
        else:
            self.report(f"{name}: reusing {planned.artefact}, finished {artefact.about.get('finished')}.")
        self.origins[name] = {"artefact": planned.artefact} | {n: artefact.about.get(n) for n in ORIGIN}
        self.run.set_metrics(name, artefact.metrics)
        self.run.checkpoints.keep_last(name, 1)
        self.interruption.heed()
        return artefact.tree

    def _on_the_shelf(self, planned: Planned) -> Artefact | None:
        """The finished stage, if there is one; a run that makes everything afresh takes only what it made itself."""
        artefact = self.run.artefacts.find(planned.artefact, planned.outcome, self.report)
        if artefact is not None and self.run.fresh and artefact.about.get("run") != self.run.id:
            return None
        return artefact

    def _work(self, planned: Planned, inputs: Inputs) -> Artefact:
        """A stage from where it stands to its end, and onto the shelf."""
        stage = planned.stage
        state, self.done = self._start(planned, inputs)
        self._set_running(stage)
        state = self._chunks(planned, inputs, state)
        return self._shelve(planned, state)

    def _start(self, planned: Planned, inputs: Inputs) -> tuple[Any, int]:
        """The state to go on from, and how many chunks are done."""
        stage = planned.stage
        checkpoint = self.run.checkpoints.newest(stage.name, lambda about: self._accept(planned, about))
        self._cut_metrics_back(stage, checkpoint)
        if checkpoint is None:
            return jax.jit(stage.begin)(inputs), 0
        done, total = checkpoint.done * stage.iterations, stage.chunks * stage.iterations
        self.report(f"{stage.name}: going on after {done:,} of {total:,} iterations.")
        return checkpoint.tree, checkpoint.done

    def _cut_metrics_back(self, stage: Stage, checkpoint: Checkpoint | None) -> None:
        """What was written after the checkpoint will be written again."""
        done = checkpoint.done if checkpoint else 0
        kept = self.run.metrics_until(stage.name, done)
        self.run.set_metrics(stage.name, kept)
        if checkpoint and checkpoint.about["metrics"] != checksum(kept):
            self.report(f"{self.run.metrics(stage.name)}: lines are missing or were changed after they were written.")

    def _accept(self, planned: Planned, about: dict[str, Any]) -> Any:
        """What a checkpoint should look like; one that other code has made is refused."""
        if about["artefact"] == planned.artefact:
            return planned.state
        now = versions()
        others = [f"{name} was {there}" for name, there in about["packages"].items() if now.get(name) != there]
        raise Foreign(
            f"the code that makes {planned.stage.name} has changed since its checkpoint"
            f"{''.join(f', {other}' for other in others)}; --fork goes on from the checkpoint in a new run, "
            "--fresh makes everything again"
        )

    def _chunks(self, planned: Planned, inputs: Inputs, state: Any) -> Any:
        """Chunk after chunk, with checkpoints in between."""
        stage = planned.stage
        go_on = jax.jit(stage.go_on)
        stored_at, stored_done = time.monotonic(), self.done
        metrics, times = Journal(self.run.metrics(stage.name)), Journal(self.run.times)
        total, done = stage.chunks * stage.iterations, self.done * stage.iterations
        with metrics, times, self.manner.progress.stage(stage.name, total, done, stage.steps) as advance:
            while self.done < stage.chunks:
                with self._timed("working") as watch:
                    state, info = jax.block_until_ready(go_on(state, inputs))
                self.done += 1
                numbers = {name: np.asarray(value) for name, value in info.items()}
                means = {name: float(values.mean()) for name, values in numbers.items()}
                advance(stage.iterations, **{name: means[name] for name in stage.shown if name in means})
                with self._timed("storing"):
                    metrics.append(_metrics_line(stage, self.done, numbers))
                    times.append({"stage": stage.name, "done": self.done, "seconds": watch["seconds"], "at": _now()})
                if self.tracker is not None:
                    self.tracker.log(stage.name, self.done * stage.iterations, means)
                _check_finite(stage, self.done, numbers, stored_done)
                due = time.monotonic() - stored_at >= self.manner.checkpoint_every
                if due or self.done == stage.chunks or self.interruption.signal is not None:
                    with self._timed("storing"):
                        metrics.sync()
                        self._checkpoint(planned, state)
                    stored_at, stored_done = time.monotonic(), self.done
                self.interruption.heed()
        return state

    @contextmanager
    def _timed(self, purpose: str) -> Iterator[dict[str, float]]:
        """Within it the time passes for this purpose."""
        watch: dict[str, float] = {}
        began = time.monotonic()
        yield watch
        watch["seconds"] = round(time.monotonic() - began, 4)
        self.seconds[purpose] += watch["seconds"]

    def _checkpoint(self, planned: Planned, state: Any) -> None:
        stage = planned.stage
        about = {"artefact": planned.artefact, "chunks": stage.chunks, "iterations": stage.iterations}
        about |= {"packages": versions(), "metrics": checksum(self.run.metrics(stage.name).read_bytes())}
        self.run.checkpoints.save(stage.name, self.done, state, about)
        self._set_running(stage)

    def _shelve(self, planned: Planned, state: Any) -> Artefact:
        """A finished stage goes where all runs find it."""
        stage = planned.stage
        about = {"stage": stage.name, "run": self.run.id, "experiment": self.run.experiment, "finished": _now()}
        about |= {"settings": plain(stage.settings), "commit": commit(), "packages": versions()}
        about["seconds"] = round(self.run.seconds_of(stage.name), 1)
        metrics = self.run.metrics(stage.name).read_bytes()
        artefact = Artefact(jax.device_get(stage.outcome(state)), metrics, about)
        with self._timed("storing"):
            self.run.artefacts.keep(planned.artefact, artefact)
        self.run.log(f"{stage.name}: finished as {planned.artefact}")
        return artefact

    def _set_running(self, stage: Stage) -> None:
        self.run.set_state("running", **self._place(stage, self.done))

    def _place(self, stage: Stage, done: int) -> dict[str, Any]:
        return {"stage": stage.name, "progress": round((self.chunks_before + done) / self.all_chunks, 4)}

    def finish(self, report: Report) -> None:
        """The run is done; what it cost to lose nothing is told."""
        working, storing = self.seconds["working"], self.seconds["storing"]
        if working:
            self.report(f"Storing took {storing:.2f} s beside {working:.1f} s of work: {storing / working:.2%}.")
        write_json(self.run.results / "provenance.json", self.run.provenance | {"stages": self.origins})
        self.run.set_state("finished", progress=1.0, headline=report.headline)
        self.run.log("finished")


def _metrics_line(stage: Stage, done: int, numbers: dict[str, np.ndarray]) -> dict[str, Any]:
    """What a chunk looked like, in the shortest digits that are still exact."""
    exact = lambda values: [float(str(value)) for value in np.atleast_1d(values)]
    place = {"done": done, "iteration": done * stage.iterations}
    return place | plain({name: exact(values) for name, values in numbers.items()})


def _check_finite(stage: Stage, done: int, numbers: dict[str, np.ndarray], stored: int) -> None:
    """Stop where a number is not finite any more: whatever followed would be nonsense."""
    for name, values in numbers.items():
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            who = f" ({stage.replicates[bad[0]]})" if stage.replicates else ""
            where = f"the last good checkpoint, of iteration {stored * stage.iterations:,}, is kept" if stored else ""
            raise Diverged(
                f"{name} of {stage.name} is {values[bad[0]]} after {done * stage.iterations:,} iterations{who}; "
                f"{where or 'there was no checkpoint yet'}; {stage.remedy}"
            )


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"
