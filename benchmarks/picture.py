"""The benchmark as a picture: how many times as fast as others, and how cost scales."""

from collections.abc import Sequence
from itertools import groupby

from benchmarks import scaling
from benchmarks.contenders import is_beside
from benchmarks.measuring import Entry
from benchmarks.report import number
from coadapt.evaluation.figures import as_files

MEASURED, EXTRAPOLATED = "#0072b2", "#56b4e9"
"""From the palette of Okabe and Ito."""

WORDS = {
    "stepping": "stepping",
    "training": "training",
    "recurrent": "recurrent training",
    "quality": "time to quality",
}


def picture(entries: Sequence[Entry]) -> dict[str, bytes]:
    """The contents of a png and of an svg file; nothing if there is nothing to show yet."""
    compared = [entry for entry in entries if _is_shown(entry)]
    scaled = [
        entry for entry in entries if entry.row == scaling.ROW and entry.quantity == scaling.COST.name and entry.value
    ]
    if not compared and not scaled:
        return {}
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, max(3.6, 0.34 * len(compared) + 1.4)), layout="constrained")
    FigureCanvasAgg(figure)
    drawings = [(_draw_ratios, compared, 3), (_draw_scaling, scaled, 2)]
    shown = [(draw, what, width) for draw, what, width in drawings if what]
    axes = figure.subplots(1, len(shown), width_ratios=[width for *_, width in shown], squeeze=False)[0]
    for axis, (draw, what, _) in zip(axes, shown, strict=True):
        draw(axis, what)
    return as_files(figure, dpi=120)


def _is_shown(entry: Entry) -> bool:
    """How fast something is, beside another; steps and memory are for the table."""
    return entry.ratio is not None and entry.row in WORDS and not is_beside(entry)


def _draw_ratios(axis, entries: Sequence[Entry]) -> None:
    for place, entry in enumerate(entries):
        assert entry.ratio is not None
        middle, low, high = entry.ratio
        colour = EXTRAPOLATED if entry.extrapolated else MEASURED
        axis.barh(place, middle - 1, left=1, color=colour, height=0.65)
        axis.plot([low, high], [place, place], color="#2b2b2b", linewidth=1)
        axis.annotate(f" {number(middle)}x", (max(high, 1), place), va="center", fontsize=8)
    axis.set_yticks(range(len(entries)), [_label(entry) for entry in entries], fontsize=8)
    axis.invert_yaxis()
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter(_as_number)
    axis.axvline(1, color="#767676", linewidth=1)
    axis.margins(x=0.2)
    axis.set_title("How many times as fast as this is coadapt (log)", fontsize=10)
    _plain(axis)


def _label(entry: Entry) -> str:
    extra = ", extrapolated" if entry.extrapolated else ""
    what = f": {entry.quantity}" if entry.row == "quality" else ""
    return f"{WORDS[entry.row]}{what}\n{entry.contender}{extra}"


def _draw_scaling(axis, entries: Sequence[Entry]) -> None:
    axis_of = lambda entry: entry.settings["axis"]
    for name, group in groupby(sorted(entries, key=axis_of), key=axis_of):
        points = sorted((entry.settings["size"], entry.value.median) for entry in group if entry.value)
        (smallest, cheapest), *_ = points
        sizes, costs = zip(*((size / smallest, cost / cheapest) for size, cost in points), strict=True)
        axis.plot(sizes, costs, "o-", label=name, linewidth=1.5, markersize=4)
    largest = axis.get_xlim()[1]
    axis.plot([1, largest], [1, largest], "--", color="#767676", linewidth=1, label="linear")
    for scale, side in ((axis.set_xscale, axis.xaxis), (axis.set_yscale, axis.yaxis)):
        scale("log", base=2)
        side.set_major_formatter(_as_number)
    axis.legend(frameon=False, fontsize=8)
    axis.set_xlabel("size, as a multiple of the smallest")
    axis.set_title("What an iteration costs, as a multiple", fontsize=10)
    _plain(axis)


def _as_number(value: float, _: int) -> str:
    """And not as a power of ten or two."""
    return f"{value:g}"


def _plain(axis) -> None:
    axis.grid(alpha=0.25)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
