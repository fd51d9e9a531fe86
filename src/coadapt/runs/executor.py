"""Making the stages of a run one after the other: what is finished is taken from the store, the rest is worked on.

Between two chunks of work everything the next one needs is in one tree of arrays, and now and then that tree goes to
the disk. So a run can be stopped, killed or cut off from its disk at any moment: it goes on from its newest whole
checkpoint and ends with the same bits as if nothing had happened.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np

from coadapt.configs.data import plain
from coadapt.runs.experiment import Planned, Report
from coadapt.runs.initial import check_size
from coadapt.runs.interruption import Interrupted, Interruption
from coadapt.runs.progress import Progress
from coadapt.runs.stage import Info, Inputs, Stage
from coadapt.runs.times import times_told
from coadapt.runs.tracking import TRACKERS, Guarded
from coadapt.storage import runs, trees
from coadapt.storage.artefacts import Artefact
from coadapt.storage.checkpoints import CheckpointMeta
from coadapt.storage.files import Damaged, Incompatible, make_folder, write_json, write_text
from coadapt.storage.fingerprint import versions
from coadapt.storage.journal import Journal, read_journal
from coadapt.storage.lock import TakenOver
from coadapt.storage.numerics import numerics
from coadapt.storage.provenance import commit, now
from coadapt.storage.runs import Run, metrics_until
from coadapt.storage.sealed import checksum


class Diverged(Exception):
    """A number that should be finite is not."""


@dataclass(frozen=True)
class RunOptions:
    """How a run is carried out. Nothing of it changes what a stage comes to."""

    progress: Progress = field(default_factory=Progress)
    checkpoint_every: float = 30.0  # seconds; one takes some hundredths of one
    track: str | None = None
    fresh: bool = False  # make everything again, whatever is there already
    init_from: tuple[Path, ...] = ()  # checkpoints that stages of a new run go on from, whatever has changed
    stopped: Callable[[Path], Any] | None = None  # says so; without it what compiles is waited for, or a process ends


class Worker:
    """Makes the stages of one run in turn, and keeps its folder up to date."""

    def __init__(self, run: Run, options: RunOptions, interruption: Interruption):
        self.run: Run = run
        self.options: RunOptions = options
        self.interruption: Interruption = interruption
        make_tracker = lambda: TRACKERS[options.track](run) if options.track else None
        self.tracker: Guarded = Guarded(make_tracker, self.report)  # where the person wants to see metrics, too
        self.makings: dict[str, Any] = {}  # which artefact each stage came to, and what made it
        self.seconds: dict[str, float] = {"starting": 0.0, "working": 0.0, "storing": 0.0}
        self.stage: str = ""  # that is being worked on, its chunks done, those of the stages before, of all stages
        self.done: int = 0
        self.chunks_before: int = 0
        self.all_chunks: int = 1
        self.metrics_whole: bool = True
        runs.tidy(run, self.report)

    def report(self, text: str) -> None:
        """Something that the person should know, now and later."""
        self.options.progress.say(text)
        self.run.log(text)

    def nothing_to_lose(self) -> AbstractContextManager[None]:
        """Within it, be it to plan or to compile, a command that is asked to stop does so at once."""
        return self.interruption.nothing_to_lose(self._say_farewell if self.options.stopped else None)

    def _say_farewell(self, why: Interrupted) -> None:
        assert self.options.stopped is not None
        self.remember(why)
        self.tracker.close()
        self.options.stopped(self.run.folder)

    def make_all(self, planned: Sequence[Planned]) -> Inputs:
        """The outcomes of all stages."""
        outcomes: Inputs = {}
        self.all_chunks = sum(each.stage.chunks for each in planned)
        for each in planned:
            self.stage, self.done = each.stage.name, 0
            outcomes[self.stage] = self.make(each, {need: outcomes[need] for need in each.stage.needs})
            self.chunks_before, self.done = self.chunks_before + each.stage.chunks, 0
        # A report can read there which commit made what it shows.
        commits = list(dict.fromkeys(making["commit"] for making in self.makings.values()))
        told = self.run.provenance | {"commits": commits, "stages": self.makings}
        write_json(make_folder(self.run.results) / "provenance.json", plain(told))
        return outcomes

    def make(self, planned: Planned, inputs: Inputs) -> Any:
        """One stage: taken from the store if it was finished before, made otherwise."""
        artefact = self._from_the_store(planned) or self._work(planned, inputs)
        making = {name: artefact.about.get(name) for name in ("commit", "finished", "seconds")}
        family = planned.stage.family or self.stage
        self.makings[self.stage] = {"artefact": planned.artefact, "family": family} | making
        self.run.checkpoints.keep_last(self.stage, 1)
        self.interruption.heed()
        return artefact.tree

    def _from_the_store(self, planned: Planned) -> Artefact | None:
        """The finished stage, if there is one; a run that makes everything afresh takes only what it made itself.

        What this run has of it half done is not needed any more.
        """
        artefact = self.run.artefacts.find(planned.artefact, planned.outcome, self.report)
        if artefact is None or (self.run.fresh and artefact.about.get("run") != self.run.id):
            return None
        self.report(f"{self.stage}: reusing {planned.artefact}, finished {artefact.about.get('finished')}.")
        if not artefact.about.get("metrics_whole", True):
            self.report(f"{self.stage}: some of its metrics were lost or changed while it was made.")
        self.run.set_metrics(self.stage, artefact.metrics)
        meta = self.run.checkpoints.meta(self.stage)
        if meta is not None and meta.done < meta.chunks:
            self.run.checkpoints.keep_last(self.stage, 0)
        return artefact

    def _work(self, planned: Planned, inputs: Inputs) -> Artefact:
        """A stage from where it stands to its end, and into the store."""
        state = self._start(planned, inputs)
        self.run.set_state("running", **self._place())
        self.tracker.begin(self.stage, self.done * planned.stage.iterations)
        state = self._chunks(planned, inputs, state)
        return self._keep(planned, state)

    def _start(self, planned: Planned, inputs: Inputs) -> Any:
        """The state to go on from."""
        stage = planned.stage
        meta = self.run.checkpoints.meta(stage.name)
        if meta is None:
            self._cut_metrics_back(None)
            if stage.name in self.run.origins:
                raise Damaged(
                    f"{stage.name} of {self.run.folder} has lost the checkpoint it began with; begin a new run"
                )
            with self.options.progress.busy(f"{stage.name}: compiling"), self.nothing_to_lose():
                return jax.jit(stage.begin)(inputs)
        self._check_same(planned, meta)
        path = self.run.checkpoints.path_of(meta)
        check_size(path, meta, stage)
        state = trees.load(path, planned.state)
        self.done = meta.done
        self._cut_metrics_back(meta)
        trees.check_finite(path, stage.finite(state))
        done, total = self.done * stage.iterations, stage.chunks * stage.iterations
        self.report(f"{stage.name}: going on after {done:,} of {total:,} iterations.")
        return state

    def _cut_metrics_back(self, meta: CheckpointMeta | None) -> None:
        """What was written after the checkpoint will be written again."""
        kept = metrics_until(self.run.metrics(self.stage), self.done)
        self.run.set_metrics(self.stage, kept)
        self.metrics_whole = meta is None or meta.metrics_whole
        if meta is not None and meta.metrics != checksum(kept):
            self.metrics_whole = False
            self.report(f"{self.run.metrics(self.stage)}: lines are missing or were changed after they were written.")

    def _check_same(self, planned: Planned, meta: CheckpointMeta) -> None:
        """Refuse a checkpoint that other code has made, or the same code otherwise."""
        if meta.artefact == planned.artefact:
            return
        here, changed = _made_with(), f"the code that makes {self.stage} has changed since its checkpoint"
        others = [f"{what} was {was or 'empty'}" for what, was in meta.packages.items() if here.get(what) != was]
        if others:
            changed = f"{', '.join(others)} when the checkpoint of {self.stage} was made"
        path = self.run.checkpoints.path_of(meta)
        raise Incompatible(f"{changed}; --fresh makes everything again, --init-from {path} goes on in a new run")

    def _chunks(self, planned: Planned, inputs: Inputs, state: Any) -> Any:
        """Chunk after chunk, with checkpoints in between."""
        stage, go_on, stored_at = planned.stage, None, time.monotonic()
        total, done = stage.chunks * stage.iterations, self.done * stage.iterations
        journals = Journal(self.run.metrics(stage.name)), Journal(self.run.times)
        progress = self.options.progress.stage(stage.name, total, done, stage.steps, first="compiling")
        with journals[0], journals[1], progress as advance:
            while self.done < stage.chunks:
                purpose = "working" if self.done > done // stage.iterations else "starting"  # the first one compiles
                with self._timed(purpose) as watch:
                    go_on = go_on or self._compiled(stage, state, inputs)
                    state, info = jax.block_until_ready(go_on(state, inputs))
                self.done += 1
                numbers = {name: np.asarray(value) for name, value in info.items()}
                self._record(stage, numbers, watch["seconds"], *journals)
                shown = {name: float(numbers[name].mean()) for name in stage.shown if name in numbers}
                advance(stage.iterations, **shown)
                self._check_numbers(stage, numbers)
                asked_to_stop = self.interruption.signal is not None
                due = time.monotonic() - stored_at >= self.options.checkpoint_every
                if due or asked_to_stop or self.done == stage.chunks:
                    self._store(planned, state, journals[0])
                    stored_at = time.monotonic()
                if asked_to_stop:
                    self.interruption.heed()
        return state

    def _compiled(self, stage: Stage, state: Any, inputs: Inputs) -> Callable[[Any, Inputs], tuple[Any, Info]]:
        """The program of a chunk, ready to run."""
        with self.nothing_to_lose():
            return jax.jit(stage.go_on).lower(state, inputs).compile()

    def _record(self, stage: Stage, numbers: dict[str, np.ndarray], seconds: float, metrics: Journal, times: Journal):
        """What a chunk looked like, for people and their tools."""
        with self._timed("storing"):
            self.run.check_lock()
            metrics.append(_metrics_line(stage, self.done, numbers))
            times.append({"stage": stage.name, "done": self.done, "seconds": seconds, "at": now()})
        means = {name: float(values.mean()) for name, values in numbers.items()}
        self.tracker.log(stage.name, self.done * stage.iterations, means)

    def _store(self, planned: Planned, state: Any, metrics: Journal) -> None:
        """A checkpoint, if the state is one to go on from."""
        stage = planned.stage
        with self._timed("storing"):
            self._check_weights(stage, state)
            metrics.sync()
            self.run.check_lock()
            meta = CheckpointMeta(
                stage=stage.name,
                done=self.done,
                chunks=stage.chunks,
                iterations=stage.iterations,
                artefact=planned.artefact,
                replicates=list(stage.replicates),
                packages=_made_with(),
                metrics=checksum(read_journal(self.run.metrics(stage.name))),
                metrics_whole=self.metrics_whole,
            )
            self.run.checkpoints.save(meta, state)
            self.run.set_state("running", **self._place())

    @contextmanager
    def _timed(self, purpose: str) -> Iterator[dict[str, float]]:
        """Within it the time passes for this purpose."""
        watch: dict[str, float] = {}
        began = time.monotonic()
        yield watch
        watch["seconds"] = round(time.monotonic() - began, 4)
        self.seconds[purpose] += watch["seconds"]

    def _check_numbers(self, stage: Stage, numbers: dict[str, np.ndarray]) -> None:
        """Stop where a number is not finite any more: whatever followed would be nonsense."""
        for name, values in numbers.items():
            bad = np.flatnonzero(~np.isfinite(values))
            if bad.size:
                who = f" ({stage.replicates[bad[0]]})" if stage.replicates else ""
                raise self._diverged(stage, f"{name} of {stage.name} is {values[bad[0]]}", who)

    def _check_weights(self, stage: Stage, state: Any) -> None:
        """A loss is of the networks before the last step; those after it must be good, too, or they are not kept."""
        if trees.not_finite(stage.finite(state)) is not None:
            raise self._diverged(stage, f"a weight of {stage.name} is not finite")

    def _diverged(self, stage: Stage, what: str, who: str = "") -> Diverged:
        meta, kept = self.run.checkpoints.meta(stage.name), "there was no checkpoint yet"
        if meta is not None:
            path = self.run.checkpoints.path_of(meta)
            kept = f"the last good checkpoint, of iteration {meta.done * stage.iterations:,}, is {path}"
        return Diverged(f"{what} after {self.done * stage.iterations:,} iterations{who}; {kept}; {stage.remedy}")

    def _keep(self, planned: Planned, state: Any) -> Artefact:
        """A finished stage goes where all runs find it."""
        self.run.check_lock()
        stage = planned.stage
        about = {"stage": stage.name, "run": self.run.id, "experiment": self.run.experiment, "finished": now()}
        about |= {"settings": plain(stage.settings), "commit": commit(), "packages": _made_with()}
        about |= {"seconds": round(self.run.seconds_of(stage.name), 1), "metrics_whole": self.metrics_whole}
        metrics = read_journal(self.run.metrics(stage.name))
        artefact = Artefact(jax.device_get(stage.outcome(state)), metrics, about)
        with self._timed("storing"):
            self.run.artefacts.keep(planned.artefact, artefact)
        self.run.log(f"{stage.name}: finished as {planned.artefact}")
        return artefact

    def _place(self) -> dict[str, Any]:
        return {"stage": self.stage, "progress": round((self.chunks_before + self.done) / self.all_chunks, 4)}

    def finish(self, report: Report) -> Report:
        """The run is done; how long everything took is told, and what it cost to lose nothing."""
        self.run.check_lock()
        working, storing = self.seconds["working"], self.seconds["storing"]
        if working:
            self.report(f"Storing took {storing:.2f} s beside {working:.1f} s of work: {storing / working:.2%}.")
        times = times_told(self.makings)
        write_text(self.run.results / "times.md", times.markdown())
        self.run.set_state("finished", progress=1.0, headline=plain(report.headline))
        self.run.log("finished")
        return report._replace(tables=[*report.tables, times])

    def remember(self, why: BaseException) -> None:
        """What has stopped the run, for whoever looks at it later; unless it is in other hands by now."""
        if isinstance(why, TakenOver):
            return
        state = "interrupted" if isinstance(why, Interrupted | KeyboardInterrupt) else "failed"
        note = str(why) or type(why).__name__
        self.run.log(f"{self.stage}: {state}: {note}")
        self.run.set_state(state, **self._place(), note=note)


def _made_with() -> dict[str, str]:
    return versions() | numerics()


def _metrics_line(stage: Stage, done: int, numbers: dict[str, np.ndarray]) -> dict[str, Any]:
    """What a chunk looked like, in the shortest digits that are still exact."""
    exact = lambda values: [float(str(value)) for value in np.atleast_1d(values)]
    place = {"done": done, "iteration": done * stage.iterations}
    return place | plain({name: exact(values) for name, values in numbers.items()})
