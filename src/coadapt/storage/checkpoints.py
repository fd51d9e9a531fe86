"""Checkpoints of a run: the newest whole one counts, and a few before it are kept in case it comes to harm."""

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from coadapt.storage import files, trees
from coadapt.storage.files import Damaged, Incompatible, check_kinds, make_folder


@dataclass(frozen=True)
class CheckpointMeta:
    """How far a stage had got, and what it was that got there."""

    stage: str
    done: int  # chunks, of so many
    chunks: int
    iterations: int  # in a chunk
    artefact: str  # what the stage will come to
    replicates: list[str]
    packages: dict[str, str]  # their versions, and the settings of the compiler
    metrics: str  # the checksum of its metrics so far
    metrics_whole: bool  # whether no line of them was lost or changed on the way


KINDS: dict[str, Any] = {field.name: field.type for field in fields(CheckpointMeta)}
"""What a manifest says about a checkpoint."""


class Checkpoints:
    """All checkpoints of the stages of one run, named by stage and by how much of it was done."""

    def __init__(self, folder: Path):
        self.folder = folder

    def save(self, meta: CheckpointMeta, tree: Any) -> None:
        """Store a checkpoint, and let go of those that are no longer among the last three."""
        make_folder(self.folder)
        trees.save(self.path_of(meta), tree, asdict(meta))
        self.keep_last(meta.stage, 3)

    def keep_last(self, stage: str, number: int) -> None:
        for path in self._paths(stage)[number:]:
            trees.remove(path)

    def set_damaged_aside(self, report: Callable[[str], None]) -> None:
        """Look at every checkpoint there is. What is damaged is reported and renamed, so that it is not met again."""
        for file in sorted(self.folder.glob("*.safetensors")):
            manifest = file.with_suffix(".json")
            if not manifest.exists():
                report(f"{manifest} is missing: it was lost, or never written; {file.name} is of no use and removed")
                files.remove(file)
        for manifest in sorted(self.folder.glob("*.json")):
            try:
                trees.check(manifest.with_suffix(""))
            except Damaged as problem:
                report(f"{problem}; this checkpoint is set aside")
                for damaged in (manifest, manifest.with_suffix(".safetensors")):
                    if damaged.exists():
                        files.rename(damaged, damaged.with_name(f"{damaged.name}.damaged"))

    def meta(self, stage: str) -> CheckpointMeta | None:
        """What is known of the stage's newest checkpoint."""
        paths = self._paths(stage)
        return meta_of(paths[0]) if paths else None

    def path_of(self, meta: CheckpointMeta) -> Path:
        return self.folder / _name(meta)

    def _paths(self, stage: str) -> list[Path]:
        """All that have a manifest, the newest first."""
        name = re.compile(rf"{re.escape(stage)}-\d+\.json")
        found = [file.with_suffix("") for file in self.folder.glob("*.json") if name.fullmatch(file.name)]
        return sorted(found, key=lambda path: int(path.name.rpartition("-")[2]), reverse=True)


def _name(meta: CheckpointMeta) -> str:
    return f"{meta.stage}-{meta.done:06d}"


def meta_of(path: Path) -> CheckpointMeta:
    """What a manifest says of its checkpoint, which must be what the name of the file says, and can be."""
    about, manifest = trees.read_manifest(path)["about"], trees.manifest_file(path)
    check_kinds(manifest, about, KINDS)
    meta = CheckpointMeta(**{name: about.get(name) for name in KINDS})
    if _name(meta) != path.name:
        raise Incompatible(f"{manifest} is of {meta.stage[:80]!r} after {meta.done} chunks, which is not its name")
    if not 0 <= meta.done <= meta.chunks or meta.iterations < 1:
        all_of_it = f"{meta.chunks} chunks of {meta.iterations} iterations"
        raise Incompatible(f"{manifest} is of {meta.done} of {all_of_it}, which cannot be")
    return meta
