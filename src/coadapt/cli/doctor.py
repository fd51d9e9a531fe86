"""The command that says what there is: versions, devices, and what lies on the disk."""

import os
import sys
from pathlib import Path
from typing import Annotated

from tyro.conf import arg

from coadapt.cli.answers import mistakes_explained, tell
from coadapt.cli.experiments import RUNS
from coadapt.memory import bytes_in_words

THEIRS = "JAX_COMPILATION_CACHE_DIR"


def doctor(
    prune: Annotated[tuple[str, ...], arg(help="To remove: cache (compiled programs), artefacts (unused ones).")] = (),
    root: Annotated[Path, arg(help="The folder with the runs.")] = RUNS,
) -> None:
    """What coadapt finds here: versions and known faults, devices, and how much room caches, artefacts and runs take.

    What is pruned can be made again: programs are compiled anew, stages trained anew. Runs are never removed.

    Example: coadapt doctor --prune cache artefacts
    """
    from coadapt.configs.checks import one_of

    with mistakes_explained():
        for name in prune:
            one_of("prune", name, ("cache", "artefacts"))
        for name in dict.fromkeys(prune):
            tell(f"Pruning {name} freed {bytes_in_words(_pruned(name, root))}.")
    _show_versions()
    _show_devices()
    _show_disk(root)


def _pruned(name: str, root: Path) -> int:
    """Away with it; how many bytes that freed."""
    from coadapt.storage.compiled import all_compiled, entries
    from coadapt.storage.housekeeping import removed, unused_artefacts

    if name == "artefacts":
        return removed(unused_artefacts(root))
    if os.environ.get(THEIRS):
        raise ValueError(f"compiled programs lie where {THEIRS} says, which is your place; remove them yourself")
    return removed(entries(all_compiled()))


def _show_versions() -> None:
    from coadapt.compiler import is_switched_off, known_fault
    from coadapt.storage.fingerprint import versions
    from coadapt.tables import Table

    found = {"python": sys.version.split()[0]} | versions()
    Table("Versions", ["", ""], [[name, number] for name, number in found.items()], left=(1,)).show()
    fault = known_fault()
    spared = "; the faulty path is switched off" if is_switched_off() else ", and the faulty path is not switched off"
    tell(f"A fault is known: {fault}{spared}." if fault else "No fault of these versions is known.")


def _show_disk(root: Path) -> None:
    from coadapt.storage.files import StorageError
    from coadapt.storage.housekeeping import artefacts_in, bytes_below, unused_artefacts
    from coadapt.storage.runs import ARTEFACTS, folders
    from coadapt.tables import Table

    with mistakes_explained():
        cache, programs = _cache()
        runs, artefacts = folders(root), artefacts_in(root)
    rows = [
        ["compiled programs", str(cache), f"{programs:,}", bytes_in_words(bytes_below(cache))],
        ["runs", str(root), f"{len(runs):,}", bytes_in_words(sum(map(bytes_below, runs)))],
        ["artefacts", str(root / ARTEFACTS), f"{len(artefacts):,}", bytes_in_words(sum(map(bytes_below, artefacts)))],
    ]
    Table("On this disk", ["", "where", "how many", "size"], rows, left=(1,)).show()
    try:
        unused = sum(map(bytes_below, unused_artefacts(root)))
    except StorageError as problem:
        tell(f"{problem}.")
        return
    if unused:
        tell(f"No run here uses {bytes_in_words(unused)} of the artefacts; remove: coadapt doctor --prune artefacts")


def _cache() -> tuple[Path, int]:
    """Where compiled programs are kept, and how many."""
    from coadapt.storage.compiled import ENTRIES, all_compiled
    from coadapt.storage.files import StorageError

    try:
        folder = Path(os.environ.get(THEIRS) or all_compiled())
    except StorageError:
        folder = Path("nowhere: there is no home folder")
    return folder, len(list(folder.rglob(ENTRIES)))


def _show_devices() -> None:
    import jax

    try:
        devices = jax.devices()
    except RuntimeError as problem:
        tell(f"JAX finds no device: {problem}")
        return
    kinds = [device.device_kind for device in devices]
    listed = ", ".join(f"{kinds.count(kind)} x {kind}" for kind in dict.fromkeys(kinds))
    tell(f"Devices: {listed} ({jax.default_backend()}); {os.cpu_count()} cores.")
