"""Pictures of the salesman: an episode as an animation, and as a strip of a few moments.

Every picture is one canvas measured in pixels from its top left corner, so that all its parts, from the letter on an
agent to the legend, are placed with plain numbers. The main agent's colour is also that of what it believes, and the
partner's that of what the partner truly is.
"""

import io
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from coadapt.games.episode import Episode
from coadapt.games.game import MAIN, PARTNER
from coadapt.games.salesman.rules import SalesmanState
from coadapt.images import as_files

MAIN_COLOUR, PARTNER_COLOUR, SUBGOAL_COLOUR, GOAL_COLOUR = "#0072b2", "#d55e00", "#009e73", "#f5c400"
"""From the palette of Okabe and Ito, which the colour-blind can tell apart, too; its yellow is a little deeper here."""

COLLECTED_COLOUR, GOAL_EDGE, GOAL_FLOOR = "#b5cfc6", "#a88500", "#fbe9a8"
INK, FAINT_INK, LINES, TRACK = "#2b2b2b", "#767676", "#e4e4e4", "#e8ecef"

TRUE_LOOK: dict[str, Any] = {"color": PARTNER_COLOUR, "weight": "bold"}
LETTERS, COLOURS = ("M", "P"), (MAIN_COLOUR, PARTNER_COLOUR)
"""By seat."""

TEXT, HEADING, BAR, LEGEND_COLUMN, LEGEND_ROW = 11, 20, 30, 82, 18
"""In pixels: words; the line above the bars; a label with its bar below it; a shape of the legend with its meaning."""

SQUARE = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
DIAMOND = np.array([(0, -1), (1, 0), (0, 1), (-1, 0)])
_TURNS = np.arange(10) * np.pi / 5
STAR: np.ndarray = np.array([1, 0.45] * 5)[:, None] * np.stack([np.sin(_TURNS), -np.cos(_TURNS)], axis=1)
"""Corners around nought, where up is negative."""


def episode_gif(episode: Episode, milliseconds: int = 300, hold: int = 2_500) -> bytes:
    """The episode as an animation that repeats for ever: so long for every state, and `hold` for the last."""
    from PIL import Image

    frames = np.stack([_frame(episode, step) for step in range(episode.steps + 1)])
    height = frames.shape[1]
    everything = Image.fromarray(np.concatenate(frames))  # for all frames to share one palette
    film = everything.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    first, *others = [film.crop((0, top, film.width, top + height)) for top in range(0, film.height, height)]
    durations = [milliseconds] * episode.steps + [hold]
    with io.BytesIO() as file:
        first.save(file, "gif", save_all=True, append_images=others, duration=durations, loop=0)
        return file.getvalue()


def _frame(episode: Episode, step: int) -> np.ndarray:
    """The animation at one step, in red, green and blue: the grid, and beside it caption, belief and legend."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    margin, grid, left, width = 12, 288, 317, 150
    above, below = 98, 2 * LEGEND_ROW + 20
    height = max(grid + 2 * margin, above + _belief_height(episode) + below)
    axis = _canvas(480, height)
    _draw_grid(axis, episode.states[step], episode.game.size, margin, margin, grid)
    _write(axis, left, 22, f"step {step}", height=17, weight="bold")
    _write(axis, left, 44, f"return {_number(episode.return_after(step))}", height=13)
    _write_truth(axis, episode, left, 65)
    _draw_belief(axis, episode, step, left, above, width)
    _draw_legend(axis, left, height - below, columns=2)
    canvas = FigureCanvasAgg(axis.figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3]


def episode_strip(episode: Episode, steps: int = 6) -> dict[str, bytes]:
    """A few states of the episode side by side, the first and the last among them: a png and an svg file's contents.

    Lines show how the agents came there from the state before.
    """
    chosen = np.unique(np.linspace(0, episode.steps, steps).round().astype(int)).tolist()
    grid, gap, top = 160, 14, 32
    below = top + grid + 20
    bottom = below + _belief_height(episode)
    axis = _canvas(max(len(chosen) * (grid + gap) + gap, 580), bottom + LEGEND_ROW)  # 580 for the legend
    for place, (before, step) in enumerate(zip([0, *chosen], chosen, strict=False)):
        left = gap + place * (grid + gap)
        _write(axis, left, 18, f"step {step}", weight="bold")
        _write(axis, left + grid, 18, f"return {_number(episode.return_after(step))}", ha="right")
        _draw_grid(axis, episode.states[step], episode.game.size, left, top, grid, episode.states[before : step + 1])
        _draw_belief(axis, episode, step, left, below, grid, heading=place == 0)
    _draw_legend(axis, gap, bottom)
    _write_truth(axis, episode, gap + len(LEGEND) * LEGEND_COLUMN, bottom)
    return as_files(axis.figure, dpi=200)  # twice as fine as it is measured


def _canvas(width: float, height: float) -> Any:
    """A white sheet on which everything is measured in pixels from its top left corner."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / 100, height / 100), dpi=100)
    axis = figure.add_axes((0, 0, 1, 1))
    axis.set(xlim=(0, width), ylim=(height, 0))
    axis.set_axis_off()
    return axis


class _Spot(NamedTuple):
    """Where something is drawn: the middle of a cell of this width."""

    x: float
    y: float
    cell: float


def _draw_grid(
    axis, state: SalesmanState, size: int, left: float, top: float, width: float, way: Sequence[SalesmanState] = ()
) -> None:
    """Everything that is on the grid, and the way the agents came."""
    cell = width / size
    spot = lambda place: _Spot(left + (float(place[1]) + 0.5) * cell, top + (float(place[0]) + 0.5) * cell, cell)
    _draw_floor(axis, size, left, top, cell)
    for place, collected in zip(np.asarray(state.subgoals), np.asarray(state.collected), strict=True):
        _draw_subgoal(axis, spot(place), bool(collected))
    _draw_goal(axis, spot(np.asarray(state.goal)))
    for seat in (MAIN, PARTNER):
        _draw_way(axis, [spot(np.asarray(each.agents)[seat]) for each in way], seat)
    for seat, agent in enumerate(_apart(*map(spot, np.asarray(state.agents)))):
        _draw_agent(axis, agent, seat)


def _apart(main: _Spot, partner: _Spot) -> tuple[_Spot, _Spot]:
    """The spots of two agents, smaller and side by side if they share a cell."""
    if main != partner:
        return main, partner
    x, y, cell = main
    aside = 0.2 * cell
    return _Spot(x - aside, y - aside, 0.72 * cell), _Spot(x + aside, y + aside, 0.72 * cell)


def _draw_floor(axis, size: int, left: float, top: float, cell: float) -> None:
    """The cells and the wall around them."""
    from matplotlib.patches import Rectangle

    width = size * cell
    between = np.arange(1, size) * cell
    axis.hlines(top + between, left, left + width, color=LINES, linewidth=0.7, zorder=1)
    axis.vlines(left + between, top, top + width, color=LINES, linewidth=0.7, zorder=1)
    axis.add_patch(Rectangle((left, top), width, width, fill=False, edgecolor=INK, linewidth=1.8, joinstyle="round"))


def _draw_subgoal(axis, spot: _Spot, collected: bool = False) -> None:
    faint = {"facecolor": "none", "edgecolor": COLLECTED_COLOUR, "linewidth": 1}
    _draw_shape(axis, spot, DIAMOND, 0.34, **faint if collected else {"facecolor": SUBGOAL_COLOUR})


def _draw_goal(axis, spot: _Spot) -> None:
    """A star on a floor of its own, which is still seen when an agent stands on it."""
    _draw_shape(axis, spot, SQUARE, 0.5, facecolor=GOAL_FLOOR, zorder=0.5)
    _draw_shape(axis, spot, STAR, 0.4, facecolor=GOAL_COLOUR, edgecolor=GOAL_EDGE, linewidth=0.6)


def _draw_shape(axis, spot: _Spot, corners: np.ndarray, scale: float, **look) -> None:
    """A shape around a spot; one unit of its corners is `scale` cells long."""
    from matplotlib.patches import Polygon

    axis.add_patch(Polygon(np.array(spot[:2]) + scale * spot.cell * corners, joinstyle="round", **look))


def _draw_way(axis, spots: Sequence[_Spot], seat: int) -> None:
    """The way an agent came, a little off the middle so that two agents' ways can be told apart."""
    if spots:
        aside = (-0.06, 0.06)[seat] * spots[0].cell
        x, y = np.array([spot[:2] for spot in spots]).T + aside
        axis.plot(x, y, color=COLOURS[seat], alpha=0.5, linewidth=1.6, solid_capstyle="round", zorder=2)


def _draw_agent(axis, spot: _Spot, seat: int) -> None:
    """A disc with its letter on it."""
    from matplotlib.patches import Circle, PathPatch
    from matplotlib.transforms import Affine2D

    radius = 0.38 * spot.cell
    axis.add_patch(Circle(spot[:2], radius, facecolor=COLOURS[seat], edgecolor="white", linewidth=0.8, zorder=3))
    placed = Affine2D().scale(radius, -radius).translate(*spot[:2])  # up is down here
    axis.add_patch(PathPatch(_letter(LETTERS[seat]).transformed(placed), facecolor="white", linewidth=0, zorder=3))


@cache
def _letter(letter: str):
    """The outline of a letter, as high as one, around nought. A shape grows with its cell, as text would not."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D

    path = TextPath((0, 0), letter, prop=FontProperties(weight="bold"))
    (left, bottom), (right, top) = path.get_extents().get_points()
    around_nought = Affine2D().translate(-(left + right) / 2, -(bottom + top) / 2).scale(1 / (top - bottom))
    return path.transformed(around_nought)


def _draw_belief(
    axis, episode: Episode, step: int, left: float, top: float, width: float, heading: bool = True
) -> None:
    """A bar for each label, its name above it, with what is true in the partner's colour."""
    from matplotlib.patches import Rectangle

    belief = episode.belief_at(step)
    if belief is None:
        return
    if heading:
        _write(axis, left, top, "belief about the partner", color=FAINT_INK)
    for row, (name, share) in enumerate(zip(episode.label_names, belief.tolist(), strict=True)):
        y = top + HEADING + row * BAR
        look = TRUE_LOOK if name == episode.truth else {}
        _write(axis, left, y, name, **look)
        _write(axis, left + width, y, f"{share:.0%}", ha="right", **look)
        for length, colour in ((width, TRACK), (width * share, MAIN_COLOUR)):
            axis.add_patch(Rectangle((left, y + 8), length, 7, facecolor=colour))


def _belief_height(episode: Episode) -> int:
    """How much room the bars and what is above them take, with some below."""
    return 0 if episode.beliefs is None else HEADING + len(episode.label_names) * BAR + 8


def _write_truth(axis, episode: Episode, x: float, y: float) -> None:
    """What the partner is, if that is known."""
    if episode.truth is not None:
        _write(axis, x, y, f"partner: {episode.truth}", **TRUE_LOOK)


def _draw_legend(axis, left: float, top: float, columns: int = 5) -> None:
    """What the shapes mean."""
    for place, (name, draw) in enumerate(LEGEND.items()):
        row, column = divmod(place, columns)
        x, y = left + column * LEGEND_COLUMN, top + row * LEGEND_ROW
        draw(axis, _Spot(x + 7, y, 15))
        _write(axis, x + 18, y, name, height=10, color=FAINT_INK)


LEGEND: dict[str, Callable[..., None]] = {
    "main agent": lambda axis, spot: _draw_agent(axis, spot, MAIN),
    "partner": lambda axis, spot: _draw_agent(axis, spot, PARTNER),
    "subgoal": _draw_subgoal,
    "collected": partial(_draw_subgoal, collected=True),
    "goal": _draw_goal,
}


def _write(axis, x: float, y: float, words: str, height: float = TEXT, **look) -> None:
    """Words around a height, to the right of where they begin; their own height is in pixels, as fonts' is not."""
    axis.text(x, y, words, **{"fontsize": 0.72 * height, "color": INK, "va": "center_baseline", **look})


def _number(value: float) -> str:
    """With a minus sign of its own width, and none before a zero that rounding left."""
    return f"{value:z.2f}".replace("-", "−")
