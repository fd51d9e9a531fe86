"""Partners by self-play: the snapshots that clones of some seeds leave behind, from untrained to trained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from coadapt.configs.checks import each_whole, one_of
from coadapt.evaluation.returns import cells_of
from coadapt.evaluation.wording import listed
from coadapt.pipeline.partners import CLONE, LARGEST_SEED, Partner, PartnerId, PartnerSource, all_within
from coadapt.pipeline.saved import KEPT_IN, read
from coadapt.pipeline.self_play import (
    SELF_PLAY,
    as_partner,
    cloning_of,
    iterations_of,
    levels_of,
    made_by,
    self_play_of,
    snapshots_of,
)
from coadapt.pipeline.stages import stage_name
from coadapt.players import Player
from coadapt.runs.stage import Inputs, Stage
from coadapt.storage.trees import manifest_file

if TYPE_CHECKING:
    from coadapt.pipeline.study import Study


@dataclass(frozen=True)
class SelfPlay(PartnerSource):
    """What clones of these seeds were on their way, a partner of every type each."""

    by_self_play = True

    seeds: tuple[int, ...] = ()
    own: bool = False  # an agent meets its own clones too, in the place of others if its seed is not one of these
    types: tuple[str, ...] = ()  # which of the task's types they are, from untrained to trained; none: all of them

    def check(self, study: Study) -> None:
        each_whole("seeds of partners", self.seeds, least=0, most=LARGEST_SEED)
        if study.clones is None:
            raise ValueError("partners by self-play need clones: say how they are trained")
        for name in self.types:
            one_of("types of partners by self-play", name, study.task.types)
        between, given = len(self._types(study)) - 2, len(study.levels) + len(study.shares)
        if between != given:
            raise ValueError(f"levels must be {between}, one for each type in between, not {given}")

    def clones(self, study: Study, seed: int | None = None) -> tuple[int, ...]:
        """The seeds whose clones an agent of this seed meets: as many, whether or not its own is one of them."""
        if seed is None:
            return tuple(dict.fromkeys(clone for each in study.seeds for clone in self.clones(study, each)))
        if not self.own:
            return self.seeds
        others = [clone for clone in self.seeds if clone != seed]
        return (seed, *others)[: max(1, len(self.seeds))]

    def ids(self, study: Study, seed: int | None = None) -> list[PartnerId]:
        return [PartnerId(clone, name) for clone in self.clones(study, seed) for name in self._types(study)]

    def identities(self, study: Study) -> set[tuple[str, Any]]:
        return {(CLONE, clone) for clone in self.clones(study)}

    def stages(self, study: Study) -> list[Stage]:
        made = []
        for clone in self.clones(study):
            picked = [levels_of(study, clone)] if study.shares else []
            made += [cloning_of(study, clone), *picked, self_play_of(study, clone, self._types(study))]
        return made

    def needs(self, study: Study, seed: int | None = None) -> tuple[str, ...]:
        return tuple(stage for clone in self.clones(study, seed) for stage in made_by(study, clone))

    def players(self, study: Study, inputs: Inputs, seed: int | None = None) -> Any:
        snapshots = [snapshots_of(study, inputs, clone) for clone in self.clones(study, seed)]
        together = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *snapshots)
        return jax.vmap(lambda policy: as_partner(policy, study.task))(together)

    def left_behind(self, study: Study, outcomes: Inputs) -> Iterator[tuple[Partner, Any]]:
        for clone in self.clones(study):
            if stage_name(SELF_PLAY, clone) not in outcomes:
                continue
            cells, snapshots = cells_of(outcomes[stage_name(SELF_PLAY, clone)]), snapshots_of(study, outcomes, clone)
            for n, (name, iteration) in enumerate(
                zip(self._types(study), iterations_of(study, outcomes, clone), strict=True)
            ):
                who = PartnerId(clone, name, held_out=self in all_within(study.held_out))
                policy = jax.tree.map(lambda leaf, n=n: leaf[n], snapshots)
                yield Partner(who, int(iteration), cells[n].length, cells[n].total), policy

    def each_alone(self, study: Study, agents: Path) -> list[tuple[str, Player]]:
        lie = ((who, agents / kept / str(who)) for who in self.ids(study) for kept in KEPT_IN)
        there = ((who, path) for who, path in lie if manifest_file(path).exists())
        return [(str(who), read(path, {study.task.name: study.task}).as_player()) for who, path in there]

    def in_words(self, study: Study, seed: int | None = None) -> str:
        return f"clones of {seeds_in_words(sorted(self.clones(study, seed)))}"

    def _types(self, study: Study) -> tuple[str, ...]:
        return self.types or study.task.types


def seeds_in_words(seeds: Sequence[int]) -> str:
    """Seeds as one says them."""
    return f"seed{'s' if len(seeds) > 1 else ''} {listed(seeds)}"
