"""Beginning a run, going on with it, or forking it: one door for all three."""

from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from coadapt.configs.checks import shown
from coadapt.configs.data import differences, plain
from coadapt.experiments.planning import Experiment, Planned, Report, plan
from coadapt.experiments.working import Manner, Worker
from coadapt.interruption import listening
from coadapt.progress import Progress
from coadapt.storage import runs, trees
from coadapt.storage.checkpoints import Checkpoint
from coadapt.storage.files import Damaged, Foreign, StorageError, make_folder
from coadapt.storage.lock import locked
from coadapt.storage.runs import Run

MOST_FIELDS = 6
"""Of a configuration that was changed, how many fields are named."""


class Changed(StorageError):
    """A run cannot go on under another configuration."""


def carry_out(experiment: Experiment, config: Any, folder: Path, manner: Manner | None = None) -> tuple[Run, Report]:
    """Begin the run in this folder, or go on with it if it was begun before; and report what it came to."""
    manner = manner or Manner()
    with ExitStack() as stack:
        run = _open(experiment, config, folder, manner, stack)
        worker = Worker(run, manner, stack.enter_context(listening(manner.progress.say)))
        with worker.tracking():
            outcomes = worker.make_all(plan(experiment, config, run.origins))
        report = experiment.report(config, outcomes, make_folder(run.results))
        worker.finish(report)
    return run, report


def _open(experiment: Experiment, config: Any, folder: Path, manner: Manner, stack: ExitStack) -> Run:
    """The run, locked: a new one, or the one that is there if it is the same."""
    if manner.fresh and runs.exists(folder):
        _move_aside(folder, manner.progress)
    if manner.fork and runs.exists(folder):
        folder = fork(experiment, config, folder, manner.progress)
    stack.enter_context(locked(make_folder(folder)))
    if not runs.exists(folder):
        return runs.begin(folder, experiment.name, plain(config), fresh=manner.fresh)
    run = runs.read(folder)
    _check_experiment(run, experiment)
    _check_same(run, plain(config))
    return run


def _check_experiment(run: Run, experiment: Experiment) -> None:
    if run.experiment != experiment.name:
        raise Foreign(f"{run.folder} is a run of {run.experiment}, not of {experiment.name}; choose another folder")


def _check_same(run: Run, config: Any) -> None:
    """Refuse another configuration than the run's own, be it asked for or written into its folder."""
    _check_fields(run, config, "it cannot go on with another configuration")
    with suppress(Damaged):
        _check_fields(run, runs.config_of(run), "its config.json was changed since it began")


def _check_fields(run: Run, config: Any, complaint: str) -> None:
    fields = [
        f"{place} was {shown(before)} and is {shown(now)}" for place, before, now in differences(run.config, config)
    ]
    if fields:
        others = f" and {len(fields) - MOST_FIELDS} more" if len(fields) > MOST_FIELDS else ""
        raise Changed(
            f"{run.folder}: {complaint}: {', '.join(fields[:MOST_FIELDS])}{others}; undo that, or choose another run, "
            "or add --fork to go on from its checkpoint in a new run"
        )


def _move_aside(folder: Path, progress: Progress) -> None:
    with locked(folder):
        aside = runs.free_name(folder)
        folder.rename(aside)
    progress.say(f"The run that was in {folder} is now in {aside}.")


class HalfDone(NamedTuple):
    """A stage in the middle of its work, and its newest checkpoint."""

    planned: Planned
    checkpoint: Checkpoint

    @property
    def origin(self) -> dict[str, str]:
        """The checkpoint's checksum, unless the stage as it is now would have come to the very same checkpoint."""
        if self.checkpoint.about["artefact"] == self.planned.artefact:
            return {}
        return {self.planned.stage.name: trees.read_manifest(self.checkpoint.path)["sha256"]}


def fork(experiment: Experiment, config: Any, parent_folder: Path, progress: Progress) -> Path:
    """A new run beside the parent that goes on from where the parent stands, whatever has changed since."""
    with locked(parent_folder):
        parent = runs.read(parent_folder)
        _check_experiment(parent, experiment)
        planned = plan(experiment, config, parent.origins)
        parent.checkpoints.set_damaged_aside(progress.say)
        half_done = _half_done(planned, parent)
        origins = _origins_that_still_hold(planned, parent, half_done)
        folder = runs.free_name(parent_folder)
        run = runs.begin(folder, experiment.name, plain(config), parent=parent.id, origins=origins)
        if half_done is None:
            progress.say(f"Nothing in {parent_folder} is half done; {folder} makes what has changed from the start.")
        else:
            _hand_over(half_done.checkpoint, parent, run, plan(experiment, config, origins))
            progress.say(f"{folder} goes on from {half_done.checkpoint.path}.")
    return folder


def _half_done(planned: list[Planned], parent: Run) -> HalfDone | None:
    """Where the parent stands, if it is in the middle of a stage."""
    for each in planned:
        about = parent.checkpoints.standing(each.stage.name)
        if about is None or about["done"] == about["chunks"]:
            continue
        checkpoint = parent.checkpoints.newest(each.stage.name, partial(_accept, each))
        if checkpoint is not None:
            return HalfDone(each, checkpoint)
    return None


def _origins_that_still_hold(planned: list[Planned], parent: Run, half_done: HalfDone | None) -> dict[str, str]:
    """Of the parent's stages with a history, those that are not made anew."""
    kept = {
        each.stage.name: parent.origins[each.stage.name]
        for each in planned
        if each.stage.name in parent.origins and parent.artefacts.has(each.artefact)
    }
    if half_done is None:
        return kept
    name = half_done.planned.stage.name
    before = {name: parent.origins[name]} if name in parent.origins else {}
    return kept | before | half_done.origin


def _hand_over(checkpoint: Checkpoint, parent: Run, run: Run, planned: list[Planned]) -> None:
    """The checkpoint, and the metrics up to it, from the parent to the new run."""
    stage = checkpoint.about["stage"]
    (artefact,) = [each.artefact for each in planned if each.stage.name == stage]
    run.checkpoints.save(stage, checkpoint.done, checkpoint.tree, checkpoint.about | {"artefact": artefact})
    run.set_metrics(stage, parent.metrics_until(stage, checkpoint.done))


def _accept(planned: Planned, about: dict[str, Any]) -> Any:
    """What a checkpoint to go on from must look like."""
    there, here = about["iterations"], planned.stage.iterations
    if there != here:
        raise Foreign(
            f"a checkpoint of {planned.stage.name} with chunks of {there} iterations cannot go on in chunks of {here}; "
            "leave its number of iterations as it was"
        )
    return planned.state
