"""What was measured, as data and as tables for people."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from benchmarks import scaling
from benchmarks.contenders import BESIDE, MEMORY, is_beside
from benchmarks.measuring import Entry, Quantity, Spread
from coadapt.configs.data import plain
from coadapt.pipeline.pages import Story
from coadapt.tables import Table

TITLES = {
    "stepping": "1. Steps of the game alone",
    "training": "2. Self-play PPO, learning included",
    "recurrent": "3. Recurrent self-play PPO, learning included",
    "quality": "4. From nothing to the paper's quality, compiling included",
    "decision": "5. One decision, predictor and policy",
    "roofline": "6. Roofline: the PPO update beside matrix multiplication",
    "scaling": "7. Scaling: the cost of an iteration of self-play PPO",
}


@dataclass
class Results:
    """Everything that is known when some rows are measured."""

    sizes: dict[str, Any]
    entries: list[Entry] = field(default_factory=list)
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)  # by row: when, where and with what it was measured

    def without(self, rows: Sequence[str]) -> "Results":
        """What is left when these rows are measured again."""
        entries = [entry for entry in self.entries if entry.row not in rows]
        return Results(self.sizes, entries, {row: run for row, run in self.runs.items() if row not in rows})


STORY = Story(
    "How fast",
    "Everybody in turn on one machine: how many times as fast as others training is, and how its cost scales.",
    {"bench": "Ratios are taken turn by turn, and above 1 ours is better."},
    first_tables=2,
    place=2,
)
"""What the page of results tells."""


def summary(results: Results) -> dict[str, Any]:
    """All of it, ready for JSON."""
    return {
        "experiment": "bench",
        "story": plain(STORY._asdict()),
        "runs": {row: results.runs[row] for row in TITLES if row in results.runs},
        "sizes": results.sizes,
        "rows": [plain(entry.as_data()) for row in TITLES for entry in results.entries if entry.row == row],
    }


def from_summary(data: dict[str, Any]) -> Results:
    """What `summary` made of it."""
    return Results(data["sizes"], [Entry.from_data(entry) for entry in data["rows"]], data["runs"])


def markdown(results: Results) -> str:
    """What was measured where in some paragraphs, then a table for each row."""
    return "\n".join([*_circumstances(results), HOW, *(table.markdown() for table in tables(results.entries))])


HOW = (
    "All contenders of a row took turns in one run, but for row 4, where seeds come one after the other.\n"
    "Numbers are medians with the lowest and the highest. A ratio is taken turn by turn, and above 1 ours is better.\n"
)


def _circumstances(results: Results) -> list[str]:
    """One paragraph, or one for each run if not all rows were measured in one."""
    date_of = lambda row: results.runs[row]["machine"]["date"]
    together = [list(rows) for _, rows in groupby(sorted(results.runs, key=date_of), key=date_of)]
    which = lambda rows: f"Rows {', '.join(TITLES[row][0] for row in rows)}. " if len(together) > 1 else ""
    return [which(rows) + about(results.runs[rows[0]]["machine"]) for rows in together]


def about(machine: dict[str, Any]) -> str:
    """On what this was measured."""
    peak = {name: "unknown" if gflops is None else f"{gflops:,.0f} GFLOP/s" for name, gflops in _peaks(machine).items()}
    loads = ", ".join(f"{load:g}" for load in machine["load_average_at_start"])
    return (
        f"Measured on {machine['processor']}, {machine['cores']} cores, {machine['memory_gb']:g} GB, "
        f"{machine['system']}, on {machine['date']} UTC.\n"
        f"Multiplying float32 matrices it does {peak['one_core']} on one core and {peak['all_cores']} on all.\n"
        f"Load average before: {loads}.\n"
    )


def _peaks(machine: dict[str, Any]) -> dict[str, float | None]:
    return machine["matrix_multiplication"]


def tables(entries: Sequence[Entry]) -> list[Table]:
    """One for each row that was measured."""
    by_row = {row: [entry for entry in entries if entry.row == row] for row in TITLES}
    return [
        (_scaling_table if row == scaling.ROW else _table)(TITLES[row], found) for row, found in by_row.items() if found
    ]


def _table(title: str, entries: Sequence[Entry]) -> Table:
    beside = {what: most for what in BESIDE if (most := _most(what, entries))}
    shown = [entry for entry in entries if not is_beside(entry)]
    several = len({entry.quantity for entry in shown}) > 1
    what = lambda entry: [entry.quantity] if several else []
    had = lambda entry: [most.get(entry.contender, "") for most in beside.values()]
    columns = ["contender", *(["what"] if several else []), "unit", "median", "lowest to highest", "ratio"]
    columns += [*(_heading(what) for what in beside), "note"]
    rows = [[each.contender, *what(each), each.unit, *_numbers(each), *had(each), _note(each)] for each in shown]
    return Table(title, columns, rows, left=(1, *((2,) if several else ()), len(columns) - 1))


def _most(what: Quantity, entries: Sequence[Entry]) -> dict[str, str]:
    """The most that each had of it."""
    return {each.contender: number(each.value.high) for each in entries if each.quantity == what.name and each.value}


def _heading(what: Quantity) -> str:
    return f"{what.name}, {what.unit}"


def _numbers(entry: Entry) -> list[str]:
    if entry.value is None:
        return ["", "", ""]
    exactly = "≈ " if entry.extrapolated else ""
    ratio = "" if entry.ratio is None else f"{_ratio(entry.ratio.median)} ({_ratios(entry.ratio)})"
    return [exactly + number(entry.value.median), _range(entry.value), ratio]


def _note(entry: Entry) -> str:
    parts = ["extrapolated" if entry.extrapolated else "", entry.note, entry.failed or ""]
    return "; ".join(part for part in parts if part)


def _scaling_table(title: str, entries: Sequence[Entry]) -> Table:
    memory = _most(MEMORY, entries)
    rows = []
    for entry in (entry for entry in entries if entry.quantity == scaling.COST.name):
        linear = entry.settings.get("of_linear_scaling")
        share = f"{linear['median']:.2f}" if linear else ""
        middle, lowest_to_highest, _ = _numbers(entry)
        had = memory.get(entry.contender, "")
        rows.append([entry.contender, middle, lowest_to_highest, share, had, entry.failed or ""])
    columns = [
        "size",
        "seconds an iteration",
        "lowest to highest",
        "of linear scaling from the size before",
        _heading(MEMORY),
        "note",
    ]
    return Table(title, columns, rows, left=(5,))


def number(value: float) -> str:
    """Three figures are all that a measurement of time is worth."""
    if abs(value) >= 100:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}"


def _range(value: Spread) -> str:
    return f"{number(value.low)} to {number(value.high)}"


def _ratio(value: float) -> str:
    return f"{number(value)}x"


def _ratios(ratio: Spread) -> str:
    return f"{number(ratio.low)} to {number(ratio.high)}"
