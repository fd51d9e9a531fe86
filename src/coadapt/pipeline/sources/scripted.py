"""Partners that are there already: players of one's own, by type."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from inspect import unwrap
from types import MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from coadapt.configs.checks import one_of
from coadapt.configs.data import plain
from coadapt.partners.mixed import Cast, OneOf
from coadapt.pipeline.partners import PartnerId, PartnerSource
from coadapt.players import Player
from coadapt.runs.stage import Inputs
from coadapt.storage.sealed import checksum

if TYPE_CHECKING:
    from coadapt.pipeline.study import Study


@dataclasses.dataclass(frozen=True, eq=False)
class Scripted(PartnerSource):
    """One player of each type, or several. Their populations are counted from zero."""

    by_type: dataclasses.InitVar[Mapping[str, Player | Sequence[Player]]]
    described: dict[str, Any] = dataclasses.field(init=False)  # what is kept of them in a run's configuration

    def __post_init__(self, by_type: Mapping[str, Player | Sequence[Player]]) -> None:
        vars(self)["_by_type"] = dict(by_type)
        vars(self)["described"] = {str(who): described(player) for who, player in self.members}

    @cached_property
    def members(self) -> list[tuple[PartnerId, Player]]:
        """Who they are."""
        return [
            (PartnerId(number, name), player)
            for name, given in vars(self)["_by_type"].items()
            for number, player in enumerate([given] if isinstance(given, Player) else given)
        ]

    @cached_property
    def cast(self) -> Cast:
        return Cast(tuple(player for _, player in self.members))

    @property
    def code(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((__name__, *(type(player).__module__ for _, player in self.members))))

    @property
    def settings(self) -> Any:
        return self.described

    def check(self, study: Study) -> None:
        if not self.members:
            raise ValueError("nobody is there to be met: list at least one player of a type")
        for name in vars(self)["_by_type"]:
            one_of("types of partners", name, study.task.types)

    def ids(self, study: Study, seed: int | None = None) -> list[PartnerId]:
        del study, seed
        return [who for who, _ in self.members]

    def identities(self, study: Study) -> set[tuple[str, Any]]:
        del study
        return {("the player", _name_of(player)) for _, player in self.members}

    def players(self, study: Study, inputs: Inputs, seed: int | None = None) -> OneOf:
        del study, inputs, seed
        return OneOf(self.cast, jnp.arange(len(self.members)))

    def in_words(self, study: Study, seed: int | None = None) -> str:
        del study, seed
        return f"scripted partners ({', '.join(str(who) for who, _ in self.members)})"


def described(value: Any, around: tuple[int, ...] = ()) -> Any:
    """What a player is, as plain data: its class, and all that it holds, functions and what they hold included."""
    if value is None or isinstance(value, str | int | float) or hasattr(value, "tolist"):
        return plain(value)
    if id(value) in around:  # it holds itself
        return "..."
    within = lambda part: described(part, (*around, id(value)))
    if isinstance(value, Mapping):
        return {str(name): within(each) for name, each in value.items()}
    if isinstance(value, list | tuple) and not hasattr(value, "_asdict"):
        return [within(each) for each in value]
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, partial):
        return {"partial": within((value.func, value.args, value.keywords))}
    if isinstance(value, MethodType):
        return {"method": within((value.__func__, value.__self__))}
    if hasattr(value, "__qualname__"):
        return _of_function(unwrap(value) if callable(value) else value, within)
    return {"class": within(type(value))} | within(_fields(value))


def _of_function(value: Any, within: Callable[[Any], Any]) -> Any:
    """The name of a function or a class; and what a function has been given beforehand, for it acts on that."""
    cells = [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]
    usual = [*(getattr(value, "__defaults__", None) or ()), *(getattr(value, "__kwdefaults__", None) or {}).values()]
    name = f"{value.__module__}.{value.__qualname__}"
    return [name, *map(within, (*cells, *usual))] if cells or usual else name


def _name_of(player: Player) -> str:
    """The same for players of one class that hold the same."""
    return f"{type(player).__name__} ({checksum(json.dumps(described(player)).encode())[:12]})"


def _fields(value: Any) -> dict[str, Any]:
    if hasattr(value, "_asdict"):
        return value._asdict()
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return vars(value)
