"""Checkpoints of a run: the newest whole one counts, and a few before it are kept in case it comes to harm."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from coadapt.storage import trees
from coadapt.storage.files import Damaged, make_folder

KEPT = 3


class Checkpoint(NamedTuple):
    """Where a stage had got to."""

    path: Path
    done: int
    tree: Any
    about: dict[str, Any]


class Checkpoints:
    """All checkpoints of the stages of one run, named by stage and by how much of it was done."""

    def __init__(self, folder: Path):
        self.folder = folder

    def save(self, stage: str, done: int, tree: Any, about: dict[str, Any]) -> None:
        """Store a checkpoint, and let go of those that are no longer among the last few."""
        make_folder(self.folder)
        trees.save(self._path(stage, done), tree, about | {"stage": stage, "done": done})
        self.keep_last(stage, KEPT)

    def keep_last(self, stage: str, number: int) -> None:
        for path in self._paths(stage)[number:]:
            trees.remove(path)

    def set_damaged_aside(self, report: Callable[[str], None]) -> None:
        """Look at every checkpoint there is. What is damaged is reported and renamed, so that it is not met again."""
        for file in sorted(self.folder.glob("*.safetensors")):
            if not file.with_suffix(".json").exists():
                report(
                    f"{file.with_suffix('.json')} is missing; {file.name} cannot be used without it and is set aside"
                )
                self._set_aside(file.with_suffix(""))
        for manifest in sorted(self.folder.glob("*.json")):
            try:
                trees.check(manifest.with_suffix(""))
            except Damaged as problem:
                report(f"{problem}; this checkpoint is set aside")
                self._set_aside(manifest.with_suffix(""))

    def standing(self, stage: str) -> dict[str, Any] | None:
        """What is known of the stage's newest checkpoint."""
        paths = self._paths(stage)
        return trees.read_manifest(paths[0])["about"] if paths else None

    def newest(self, stage: str, like: Callable[[dict[str, Any]], Any]) -> Checkpoint | None:
        """The stage's newest checkpoint. `like(about)` says what its tree should look like, or refuses it."""
        about = self.standing(stage)
        if about is None:
            return None
        path = self._paths(stage)[0]
        return Checkpoint(path, about["done"], trees.load(path, like(about)), about)

    def _path(self, stage: str, done: int) -> Path:
        return self.folder / f"{stage}-{done:06d}"

    def _paths(self, stage: str) -> list[Path]:
        """All that have a manifest, the newest first."""
        return sorted((file.with_suffix("") for file in self.folder.glob(f"{stage}-??????.json")), reverse=True)

    def _set_aside(self, path: Path) -> None:
        for file in (trees.manifest_file(path), trees.arrays_file(path)):
            if file.exists():
                file.replace(file.with_name(f"{file.name}.damaged"))
