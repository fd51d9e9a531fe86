"""Stages of a new run that go on from checkpoints of another run, whatever has changed since."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from coadapt.runs.experiment import Planned
from coadapt.runs.stage import Stage
from coadapt.storage import trees
from coadapt.storage.checkpoints import CheckpointMeta, meta_of
from coadapt.storage.files import Incompatible
from coadapt.storage.runs import metrics_until


def origins_of(checkpoints: Sequence[Path]) -> dict[str, str]:
    """The checksum of the checkpoint that each stage goes on from: a part of the name of what it comes to."""
    return {meta_of(path).stage: trees.read_manifest(path)["sha256"] for path in checkpoints}


def initial(checkpoint: Path, planned: Sequence[Planned]) -> tuple[CheckpointMeta, Any, bytes]:
    """A checkpoint of another run as one of what is planned now: what is known of it, its tree, the metrics before."""
    meta = meta_of(checkpoint)
    each = next((each for each in planned if each.stage.name == meta.stage), None)
    if each is None:
        raise Incompatible(f"{checkpoint} is of {meta.stage}, which is no stage here; choose another one")
    check_size(checkpoint, meta, each.stage)
    metrics = metrics_until(checkpoint.parents[1] / "metrics" / f"{meta.stage}.jsonl", meta.done)
    return replace(meta, artefact=each.artefact), trees.load(checkpoint, each.state), metrics


def check_size(path: Path, meta: CheckpointMeta, stage: Stage) -> None:
    """Refuse a checkpoint of other replicates, or of a longer or shorter stage."""
    there, here = (meta.chunks, meta.iterations), (stage.chunks, stage.iterations)
    if there != here:
        lengths = " and not ".join(
            f"{chunks} chunks of {iterations} iterations" for chunks, iterations in (there, here)
        )
        raise Incompatible(f"{path} is of {lengths}; leave the number of iterations as it was")
    if meta.replicates != list(stage.replicates):
        whom = " and not ".join("; ".join(names) for names in (meta.replicates, stage.replicates))
        raise Incompatible(f"{path} is of {whom}; leave who is trained as it was")
