"""Partners that are there already: players of one's own, by type."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from coadapt.configs.checks import one_of
from coadapt.described import code_behind, described
from coadapt.partners.mixed import Cast, OneOf, players_by_type
from coadapt.pipeline.partners import PartnerId, PartnerSource
from coadapt.players import Player
from coadapt.runs.stage import Inputs
from coadapt.storage.sealed import checksum

if TYPE_CHECKING:
    from coadapt.pipeline.study import Study
    from coadapt.pipeline.task import AnyTask


@dataclasses.dataclass(frozen=True, eq=False)
class Scripted(PartnerSource):
    """One player of each type, or several. Their populations are counted from zero."""

    by_type: dataclasses.InitVar[Mapping[str, Player | Sequence[Player]]]
    described: dict[str, Any] = dataclasses.field(init=False)  # what is kept of them in a run's configuration

    def __post_init__(self, by_type: Mapping[str, Player | Sequence[Player]]) -> None:
        vars(self)["_by_type"] = players_by_type(by_type)
        vars(self)["described"] = {str(who): described(player) for who, player in self.everyone}

    @cached_property
    def everyone(self) -> list[tuple[PartnerId, Player]]:
        """Who they are."""
        by_type = vars(self)["_by_type"].items()
        return [(PartnerId(n, name), player) for name, players in by_type for n, player in enumerate(players)]

    @cached_property
    def cast(self) -> Cast:
        return Cast(tuple(player for _, player in self.everyone))

    @property
    def code(self) -> tuple[str, ...]:
        return (__name__, *code_behind([player for _, player in self.everyone]))

    @property
    def settings(self) -> Any:
        return self.described

    def check(self, study: Study) -> None:
        if not self.everyone:
            raise ValueError("nobody is there to be met: list at least one player of a type")
        for name in vars(self)["_by_type"]:
            one_of("types of partners", name, study.task.types)

    def known(self, task: AnyTask | None) -> list[tuple[PartnerId, Player]]:
        del task
        return self.everyone

    def ids(self, study: Study, seed: int | None = None) -> list[PartnerId]:
        del study, seed
        return [who for who, _ in self.everyone]

    def identities(self, study: Study) -> set[tuple[str, Any]]:
        del study
        return {("the player", _name_of(player)) for _, player in self.everyone}

    def players(self, study: Study, inputs: Inputs, seed: int | None = None) -> OneOf:
        del study, inputs, seed
        return OneOf(self.cast, jnp.arange(len(self.everyone)))

    def in_words(self, study: Study, seed: int | None = None) -> str:
        del study, seed
        return f"scripted partners ({', '.join(str(who) for who, _ in self.everyone)})"


def _name_of(player: Player) -> str:
    """The same for players of one class that hold the same."""
    return f"{type(player).__name__} ({checksum(json.dumps(described(player)).encode())[:12]})"
