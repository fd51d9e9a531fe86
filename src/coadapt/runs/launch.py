"""Beginning a run, or going on with it: one door for both."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from coadapt.configs.checks import shown
from coadapt.configs.data import differences, plain
from coadapt.runs.executor import RunOptions, Worker
from coadapt.runs.experiment import Experiment, Planned, Report, plan
from coadapt.runs.initial import initial, origins_of
from coadapt.runs.interruption import listening
from coadapt.runs.progress import Progress
from coadapt.storage import runs
from coadapt.storage.compiled import remember_compiled_programs
from coadapt.storage.files import Damaged, Incompatible, StorageError, make_folder, read_json
from coadapt.storage.lock import locked, move
from coadapt.storage.runs import Run


class Changed(StorageError):
    """A run cannot go on under another configuration."""


def carry_out(
    experiment: Experiment, config: Any, folder: Path, options: RunOptions | None = None
) -> tuple[Run, Report]:
    """Begin the run in this folder, or go on with it if it was begun before; and report what it came to."""
    options = options or RunOptions()
    with opened(experiment, config, folder, options) as run:
        return run, finish(experiment, config, run, options)


@contextmanager
def opened(experiment: Experiment, config: Any, folder: Path, options: RunOptions) -> Iterator[Run]:
    """The run, locked: a new one, or the one that is there if it is the same."""
    remember_compiled_programs()
    if options.fresh and runs.exists(folder):
        _move_aside(folder, options.progress)
    origins, handed_over = origins_of(options.init_from), []
    if origins and not runs.exists(folder):
        planned = plan(experiment, config, origins)
        handed_over = [initial(path, planned) for path in options.init_from]
    with locked(make_folder(folder)) as lock:
        if not lock.excludes:
            options.progress.say(f"No lock holds where {folder} lies; see to it that no other process works on it.")
        if not runs.exists(folder):
            run = runs.begin(folder, experiment.name, plain(config), fresh=options.fresh, origins=origins)
            for meta, tree, metrics in handed_over:
                run.checkpoints.save(meta, tree)
                run.set_metrics(meta.stage, metrics)
        else:
            run = runs.read(folder)
            _check_same(run, experiment, plain(config))
            if origins and origins != run.origins:
                raise Incompatible(f"{folder} did not begin with these checkpoints; choose another run")
        yield replace(run, lock=lock)


def finish(
    experiment: Experiment, config: Any, run: Run, options: RunOptions, planned: Sequence[Planned] | None = None
) -> Report:
    """From wherever the run stands, which may be planned already, to its end. What stops it is remembered."""
    with listening(options.progress.say) as interruption:
        worker = Worker(run, options, interruption)
        try:
            if planned is None:
                with options.progress.busy("planning"), worker.nothing_to_lose():
                    planned = plan(experiment, config, run.origins)
            outcomes = worker.make_all(planned)
            run.check_lock()
            with options.progress.busy("writing the results"):
                report = experiment.report(config, outcomes, make_folder(run.results))
            return worker.finish(report)
        except BaseException as why:
            worker.remember(why)
            raise
        finally:
            worker.tracker.close()


def _check_same(run: Run, experiment: Experiment, config: Any) -> None:
    """Refuse another experiment or configuration than the run's own, be it asked for or written into its folder."""
    if run.experiment != experiment.name:
        said = f"{run.folder} is a run of {run.experiment}, not of {experiment.name}"
        raise Incompatible(f"{said}; choose another folder")
    _check_fields(run, config, "it cannot go on with another configuration")
    with suppress(Damaged):
        there = read_json(run.folder / "config.json")
        _check_fields(run, there, "its config.json was changed since it began")


def _check_fields(run: Run, config: Any, complaint: str) -> None:
    changes = list(differences(run.config, config))
    if changes:
        named = ", ".join(f"{place} was {shown(before)} and is {shown(now)}" for place, before, now in changes[:6])
        others = f" and {len(changes) - 6} more" if len(changes) > 6 else ""
        another = "undo that, or choose another run, which may go on from a checkpoint of this one with --init-from"
        raise Changed(f"{run.folder}: {complaint}: {named}{others}; {another}")


def _move_aside(folder: Path, progress: Progress) -> None:
    names = (folder.with_name(f"{folder.name}-{number}") for number in count(2))
    aside = next(name for name in names if not name.exists())
    move(folder, aside)
    progress.say(f"The run that was in {folder} is now in {aside}.")
