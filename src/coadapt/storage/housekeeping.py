"""How much room things take, and making some: caches and artefacts can be made again, runs are never touched."""

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from coadapt.storage.files import Damaged, StorageError, explained
from coadapt.storage.journal import read_journal
from coadapt.storage.lock import is_locked
from coadapt.storage.runs import ARTEFACTS, folders


def bytes_below(folder: Path) -> int:
    """What all files below a folder hold, as far as one may look."""
    sizes = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # gone since, or somebody else's
                sizes += os.lstat(os.path.join(place, name)).st_size
    return sizes


def artefacts_in(root: Path) -> list[Path]:
    """What the runs of a folder keep of finished stages."""
    return sorted(path for path in (root / ARTEFACTS).glob("*") if path.is_dir())


def unused_artefacts(root: Path) -> list[Path]:
    """Those that no run beside them speaks of, neither in its log nor in its results, and that nobody is writing."""
    told = "".join(_told(run) for run in folders(root))
    return [path for path in artefacts_in(root) if path.name not in told and not is_locked(path)]


def _told(run: Path) -> str:
    """What a run says of the artefacts it made or took. One that cannot be asked might use all of them."""
    files = [file for file in (run / "log.txt", run / "results" / "provenance.json") if os.path.lexists(file)]
    try:
        return "\n".join(read_journal(file).decode(errors="replace") for file in files)
    except Damaged as problem:
        raise StorageError(f"{problem}, so nobody knows which artefacts it uses") from None


def removed(paths: Iterable[Path]) -> int:
    """Away with files and folders; how many bytes that freed."""
    freed = 0
    for path in paths:
        is_folder = path.is_dir()
        size = bytes_below(path) if is_folder else path.stat().st_size
        with explained(path):
            shutil.rmtree(path) if is_folder else path.unlink(missing_ok=True)
        freed += size
    return freed
