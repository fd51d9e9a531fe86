"""Partners from files: those that come with the package, or those that a run has left behind."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from coadapt.configs.data import plain
from coadapt.pipeline.partners import CLONE, PartnerId, PartnerSource, all_within
from coadapt.pipeline.saved import PARTNER, Agent, Saved, path_of, read
from coadapt.pipeline.task import AnyTask
from coadapt.players import Player
from coadapt.runs import stage as stage_module
from coadapt.runs.stage import Inputs, Stage
from coadapt.storage.files import Incompatible, json_text
from coadapt.storage.sealed import checksum
from coadapt.storage.trees import read_manifest

if TYPE_CHECKING:
    from coadapt.pipeline.study import Study

STAGE = "pretrained_partners"
"""What the stages are called that hand partners on, before what tells those of one source from those of others."""


@dataclass(frozen=True)
class Pretrained(PartnerSource):
    """The partners in these files: names of pretrained ones, or paths. They have learnt the study's game."""

    files: tuple[str, ...]

    @property
    def settings(self) -> Any:
        return digests(self.files)

    def check(self, study: Study) -> None:
        """Files are looked at when stages are made of them: a study alone reads none."""
        del study
        if not self.files:
            raise ValueError("nobody is there to be met: name at least one file")

    def ids(self, study: Study, seed: int | None = None) -> list[PartnerId]:
        del seed
        return [_id(name, read_file(name, study.task)) for name in self.files]

    def identities(self, study: Study) -> set[tuple[str, Any]]:
        del study
        return {("the file", _place(name)) for name in self.files}

    @property
    def stage(self) -> str:
        """The stage that hands them on: a study may have several sources of this kind."""
        return f"{STAGE}_{zlib.crc32(repr(self.files).encode()):08x}"

    def stages(self, study: Study) -> list[Stage]:
        for name in self.files:
            self._check_file(name, study)
        return [handing_on(self.stage, dict.fromkeys(self.files, PARTNER), study.task, STAGE)]

    def _check_file(self, name: str, study: Study) -> None:
        saved = read_file(name, study.task)
        if plain(saved.task.game) != plain(study.task.game):
            raise Incompatible(
                f"{name} has learnt another game than the one in task.game; train partners for it, as with:"
                " --set 'held_out={\"seeds\": [100, 101, 102]}'"
            )
        trained_with = study.partners.identities(study) | {(CLONE, seed) for seed in study.seeds}
        is_met_again = _was_trained_so(saved.about, study) and (CLONE, saved.about["seed"]) in trained_with
        if is_met_again and self in all_within(study.held_out):
            raise ValueError(f"held_out must be partners that nobody trains with, and {name} is trained with")

    def needs(self, study: Study, seed: int | None = None) -> tuple[str, ...]:
        del study, seed
        return (self.stage,)

    def known(self, task: AnyTask | None) -> list[tuple[PartnerId, Player]]:
        if task is None:
            raise ValueError("partners in files belong to a task; say which, as in check(game, partners, task=task)")
        saved = [read_file(name, task) for name in self.files]
        return [(_id(name, each), each.as_player()) for name, each in zip(self.files, saved, strict=True)]

    def players(self, study: Study, inputs: Inputs, seed: int | None = None) -> Any:
        del seed
        saved = (read_file(name, study.task)._replace(networks=inputs[self.stage][name]) for name in self.files)
        return jax.tree.map(lambda *leaves: jnp.stack(leaves), *(each.as_player() for each in saved))

    def each_alone(self, study: Study, agents: Path) -> list[tuple[str, Player]]:
        del agents
        return [(name, read_file(name, study.task).as_player()) for name in self.files]

    def in_words(self, study: Study, seed: int | None = None) -> str:
        del seed
        return f"pretrained partners ({', '.join(map(str, self.ids(study)))})"


def _id(name: str, saved: Saved) -> PartnerId:
    seed, type_ = saved.about.get("seed"), saved.about.get("type")
    if not isinstance(seed, int) or type_ not in saved.task.types:
        raise Incompatible(f"{name} does not say of which seed and of which type its partner is")
    return PartnerId(seed, type_)


def _place(name: str) -> str:
    """Where a file is, by whichever name it is called; if it is nowhere, that is said when it is looked for."""
    try:
        return str(path_of(name).resolve())
    except Incompatible:
        return name


def _was_trained_so(about: Mapping[str, Any], study: Study) -> bool:
    """Whether a partner comes from the clone training of this study, in the same task.

    A field that is younger than the file, which does not name it, was as it is by default.
    """
    config = about.get("config")
    clones = config.get("clones") if isinstance(config, Mapping) else None
    if study.clones is None or not isinstance(clones, Mapping):
        return False
    by_default = {field.name: field.default for field in fields(study.clones)}
    return by_default | dict(clones) == plain(study.clones) and about["task"] == plain(study.task)


def handing_on(name: str, files: Mapping[str, Agent], task: AnyTask, family: str) -> Stage:
    """The stage that does nothing but hand on the networks in some files, whose they are being said, by their names."""
    read_all = lambda: {each: read_file(each, task, agent).networks for each, agent in files.items()}
    return Stage(
        name,
        (stage_module.__name__,),  # the files say it all: no code of ours changes what is in them
        digests(tuple(files)),
        chunks=1,
        begin=lambda inputs: jax.tree.map(jnp.asarray, read_all()),
        go_on=lambda networks, inputs: (networks, {}),
        outcome=lambda networks: networks,
        family=family,
    )


def digests(files: Sequence[str]) -> dict[str, str]:
    """What is in the files, by their names: the arrays, whose digest a manifest has, and all that is said of them."""
    return {name: checksum(json_text(read_manifest(path_of(name))).encode()) for name in files}


def read_file(name: str, task: AnyTask, agent: Agent = PARTNER) -> Saved:
    """A file for this task, which is read once, and again if it was written anew."""
    path = path_of(name)
    return _read(path, repr(read_manifest(path)), task.name, type(task), agent)


@cache
def _read(path: Path, manifest: str, game: str, task: type, agent: Agent) -> Saved:
    del manifest
    return read(path, {game: task}, (agent,))
