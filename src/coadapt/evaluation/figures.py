"""Figures: small panels side by side, one a condition, with a line a method."""

import io
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Line(NamedTuple):
    """One method in one panel. A line with a deviation gets a band of that half-width."""

    label: str
    x: np.ndarray
    y: np.ndarray
    deviation: np.ndarray | None = None
    style: str = "-"
    colour: str | None = None


class Panel(NamedTuple):
    title: str
    lines: Sequence[Line]


def draw_panels(panels: Sequence[Panel], x_label: str, y_label: str, title: str, columns: int = 3) -> dict[str, bytes]:
    """The panels as one figure, with one legend for all: the contents of a png and of an svg file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(3.6 * columns, 2.7 * rows + 0.9), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis, panel in zip(axes.flat, panels, strict=False):
        _draw(axis, panel)
    figure.suptitle(title)
    axes[-1, (columns - 1) // 2].set_xlabel(x_label)  # a label of the whole figure would lie on the legend
    figure.supylabel(y_label)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(handles), frameon=False)
    return as_files(figure, dpi=120)


def as_files(figure, dpi: int) -> dict[str, bytes]:
    """The contents of a png file, as fine as asked for, and of an svg file."""
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "coadapt"}):  # no random ids and no date: the same picture gives the same file
        return {
            "png": _saved(figure, format="png", dpi=dpi),
            "svg": _saved(figure, format="svg", metadata={"Date": None}),
        }


def _saved(figure, **how) -> bytes:
    with io.BytesIO() as file:
        figure.savefig(file, **how)
        return file.getvalue()


def _draw(axis, panel: Panel) -> None:
    for line in panel.lines:
        axis.plot(line.x, line.y, line.style, label=line.label, color=line.colour, linewidth=1.5)
        if line.deviation is not None:
            low, high = line.y - line.deviation, line.y + line.deviation
            axis.fill_between(line.x, low, high, color=line.colour, alpha=0.2, linewidth=0)
    axis.set_title(panel.title, fontsize=10)
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
