"""Forking a run: a new one beside it that goes on from where it stands, whatever has changed since."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from coadapt.configs.data import plain
from coadapt.runs.experiment import Experiment, Planned, artefact_names, plan
from coadapt.runs.progress import Progress
from coadapt.runs.stage import Stage
from coadapt.storage import files, runs, trees
from coadapt.storage.checkpoints import Checkpoint, CheckpointMeta
from coadapt.storage.files import Incompatible
from coadapt.storage.lock import locked
from coadapt.storage.runs import Run


def fork(experiment: Experiment, config: Any, parent: Run, progress: Progress) -> Path:
    """The folder of the new run. It comes into being whole, under its own name, or not at all."""
    with locked(parent.folder):
        parent.checkpoints.set_damaged_aside(progress.say)
        planned = plan(experiment, config, {})
        names_with = partial(artefact_names, experiment, [each.stage for each in planned])
        taken, origins = _inheritance(planned, names_with, parent)
        names = names_with(origins)
        folder = runs.free_name(parent.folder)
        unfinished = parent.folder.with_name(f".{folder.name}.{os.getpid()}.part")
        run = runs.begin(unfinished, experiment.name, plain(config), parent=parent.id, origins=origins)
        for checkpoint in taken:
            _hand_over(checkpoint, parent, run, names[checkpoint.meta.stage])
        files.rename(unfinished, folder)
    for checkpoint in taken:
        progress.say(f"{folder} goes on from {checkpoint.path}.")
    if not taken:
        progress.say(f"Nothing in {parent.folder} is half done; {folder} makes what has changed from the start.")
    return folder


def _inheritance(
    planned: list[Planned], names_with: Callable[[dict[str, str]], dict[str, str]], parent: Run
) -> tuple[list[Checkpoint], dict[str, str]]:
    """The parent's checkpoints that are gone on from, and the origins of all stages that have one.

    A stage that is in the store needs no checkpoint. Whatever is made anew is no longer what those who need it were
    made of, so they are made anew, too.
    """
    taken: list[Checkpoint] = []
    origins: dict[str, str] = {}
    anew: set[str] = set()
    for each in planned:
        name = each.stage.name
        before = {name: parent.origins[name]} if name in parent.origins else {}
        if before and parent.artefacts.has(names_with(origins | before)[name]):
            origins |= before
            continue
        artefact = names_with(origins)[name]
        if parent.artefacts.has(artefact):
            continue
        checkpoint = None if anew.intersection(each.stage.needs) else _to_go_on_from(each, parent)
        if checkpoint is None:
            anew.add(name)
            continue
        taken.append(checkpoint)
        if checkpoint.meta.artefact == names_with(origins | before)[name]:
            origins |= before
        elif checkpoint.meta.artefact != artefact:
            origins[name] = trees.read_manifest(checkpoint.path)["sha256"]
    return taken, origins


def _to_go_on_from(planned: Planned, parent: Run) -> Checkpoint | None:
    """A stage's last checkpoint, if it has one.

    One that is half done is gone on with, whatever its settings were. One that is finished, but by other code or not
    yet stored, is taken as it is, unless its settings are other ones now.
    """
    stage = planned.stage
    meta = parent.checkpoints.meta(stage.name)
    if meta is None or (meta.is_complete and meta.settings != plain(stage.settings)):
        return None
    _check_size(stage, meta)
    return parent.checkpoints.load(meta, planned.state)


def _check_size(stage: Stage, meta: CheckpointMeta) -> None:
    """Refuse a checkpoint of more or fewer replicates or chunks than the stage has."""
    if meta.replicates != list(stage.replicates):
        raise Incompatible(
            f"a fork goes on with the replicates it finds: {stage.name} was begun with {'; '.join(meta.replicates)}"
        )
    if (meta.iterations, meta.chunks) != (stage.iterations, stage.chunks):
        raise Incompatible(
            f"{stage.name} was begun as {meta.chunks} chunks of {meta.iterations} iterations and cannot go on "
            f"as {stage.chunks} of {stage.iterations}; leave its number of iterations as it was"
        )


def _hand_over(checkpoint: Checkpoint, parent: Run, run: Run, artefact: str) -> None:
    """A checkpoint, and the metrics up to it, from the parent to the new run."""
    meta = checkpoint.meta
    run.checkpoints.save(replace(meta, artefact=artefact), checkpoint.tree)
    run.set_metrics(meta.stage, parent.metrics_until(meta.stage, meta.done))
