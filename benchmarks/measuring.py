"""Measurements side by side: all contenders in turn, again and again, and what comes of it.

Whatever else the machine is doing meets all of them alike, and a ratio is taken within a turn. So ratios say more than
the numbers they are made of.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, NamedTuple

from benchmarks.client import PeerFailed
from coadapt.runs.progress import Advance


class Quantity(NamedTuple):
    """What a number is of."""

    name: str
    unit: str
    more_is_better: bool = True


Measured = dict[Quantity, float]
"""What one measurement found."""


@dataclass(frozen=True)
class Contender:
    """Whoever is measured. `measure` does its work once; it may raise `PeerFailed`."""

    name: str
    measure: Callable[[], Measured]
    settings: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    most: int | None = None  # counted turns it takes, where that is fewer than others take


class Spread(NamedTuple):
    """The middle one of some numbers, and the lowest and the highest."""

    median: float
    low: float
    high: float


def spread(numbers: Sequence[float]) -> Spread:
    """How some numbers lie; at least one."""
    return Spread(median(numbers), min(numbers), max(numbers))


@dataclass(frozen=True)
class Entry:
    """One number of the table, with all that it was made of."""

    row: str
    contender: str
    quantity: str
    unit: str
    repetitions: tuple[float, ...]
    ratio: Spread | None = None  # how many times as good as this contender ours is
    settings: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    extrapolated: bool = False  # worked out from other numbers, not measured
    failed: str | None = None  # why there are no repetitions

    @property
    def value(self) -> Spread | None:
        return spread(self.repetitions) if self.repetitions else None

    def as_data(self) -> dict[str, Any]:
        """Ready for JSON."""
        plain = lambda s: None if s is None else s._asdict()
        return asdict(self) | {"value": plain(self.value), "ratio": plain(self.ratio)}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "Entry":
        """What `as_data` made of it."""
        ratio = None if data["ratio"] is None else Spread(**data["ratio"])
        itself = {name: value for name, value in data.items() if name != "value"}
        return cls(**itself | {"ratio": ratio, "repetitions": tuple(data["repetitions"])})


def ratio_to_ours(quantity: Quantity, ours: Sequence[float], theirs: Sequence[float]) -> Spread | None:
    """How many times as good ours is, turn by turn; above one we are better, whether more or less is good."""
    both = list(zip(ours, theirs, strict=False))  # some have had fewer turns
    if not both or any(min(pair) <= 0 for pair in both):
        return None
    return spread([a / b if quantity.more_is_better else b / a for a, b in both])


def side_by_side(row: str, contenders: Sequence[Contender], repetitions: int, advance: Advance) -> list[Entry]:
    """All contenders in turn, so often; the first one is ours. A turn to warm up comes first, and is not counted.

    One that fails is left out from there on. Its entry says why, and keeps what it had measured before. So is one that
    has had as many turns as it takes.
    """
    measured: dict[str, list[Measured]] = {contender.name: [] for contender in contenders}
    failures: dict[str, str] = {}
    for turn in range(-1, repetitions):
        for contender in contenders:
            enough = contender.most is not None and turn >= contender.most
            if contender.name not in failures and not enough:
                try:
                    found = contender.measure()
                except PeerFailed as failure:
                    failures[contender.name] = str(failure)
                else:
                    measured[contender.name] += [found] if turn >= 0 else []
            advance()
    return [
        entry
        for contender in contenders
        for entry in _entries(row, contender, measured[contender.name], measured[contenders[0].name], failures)
    ]


def turns(contenders: Sequence[Any], repetitions: int) -> int:
    """How often `side_by_side` advances."""
    return len(contenders) * (repetitions + 1)


def _entries(
    row: str, contender: Contender, theirs: list[Measured], ours: list[Measured], failures: dict[str, str]
) -> list[Entry]:
    failed = failures.get(contender.name)
    quantities = list(theirs[0]) if theirs else list(ours[0])[:1] if ours else [Quantity("", "")]
    same = theirs is ours
    return [
        Entry(
            row,
            contender.name,
            quantity.name,
            quantity.unit,
            tuple(turn[quantity] for turn in theirs),
            None if same or not theirs else _ratio(quantity, ours, theirs),
            contender.settings,
            contender.note,
            failed=failed,
        )
        for quantity in quantities
    ]


def _ratio(quantity: Quantity, ours: list[Measured], theirs: list[Measured]) -> Spread | None:
    known = [turn[quantity] for turn in ours if quantity in turn]
    return ratio_to_ours(quantity, known, [turn[quantity] for turn in theirs])
