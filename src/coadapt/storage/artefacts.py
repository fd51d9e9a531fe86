"""What finished stages came to, kept once and shared by all runs, each under a name made of all that it depends on."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from coadapt.storage import trees
from coadapt.storage.files import Damaged, Incompatible, check_kinds, make_folder, remove_leftovers, write_bytes
from coadapt.storage.journal import read_lines
from coadapt.storage.lock import Busy, locked
from coadapt.storage.sealed import checksum

METRICS, OUTCOME = "metrics.jsonl", "outcome"
KINDS = {"seconds": int | float | None, "commit": str | None, "finished": str | None, "run": str | None}
"""What is made use of, of all that a manifest says about an outcome."""


class Artefact(NamedTuple):
    """The outcome of a stage, with the metrics of its making."""

    tree: Any
    metrics: bytes
    about: dict[str, Any]


class Artefacts:
    """A folder of artefacts."""

    def __init__(self, folder: Path):
        self.folder = folder

    def keep(self, name: str, artefact: Artefact) -> None:
        """Store an artefact; its manifest comes last, so what has one is complete."""
        folder = make_folder(self.folder / name)
        with suppress(Busy), locked(folder):  # if another run is storing it at this very moment, it is the same one
            remove_leftovers(folder)
            write_bytes(folder / METRICS, artefact.metrics)
            about = artefact.about | {"artefact": name, "metrics": checksum(artefact.metrics)}
            trees.save(folder / OUTCOME, artefact.tree, about)

    def find(self, name: str, like: Any, report: Callable[[str], None]) -> Artefact | None:
        """The artefact of this name, if there is one and it is whole; else a report of what is wrong with it."""
        path = self.folder / name / OUTCOME
        if not trees.manifest_file(path).exists():
            if trees.arrays_file(path).exists():
                report(f"{trees.manifest_file(path)} is missing, so {name} cannot be used")
            return None
        try:
            about = trees.read_manifest(path)["about"]
            tree = trees.load(path, like, {"artefact": name})
            check_kinds(trees.manifest_file(path), about, KINDS)
            return Artefact(tree, self._metrics(name, about, report), about)
        except (Damaged, Incompatible) as problem:
            report(f"{problem}; {name} cannot be used")
            return None

    def _metrics(self, name: str, about: dict[str, Any], report: Callable[[str], None]) -> bytes:
        """The lines of the metrics that can be read: no reason to throw an outcome away if some cannot."""
        file = self.folder / name / METRICS
        lines = list(read_lines(file))
        if checksum(b"".join(line.data for line in lines)) != about.get("metrics"):
            report(f"{file} is missing or was changed after it was written; what can be read of it is used")
        return b"".join(line.data for line in lines if line.record is not None)
