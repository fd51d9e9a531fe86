"""Partners from files: those that come with the package, or those that a run has left behind."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from coadapt.configs.data import plain
from coadapt.pipeline.saved import PARTNER, Agent, Saved, path_of, read
from coadapt.pipeline.study import Partner, PartnerId, Study
from coadapt.pipeline.task import Task
from coadapt.runs import stage as stage_module
from coadapt.runs.stage import Inputs, Stage
from coadapt.storage.files import Incompatible
from coadapt.storage.trees import read_manifest

STAGE = "pretrained_partners"


@dataclass(frozen=True)
class Pretrained:
    """The partners in these files: names of pretrained ones, or paths. They have learnt the study's game."""

    files: tuple[str, ...]

    @property
    def code(self) -> tuple[str, ...]:
        return (__name__,)

    @property
    def settings(self) -> Any:
        return digests(self.files)

    def check(self, study: Study) -> None:
        for name in self.files:
            saved = read_file(name, study.task)
            if plain(saved.task.game) != plain(study.task.game):
                raise Incompatible(
                    f"{name} has learnt another game than the one in task.game; train partners for it, as with:"
                    " --set 'held_out={\"seeds\": [100, 101, 102]}'"
                )

    def ids(self, study: Study, seed: int | None = None) -> list[PartnerId]:
        del seed
        about = (read_file(name, study.task).about for name in self.files)
        return [PartnerId(of["seed"], of["type"]) for of in about]

    def identities(self, study: Study) -> set[tuple[str, Any]]:
        del study
        return {("the file", str(path_of(name))) for name in self.files}

    def stages(self, study: Study) -> list[Stage]:
        return [handing_on(STAGE, dict.fromkeys(self.files, PARTNER), study.task)]

    def needs(self, study: Study, seed: int | None = None) -> tuple[str, ...]:
        del study, seed
        return (STAGE,)

    def players(self, study: Study, inputs: Inputs, seed: int | None = None) -> Any:
        del seed
        saved = (read_file(name, study.task)._replace(networks=inputs[STAGE][name]) for name in self.files)
        return jax.tree.map(lambda *leaves: jnp.stack(leaves), *(each.as_player() for each in saved))

    def left_behind(self, study: Study, outcomes: Inputs) -> Iterator[tuple[Partner, Any]]:
        del study, outcomes
        return iter(())

    def in_words(self, study: Study, seed: int | None = None) -> str:
        del seed
        return f"pretrained partners ({', '.join(map(str, self.ids(study)))})"


def handing_on(name: str, files: Mapping[str, Agent], task: Task) -> Stage:
    """The stage that does nothing but hand on the networks in some files, by the names of these.

    It is said whose they are.
    """
    read_all = lambda: {each: read_file(each, task, agent).networks for each, agent in files.items()}
    return Stage(
        name,
        (stage_module.__name__,),  # the files say it all: no code of ours changes what is in them
        digests(tuple(files)),
        chunks=1,
        begin=lambda inputs: jax.tree.map(jnp.asarray, read_all()),
        go_on=lambda networks, inputs: (networks, {}),
        outcome=lambda networks: networks,
        family=name,
    )


def digests(files: Sequence[str]) -> dict[str, str]:
    """What is in the files, by their names."""
    return {name: read_manifest(path_of(name))["sha256"] for name in files}


def read_file(name: str, task: Task, agent: Agent = PARTNER) -> Saved:
    """A file for this task, which is read once."""
    return _read(path_of(name), task.name, type(task), agent)


@cache
def _read(path: Path, game: str, task: type, agent: Agent) -> Saved:
    return read(path, {game: task}, (agent,))
