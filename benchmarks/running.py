"""The whole benchmark: one row after the other, and all that is known so far in the folder after each."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks import decision, ours, roofline, scaling, stepping, time_to_quality, training
from benchmarks.contenders import Contenders
from benchmarks.machine import describe
from benchmarks.measuring import Entry
from benchmarks.picture import picture
from benchmarks.report import Results, from_summary, markdown, summary
from benchmarks.sizes import Sizes
from benchmarks.worker import versions
from coadapt.configs.checks import distinct
from coadapt.configs.data import plain
from coadapt.runs.progress import Progress
from coadapt.storage.files import make_folder, read_json, write_bytes, write_json, write_text


class Asked(NamedTuple):
    """What a row may need."""

    sizes: Sizes
    contenders: Contenders
    progress: Progress
    before: Sequence[Entry]  # of the rows that were measured before it


ROWS: dict[str, Callable[[Asked], list[Entry]]] = {
    "stepping": lambda asked: stepping.measure(asked.sizes, asked.contenders, asked.progress),
    "training": lambda asked: training.self_play(asked.sizes, asked.contenders, asked.progress),
    "recurrent": lambda asked: training.recurrent(asked.sizes, asked.contenders, asked.progress),
    "quality": lambda asked: time_to_quality.measure(asked.sizes, asked.progress, asked.before),
    "decision": lambda asked: decision.measure(asked.sizes, asked.progress),
    "roofline": lambda asked: roofline.measure(asked.sizes, asked.progress),
    "scaling": lambda asked: scaling.measure(asked.sizes, asked.contenders, asked.progress),
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


def run(rows: tuple[str, ...], sizes: Sizes, environments: Path | None, folder: Path, progress: Progress) -> Results:
    """All these rows. Whatever stops it, the rows before are in the folder; rows not asked for stay as they were."""
    check(rows, environments)
    make_folder(folder)
    results = _so_far(folder, sizes, rows)
    machine = describe(sizes.matrix_size, sizes.multiplying)
    for row in (name for name in ROWS if name in rows):
        started = time.monotonic()
        with Contenders(environments, sizes.longest) as contenders:
            entries = ROWS[row](Asked(sizes, contenders, progress, results.entries))
        results = results.without((row,))
        results.entries += entries
        seconds = round(time.monotonic() - started, 1)
        used = {"ours": versions(ours.PACKAGES), **contenders.versions}
        results.runs[row] = {"machine": machine, "versions": used, "seconds": seconds}
        write(results, folder)
        for failure in dict.fromkeys(entry.failed for entry in entries if entry.failed):
            progress.say(failure)
    return results


def _so_far(folder: Path, sizes: Sizes, rows: tuple[str, ...]) -> Results:
    """What an earlier run has left there. If it measured other sizes, all of its rows have to be measured again."""
    file, asked = folder / "summary.json", plain(sizes)
    if not file.exists():
        return Results(asked)
    try:
        found = from_summary(read_json(file))
    except (KeyError, TypeError, AttributeError):
        raise ValueError(f"{file} is not a summary of a benchmark; choose another folder, or remove it") from None
    if found.sizes == asked:
        return found
    left = [row for row in found.runs if row not in rows]
    if left:
        raise ValueError(
            f"{folder} has other rows ({', '.join(left)}) that were measured with other sizes; "
            "measure them again, too, or choose another folder"
        )
    return Results(asked)


def write(results: Results, folder: Path) -> None:
    """The picture, the table and the summary of all that was measured."""
    for ending, content in picture(results.entries).items():
        write_bytes(folder / f"bench.{ending}", content)
    write_text(folder / "table.md", markdown(results))
    write_json(folder / "summary.json", summary(results))
