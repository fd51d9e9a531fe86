"""Figures: small panels side by side, one a condition, with a line a method; bars in groups; a matrix of numbers."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from coadapt.images import as_files


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


class Bar(NamedTuple):
    """One method, with a bar in each group; where there is an interval, with how far it reaches below and above."""

    label: str
    heights: np.ndarray
    reach: np.ndarray | None = None  # below or above, group
    colour: str | None = None


def _figure(width: float, height: float):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def draw_panels(
    panels: Sequence[Panel], x_label: str, y_label: str, title: str, columns: int = 3, legend_columns: int | None = None
) -> dict[str, bytes]:
    """The panels as one figure, with one legend for all: the contents of a png and of an svg file."""
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    figure = _figure(max(3.6 * columns, 7), 2.7 * rows + 0.9)
    axes = figure.subplots(rows, columns, squeeze=False)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis, panel in zip(axes.flat, panels, strict=False):
        _draw(axis, panel)
    figure.suptitle(title)
    axes[-1, (columns - 1) // 2].set_xlabel(x_label)  # a label of the whole figure would lie on the legend
    figure.supylabel(y_label)
    entries = {}
    for axis in axes.flat[: len(panels)]:
        handles, labels = axis.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    columns = legend_columns or len(entries)
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=columns, frameon=False)
    return as_files(figure, dpi=120)


def draw_bars(groups: Sequence[str], bars: Sequence[Bar], y_label: str, title: str) -> dict[str, bytes]:
    """Groups of bars side by side, one a method."""
    figure = _figure(9, 3.6)
    axis = figure.subplots()
    width = 0.8 / len(bars)
    for n, bar in enumerate(bars):
        places = np.arange(len(groups)) + (n - (len(bars) - 1) / 2) * width
        axis.bar(places, bar.heights, width * 0.9, yerr=bar.reach, color=bar.colour, label=bar.label, capsize=2)
    axis.set_xticks(np.arange(len(groups)), groups)
    axis.set_ylabel(y_label)
    _plain(axis)
    figure.suptitle(title)
    figure.legend(loc="outside lower center", ncols=min(len(bars), 4), frameon=False)
    return as_files(figure, dpi=120)


def draw_matrix(
    rows: Sequence[str], columns: Sequence[str], values: np.ndarray, shades: np.ndarray, title: str, shade: str
) -> dict[str, bytes]:
    """A number in each field, the brighter the higher its shade, which may be another number."""
    figure = _figure(max(0.42 * len(columns) + 2.8, 8), 0.22 * len(rows) + 1.6)
    axis = figure.subplots()
    image = axis.imshow(shades, aspect="auto", cmap="viridis")
    axis.set_xticks(np.arange(len(columns)), columns, rotation=90, fontsize=8)
    axis.set_yticks(np.arange(len(rows)), rows, fontsize=8)
    middle = (shades.min() + shades.max()) / 2
    for (row, column), value in np.ndenumerate(values):
        ink = "white" if shades[row, column] < middle else "black"
        axis.text(column, row, f"{value:.3f}", ha="center", va="center", fontsize=6, color=ink)
    figure.colorbar(image, ax=axis, label=shade)
    figure.suptitle(title)
    return as_files(figure, dpi=120)


def _draw(axis, panel: Panel) -> None:
    for line in panel.lines:
        axis.plot(line.x, line.y, line.style, label=line.label, color=line.colour, linewidth=1.5)
        if line.deviation is not None:
            low, high = line.y - line.deviation, line.y + line.deviation
            axis.fill_between(line.x, low, high, color=line.colour, alpha=0.2, linewidth=0)
    axis.set_title(panel.title, fontsize=10)
    _plain(axis)


def _plain(axis) -> None:
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
