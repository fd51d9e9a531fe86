"""A run is a folder; docs/runs.md says what lies in it. The runs beside it share artefacts/, the finished stages."""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coadapt.storage.files import (
    Damaged,
    Incompatible,
    StorageError,
    check_kinds,
    make_folder,
    open_regular,
    read_json,
    remove_leftovers,
    write_bytes,
    write_json,
)
from coadapt.storage.journal import Line, read_journal, read_lines
from coadapt.storage.lock import FILE as LOCK
from coadapt.storage.lock import Lock, is_locked
from coadapt.storage.provenance import now, provenance
from coadapt.storage.sealed import read_sealed, write_sealed

if TYPE_CHECKING:  # arrays need JAX, and whoever lists runs has none to read
    from coadapt.storage.artefacts import Artefacts
    from coadapt.storage.checkpoints import Checkpoints

RECORD = "run.json"
ARTEFACTS = "artefacts"
VERSION = 1
LONGEST = 1e9
"""Seconds that a chunk can have taken. What is more was never measured."""


@dataclass(frozen=True)
class Run:
    """One run's folder, and what is run there."""

    folder: Path
    id: str
    experiment: str
    config: dict[str, Any]
    fresh: bool = False  # whether it makes everything itself, whatever is there already
    origins: dict[str, str] = field(default_factory=dict)  # checksums of checkpoints that stages went on from
    lock: Lock | None = field(default=None, compare=False)  # of whoever may write it

    def check_lock(self) -> None:
        """Refuse to write what another process is writing by now."""
        if self.lock is not None:
            self.lock.check()

    @property
    def name(self) -> str:
        return self.folder.name

    def metrics(self, stage: str) -> Path:
        return self.folder / "metrics" / f"{stage}.jsonl"

    @property
    def times(self) -> Path:
        return self.folder / "times.jsonl"

    @property
    def results(self) -> Path:
        return self.folder / "results"

    @property
    def checkpoints(self) -> "Checkpoints":
        from coadapt.storage.checkpoints import Checkpoints

        return Checkpoints(self.folder / "checkpoints")

    @property
    def artefacts(self) -> "Artefacts":
        from coadapt.storage.artefacts import Artefacts

        return Artefacts(self.folder.parent / ARTEFACTS)

    @property
    def provenance(self) -> dict[str, Any]:
        """Versions and machine at its beginning, as far as they can be read."""
        return _read_dictionary(self.folder / "provenance.json")

    def seconds_of(self, stage: str) -> float:
        """How long a stage was worked on, what was lost and done again included."""
        seconds: list[Any] = []
        with suppress(Damaged):  # for times are good to have and no more
            records = [line.record or {} for line in read_lines(self.times)]
            seconds = [record.get("seconds") for record in records if record.get("stage") == stage]
        return sum(number for number in seconds if isinstance(number, float) and 0 <= number <= LONGEST)

    def log(self, text: str) -> None:
        """A line for whoever asks later what happened. Never the reason for a run to stop."""
        with suppress(OSError):
            descriptor = open_regular(self.folder / "log.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            with os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"{now()} {text}\n")

    def set_state(self, state: str, **details: Any) -> None:
        """How far it is, for `coadapt runs`. Not worth stopping for."""
        with suppress(StorageError):
            write_json(self.folder / "state.json", {"state": state} | details)

    def set_metrics(self, stage: str, lines: bytes) -> None:
        """Let a stage's metrics be these lines."""
        file = self.metrics(stage)
        if not file.exists() or read_journal(file) != lines:
            make_folder(file.parent)
            write_bytes(file, lines)


KINDS: dict[str, Any] = {each.name: each.type for each in fields(Run) if each.name not in ("folder", "lock")}
"""What run.json says."""


def _number(line: Line) -> int | None:
    """Which chunk a line of the metrics is of, if it can be read. They are counted from one."""
    number = None if line.record is None else line.record.get("done")
    return number if isinstance(number, int) and not isinstance(number, bool) and number > 0 else None


def metrics_until(file: Path, done: int) -> bytes:
    """The lines of a stage's metrics up to a checkpoint, as far as they can be read."""
    kept: dict[int, bytes] = {}
    for line in read_lines(file):
        number = _number(line)
        if number is not None and number <= done:
            kept.setdefault(number, line.data)  # of two that wrote the same chunk, the first
    return b"".join(kept.values())


def _read_dictionary(file: Path) -> dict[str, Any]:
    """What a file holds that is good to have but not needed; nothing if it cannot be read."""
    with suppress(Damaged):
        data = read_json(file)
        if isinstance(data, dict):
            return data
    return {}


def begin(folder: Path, experiment: str, config: dict[str, Any], **how: Any) -> Run:
    """A new run. Its configuration is on the disk before this returns."""
    make_folder(folder)
    run = Run(folder, os.urandom(8).hex(), experiment, config, **how)
    write_sealed(folder / RECORD, {"version": VERSION} | {name: getattr(run, name) for name in KINDS})
    write_json(folder / "config.json", config)
    write_json(folder / "provenance.json", provenance())
    run.log(f"began {experiment}")
    return run


def exists(folder: Path) -> bool:
    """Whether there is a run; anything else in its place is refused, for a run must not be mixed with it."""
    if folder.name == ARTEFACTS:
        raise Incompatible(f"a run cannot be called {ARTEFACTS}: there runs keep what is finished")
    try:
        names = sorted(file.name for file in folder.iterdir())
    except FileNotFoundError:
        return False
    except OSError as problem:
        raise Incompatible(f"there can be no run in {folder}: {problem.strerror or problem}") from None
    others = [name for name in names if name != LOCK and not name.endswith(".part")]
    if others and RECORD not in names:
        raise Incompatible(f"{folder} holds {others[0]} but no {RECORD}, so it is not a run; choose another folder")
    return RECORD in names


def read(folder: Path) -> Run:
    """The run in a folder, as it was begun."""
    if not exists(folder):
        raise Incompatible(f"there is no run in {folder}: it has no {RECORD}")
    record = read_sealed(folder / RECORD)
    if (version := record.get("version")) != VERSION:
        raise Incompatible(f"{folder} is a run of version {version!r}; this coadapt knows version {VERSION}")
    check_kinds(folder / RECORD, record, KINDS)
    said: dict[str, Any] = {name: record.get(name) for name in KINDS}
    return Run(folder, **said)


def tidy(run: Run, report: Callable[[str], None]) -> None:
    """Before a run goes on: away with half-written and damaged files, and the configuration back if it came to harm."""
    for folder in (run.folder, run.folder / "checkpoints", run.folder / "metrics", run.results):
        remove_leftovers(folder)
    try:
        read_json(run.folder / "config.json")
    except Damaged as problem:
        report(f"{problem}; it is written again from {RECORD}")
        write_json(run.folder / "config.json", run.config)
    if not run.provenance:
        write_json(run.folder / "provenance.json", provenance())
    run.checkpoints.set_damaged_aside(report)
    for file in sorted((run.folder / "metrics").glob("*.jsonl")):
        for line in read_lines(file):
            if _number(line) is None and line.data.endswith(b"\n"):  # else it was cut off by a kill
                report(f"line {line.number} of {file} cannot be read and is left out: {line.data[:80]!r}")


@dataclass(frozen=True)
class Glance:
    """What one sees of a run from outside."""

    name: str
    experiment: str
    state: str
    stage: str = ""
    progress: float | None = None  # the share of the whole that is done
    headline: dict[str, float] = field(default_factory=dict)
    note: str = ""


def glance(folder: Path) -> Glance:
    """What one sees of a run from outside; whatever is damaged is named."""
    try:
        run = read(folder)
    except StorageError as problem:
        return Glance(folder.name, "?", "damaged", note=str(problem))
    state = _read_dictionary(folder / "state.json")
    told = {key: state[key] for key, kind in TOLD.items() if isinstance(state.get(key), kind)}
    name = told.pop("state", "begun")
    if name in ("running", "begun"):
        name = "running" if is_locked(folder) else "killed" if name == "running" else name
    if not 0 <= told.get("progress", 0.0) <= 1:
        del told["progress"]
    return Glance(run.name, run.experiment, name, **told)


TOLD: dict[str, type] = {"state": str, "stage": str, "progress": float, "headline": dict, "note": str}
"""What state.json may say."""


def last_metrics(run: Run) -> dict[str, dict[str, Any]]:
    """The last line of every stage."""
    files = [file for file in (run.folder / "metrics").glob("*.jsonl") if file.is_file()]
    records: dict[str, list[Any]] = {}
    for file in sorted(files, key=lambda file: file.stat().st_mtime):
        with suppress(Damaged):
            records[file.stem] = [line.record for line in read_lines(file) if _number(line) is not None]
    return {stage: of_stage[-1] for stage, of_stage in records.items() if of_stage}


def folders(root: Path) -> list[Path]:
    """All runs below a folder."""
    return sorted(path.parent for path in root.glob(f"*/{RECORD}"))
