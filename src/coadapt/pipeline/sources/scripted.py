"""Partners that are there already: players of one's own, by type."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import jax.numpy as jnp

from coadapt.configs.checks import one_of
from coadapt.configs.data import plain
from coadapt.partners.mixed import Cast, OneOf
from coadapt.pipeline.study import Partner, PartnerId, Study
from coadapt.players import Player
from coadapt.runs.stage import Inputs, Stage


@dataclasses.dataclass(frozen=True, eq=False)
class Scripted:
    """One player of each type, or several. Their populations are counted from zero."""

    by_type: Mapping[str, Player | Sequence[Player]]

    @cached_property
    def members(self) -> list[tuple[PartnerId, Player]]:
        """Who they are."""
        return [
            (PartnerId(number, name), player)
            for name, given in self.by_type.items()
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
        return {str(who): described(player) for who, player in self.members}

    def check(self, study: Study) -> None:
        if not self.members:
            raise ValueError("nobody is there to be met: list at least one player of a type")
        for name in self.by_type:
            one_of("types of partners", name, study.task.types)

    def ids(self, study: Study, seed: int | None = None) -> list[PartnerId]:
        del study, seed
        return [who for who, _ in self.members]

    def identities(self, study: Study) -> set[tuple[str, Any]]:
        del study
        return {("the player", id(player)) for _, player in self.members}

    def stages(self, study: Study) -> list[Stage]:
        del study
        return []

    def needs(self, study: Study, seed: int | None = None) -> tuple[str, ...]:
        del study, seed
        return ()

    def players(self, study: Study, inputs: Inputs, seed: int | None = None) -> OneOf:
        del study, inputs, seed
        return OneOf(self.cast, jnp.arange(len(self.members)))

    def left_behind(self, study: Study, outcomes: Inputs) -> Iterator[tuple[Partner, Any]]:
        del study, outcomes
        return iter(())

    def in_words(self, study: Study, seed: int | None = None) -> str:
        del study, seed
        return f"scripted partners ({', '.join(str(who) for who, _ in self.members)})"


def described(value: Any) -> Any:
    """What a player is, as plain data: its class, and all that it holds."""
    if value is None or isinstance(value, str | int | float) or hasattr(value, "tolist"):
        return plain(value)
    if isinstance(value, Mapping):
        return {str(name): described(each) for name, each in value.items()}
    if isinstance(value, list | tuple) and not hasattr(value, "_asdict"):
        return [described(each) for each in value]
    name = getattr(value, "__qualname__", None)
    if name is not None:  # a function or a class
        return f"{value.__module__}.{name}"
    return {"class": described(type(value))} | described(_fields(value))


def _fields(value: Any) -> dict[str, Any]:
    if hasattr(value, "_asdict"):
        return value._asdict()
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return vars(value)
