"""Results where others will look for them. What lies there already is only replaced if it was published before.

A published folder has a list of what was published there, with checksums. So whatever a person has put or changed there
is known as theirs, and so is every other folder.
"""

import os
from pathlib import Path

from coadapt.storage.files import Incompatible, make_folder, read_bytes, write_bytes
from coadapt.storage.runs import ARTEFACTS, RECORD, Run
from coadapt.storage.sealed import checksum, read_sealed, write_sealed

LIST = "published.json"

Listed = dict[str, list[str]]
"""By name of a file, the checksums it may have."""


def check_place(folder: Path, run: Path, experiment: str) -> None:
    """Refuse, before any work begins, to publish a run's results where they would be mixed with something else."""
    place, store = _resolved(folder), _resolved(run).parent / ARTEFACTS
    if place.name == ARTEFACTS or store in place.parents:
        raise Incompatible(f"nothing can be published in {folder}: this is where runs keep what is finished")
    is_run = lambda at: at == _resolved(run) or os.path.exists(at / RECORD)
    around = next((at for at in (place, *place.parents) if is_run(at)), None)
    if around is not None:
        raise Incompatible(f"nothing can be published in {folder}: {around} is a run; choose a folder outside of it")
    _listed(folder, experiment)


def publish(run: Run, folder: Path) -> None:
    """The results, and the configuration they come from, to where others will look for them."""
    make_folder(folder)
    found = (run.folder / "config.json", *sorted(run.results.iterdir()))
    files = {file.name: read_bytes(file) for file in found if file.is_file()}
    before = _listed(folder, run.experiment)
    for name in files:
        if name not in before and (folder / name).exists():
            file = folder / name
            raise Incompatible(f"{file} was not published by coadapt and is left alone; results are in {run.results}")
    now = dict(sorted((before | {name: [checksum(data)] for name, data in files.items()}).items()))
    write_list = lambda listed: write_sealed(folder / LIST, {"experiment": run.experiment, "files": listed})
    # While it lasts a file may be the old or the new one, so that whoever is killed here can publish again.
    write_list({name: now[name] + before.get(name, []) for name in now})
    for name, data in files.items():
        write_bytes(folder / name, data)
    write_list(now)


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError) as problem:  # a link that leads to itself
        raise Incompatible(f"there is no way to {path}: {problem}") from None


def _listed(folder: Path, experiment: str) -> Listed:
    """What was published in a folder before; refused if it is there for something else, or was changed since."""
    try:
        names = sorted(file.name for file in folder.iterdir() if not file.name.startswith("."))
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise Incompatible(f"nothing can be published in {folder}: {problem.strerror or problem}") from None
    if not names:
        return {}
    if LIST not in names:
        raise Incompatible(f"{folder} holds {names[0]}, which was not published by coadapt; choose another folder")
    listed = read_sealed(folder / LIST)
    of, files = listed.get("experiment"), listed.get("files")
    if of != experiment:
        raise Incompatible(f"{folder} holds published results of {of!r}, not of {experiment!r}; choose another folder")
    if not isinstance(files, dict) or not all(isinstance(sums, list) for sums in files.values()):
        raise Incompatible(f"{folder / LIST} does not say what it should under 'files'")
    for name, checksums in files.items():
        file = folder / name
        if file.exists() and checksum(read_bytes(file)) not in checksums:
            raise Incompatible(f"{file} was changed after it was published; move it away, or choose another folder")
    return files
