"""Agents and partners that come with the package, for whoever measures them or is measured with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.configs.checks import distinct, each_whole, in_batches, whole
from coadapt.configs.data import plain, read_config
from coadapt.pipeline.method import Method
from coadapt.pipeline.methods import METHODS
from coadapt.pipeline.saved import PRETRAINED, Saved, read
from coadapt.pipeline.seats import MODES, THIS_RUN, Source
from coadapt.pipeline.self_play import PURPOSE as CLONES
from coadapt.pipeline.self_play import networks_of
from coadapt.pipeline.stages import stage_name
from coadapt.pipeline.study import Measures, Study
from coadapt.runs import stage as stage_module
from coadapt.runs.stage import Inputs, Stage
from coadapt.storage.files import Incompatible
from coadapt.storage.trees import read_manifest

STAGE = "pretrained"
"""The stage that hands them on."""


class Snapshots(NamedTuple):
    """The partners that one seed's clones have left behind."""

    snapshots: tuple[Any, ...]


@dataclass(frozen=True)
class Package:
    """The pretrained files of one game, by the name of their folder."""

    game: str
    task: type

    @property
    def folder(self) -> Path:
        return PRETRAINED / self.game

    def seeds(self, method: Method) -> tuple[int, ...]:
        """Of which seeds there are agents of a method."""
        return tuple(sorted(int(file.stem) for file in (self.folder / method.folder).glob("*.json")))

    def methods(self, seeds: Sequence[int]) -> tuple[str, ...]:
        """All of which there is every one of these seeds."""
        order = ("behaviour_conditioned", "label_blind")  # as agents were first saved, so that their numbers stay
        known = sorted(METHODS, key=lambda name: order.index(name) if name in order else len(order))
        return tuple(name for name in known if set(seeds) <= set(self.seeds(METHODS[name])))

    def read(self, name: str) -> Saved:
        """One of the files, such as behaviour-conditioned/0."""
        return _read(self.folder / name, self.game, self.task)

    def partner_files(self, seeds: Sequence[int], types: Sequence[str]) -> list[str]:
        """The names of the files of held-out partners."""
        return [f"partners/{seed}-{name}" for seed in seeds for name in types]

    def handing_on(self, files: Sequence[str]) -> Stage:
        """The stage that does nothing but hand on what comes with the package."""
        return Stage(
            STAGE,
            (stage_module.__name__,),  # the files say it all: no code of ours changes what is in them
            {name: read_manifest(self.folder / name)["sha256"] for name in files},
            chunks=1,
            begin=lambda inputs: jax.tree.map(jnp.asarray, {name: self.read(name).networks for name in files}),
            go_on=lambda networks, inputs: (networks, {}),
            outcome=lambda networks: networks,
            family=STAGE,
        )

    def find(self, inputs: Inputs, purpose: str, seed: int, types: Sequence[str]) -> Any:
        """Pretrained networks, by the training they come from."""
        networks = inputs[STAGE]
        if purpose == CLONES:
            return Snapshots(tuple(networks[file]["policy"] for file in self.partner_files((seed,), types)))
        for method in METHODS.values():
            for part, trained_for in method.parts.items():
                if trained_for == purpose:
                    return networks[f"{method.folder}/{seed}"][part]
        raise KeyError(purpose)

    def check_held_out(self, study: Study) -> None:
        """Refuse held-out partners that are not there, or that have learnt another game."""
        if not study.pretrained_held_out:
            return
        there = sorted({int(file.stem.partition("-")[0]) for file in (self.folder / "partners").glob("*.json")})
        for seed in study.held_out:
            if seed not in there:
                raise Incompatible(f"the package has no held-out partners of seed {seed}; there are {there}")
        for name in self.partner_files(study.held_out, study.task.types):
            if plain(self.read(name).task.game) != plain(study.task.game):
                raise Incompatible(
                    "the package's held-out partners have learnt another game than the one in task.game;"
                    " train some for it with: --set pretrained_held_out=false"
                )

    def held_out_of(self, study: Study) -> list[Stage]:
        """The stage that hands on the package's held-out partners, if a run is measured with them."""
        self.check_held_out(study)
        files = self.partner_files(study.held_out, study.task.types)
        return [self.handing_on(files)] if study.pretrained_held_out else []

    def source_of(self, study: Study) -> Source:
        """Where a run that trains gets its networks from: all it trains, and perhaps the held-out partners."""
        if not study.pretrained_held_out:
            return THIS_RUN
        in_package = lambda purpose, seed: purpose == CLONES and seed in study.held_out

        def find(inputs: Inputs, purpose: str, seed: int) -> Any:
            if in_package(purpose, seed):
                return self.find(inputs, purpose, seed, study.task.types)
            return networks_of(inputs, purpose, seed)

        return Source(find, lambda purpose, seed: STAGE if in_package(purpose, seed) else stage_name(purpose, seed))


@cache
def _read(path: Path, game: str, task: type) -> Saved:
    return read(path, {game: task})


@dataclass(frozen=True)
class PretrainedStudy:
    """Whom of the pretrained agents to let play, and how often. A subclass says where they are."""

    seeds: tuple[int, ...] = ()
    episodes: int = 2_000  # of a method with a partner
    batch: int = 500  # of these at a time
    measures: Measures = field(default_factory=Measures)
    both_modes: bool = True  # or only in the one that was chosen for the agents on training partners

    def __post_init__(self):
        if not self.seeds:
            raise ValueError("this package comes without agents; train some with: coadapt train")
        distinct("seeds", self.seeds)
        each_whole("seeds", self.seeds, least=0)
        for name in ("episodes", "batch"):
            whole(name, getattr(self, name))
        in_batches("episodes", self.episodes, self.batch)
        in_batches("measures.episodes", self.measures.episodes, self.batch)


def about_agents(package: Package, config: PretrainedStudy) -> Mapping[str, Any]:
    """What is known of the agents. They were trained together, so one tells it of all; but all have to be there."""
    main = next(method for method in METHODS.values() if method.has_belief)
    about, *_ = [package.read(f"{main.folder}/{seed}").about for seed in config.seeds]
    return about


def as_trained(package: Package, config: PretrainedStudy, study: type[Study]) -> Study:
    """The study that the pretrained agents were trained in, for an evaluation of its own."""
    trained = read_config(study, about_agents(package, config)["config"])
    episodes = {"episodes": config.episodes, "validation_episodes": config.episodes, "batch": config.batch}
    methods = package.methods(config.seeds)
    return replace(trained, seeds=config.seeds, methods=methods, measures=config.measures, **episodes)


def files_for(package: Package, study: Study) -> list[str]:
    """The names of all files that an evaluation needs."""
    agents = [f"{METHODS[name].folder}/{seed}" for name in study.methods for seed in study.seeds]
    return [*agents, *package.partner_files(study.held_out, study.task.types)]


def from_package(package: Package, study: Study, config: PretrainedStudy) -> Source:
    """Networks from the package, in the mode that was chosen for them."""
    chosen = (about_agents(package, config)["mode"],)
    find = lambda inputs, purpose, seed: package.find(inputs, purpose, seed, study.task.types)
    return Source(find, lambda purpose, seed: STAGE, chosen, tuple(MODES) if config.both_modes else chosen)
