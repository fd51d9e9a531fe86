"""How a task is shown to people: what stages compute does not depend on any of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from coadapt.games.episode import Episode
from coadapt.tables import Table


class PaperRow(NamedTuple):
    """What a paper prints of a method with partners of one type."""

    length: float
    total: float  # the return


class Renderer(NamedTuple):
    """Pictures of an episode."""

    film: Callable[[Episode], bytes]  # an animated gif
    strip: Callable[[Episode], dict[str, bytes]]  # some moments side by side, by ending: png and svg


@dataclass(frozen=True)
class Showing:
    """What only this task has to show. Everything is optional but its name."""

    title: str
    about: str = ""  # for the page: what the game is about
    limits: Callable[[Any], str] = lambda task: ""  # for the model card: what was held fixed
    paper: Callable[[Any], Mapping[tuple[str, str], PaperRow]] = lambda task: {}  # of this very task, by method, type
    untrained: Mapping[str, str] = field(default_factory=dict)  # what the oracle's players are called in tables
    optimum_table: Callable[[Any, Mapping[str, Any]], Table] | None = None  # task, joint optimum by layout
    optimum_summary: Callable[[Any, Mapping[str, Any]], dict[str, Any]] = lambda task, optimum: {}
    renderer: Renderer | None = None
