"""The whole benchmark: one row after the other, and all that is known so far in the folder after each."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from coadapt.benchmarks import decision, growth, limit, ours, quality, stepping, training
from coadapt.benchmarks.amounts import Amounts
from coadapt.benchmarks.answering import versions
from coadapt.benchmarks.contenders import SCRIPTS, Contenders
from coadapt.benchmarks.machine import describe
from coadapt.benchmarks.measuring import Entry
from coadapt.benchmarks.picture import picture
from coadapt.benchmarks.report import Results, from_summary, markdown, summary
from coadapt.configs.checks import distinct
from coadapt.configs.data import plain
from coadapt.runs.progress import Progress
from coadapt.storage.files import make_folder, read_json, write_bytes, write_json, write_text


class Asked(NamedTuple):
    """What a row may need."""

    amounts: Amounts
    contenders: Contenders
    progress: Progress
    before: Sequence[Entry]  # of the rows that were measured before it


ROWS: dict[str, Callable[[Asked], list[Entry]]] = {
    "stepping": lambda asked: stepping.measure(asked.amounts, asked.contenders, asked.progress),
    "training": lambda asked: training.self_play(asked.amounts, asked.contenders, asked.progress),
    "recurrent": lambda asked: training.recurrent(asked.amounts, asked.contenders, asked.progress),
    "quality": lambda asked: quality.measure(asked.amounts, asked.progress, asked.before),
    "decision": lambda asked: decision.measure(asked.amounts, asked.progress),
    "limit": lambda asked: limit.measure(asked.amounts, asked.progress),
    "growth": lambda asked: growth.measure(asked.amounts, asked.contenders, asked.progress),
}
"""In the order they are measured and shown in."""

AT_ONCE = tuple(row for row in ROWS if row != "quality")
"""What somebody in a hurry gets to see: training an agent takes minutes, however little of it is measured."""


def check(rows: tuple[str, ...], environments: Path | None) -> None:
    """A ValueError for what cannot be measured."""
    distinct("rows", rows)
    for row in rows:
        if row not in ROWS:
            raise ValueError(f"there is no row {row!r}; choose some of: {', '.join(ROWS)}")
    if environments is not None and not environments.is_dir():
        raise ValueError(f"there is no folder {environments} with the peers' environments; make it with: make bench")
    if environments is not None and not SCRIPTS.is_dir():
        raise ValueError("the peers' scripts are part of the repository, and this is an installed package")


def run(
    rows: tuple[str, ...], amounts: Amounts, environments: Path | None, folder: Path, progress: Progress
) -> Results:
    """All these rows. Whatever stops it, the rows before are in the folder; rows not asked for stay as they were."""
    check(rows, environments)
    make_folder(folder)
    results = _so_far(folder, amounts, rows)
    machine = describe(amounts.matrix_size, amounts.multiplying)
    for row in (name for name in ROWS if name in rows):
        started = time.monotonic()
        with Contenders(environments, amounts.longest) as contenders:
            entries = ROWS[row](Asked(amounts, contenders, progress, results.entries))
        results = results.without((row,))
        results.entries += entries
        seconds = round(time.monotonic() - started, 1)
        used = {"ours": versions(ours.PACKAGES), **contenders.versions}
        results.runs[row] = {"machine": machine, "versions": used, "seconds": seconds}
        _write(results, folder)
        for failure in dict.fromkeys(entry.failed for entry in entries if entry.failed):
            progress.say(failure)
    return results


def _so_far(folder: Path, amounts: Amounts, rows: tuple[str, ...]) -> Results:
    """What an earlier run has left there. If it measured other amounts, all of its rows have to be measured again."""
    file, asked = folder / "summary.json", plain(amounts)
    if not file.exists():
        return Results(asked)
    try:
        found = from_summary(read_json(file))
    except (KeyError, TypeError, AttributeError):
        raise ValueError(f"{file} is not a summary of a benchmark; choose another folder, or remove it") from None
    if found.amounts == asked:
        return found
    left = [row for row in found.runs if row not in rows]
    if left:
        raise ValueError(
            f"{folder} has other rows ({', '.join(left)}) that were measured with other amounts; "
            "measure them again, too, or choose another folder"
        )
    return Results(asked)


def _write(results: Results, folder: Path) -> None:
    files: dict[str, Any] = picture(results.entries)
    for kind, content in files.items():
        write_bytes(folder / f"bench.{kind}", content)
    write_text(folder / "table.md", markdown(results))
    write_json(folder / "summary.json", summary(results))
