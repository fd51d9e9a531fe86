"""Agents that come with the package, for whoever measures them: the study they come from, and where they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from coadapt.configs.checks import distinct, each_whole, in_batches, whole
from coadapt.configs.data import read_config
from coadapt.pipeline.method import Method
from coadapt.pipeline.methods import METHODS
from coadapt.pipeline.partners import populations
from coadapt.pipeline.saved import PRETRAINED, Saved, agent_of
from coadapt.pipeline.seats import MODES, AgentSource
from coadapt.pipeline.sources.pretrained import Pretrained, handing_on, read_file
from coadapt.pipeline.study import Measures, Study
from coadapt.runs.stage import Stage

STAGE = "pretrained_agents"
"""The stage that hands them on."""


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

    def agent(self, method: Method, seed: int) -> str:
        """The name of an agent's file."""
        return f"{self.game}/{method.folder}/{seed}"

    def read(self, method: Method, seed: int) -> Saved:
        return read_file(self.agent(method, seed), self.task(), agent_of(method))

    def partners(self, seeds: Sequence[int], types: Sequence[str]) -> Pretrained:
        """The held-out partners that clones of these seeds have left behind."""
        return Pretrained(tuple(f"{self.game}/partners/{seed}-{name}" for seed in seeds for name in types))


@dataclass(frozen=True)
class PretrainedStudy:
    """Whom of the pretrained agents to let play, and how often. A subclass says where they are."""

    seeds: tuple[int, ...] = ()
    episodes: int = 2_000  # of a method with a partner
    batch: int = 500  # of these at a time
    measures: Measures = field(default_factory=Measures)
    both_modes: bool = True  # or only in the one that was chosen for the agents on training partners

    def __post_init__(self) -> None:
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
    about, *_ = [package.read(main, seed).about for seed in config.seeds]
    return about


def as_trained(package: Package, config: PretrainedStudy, study: type[Study]) -> Study:
    """The study that the pretrained agents were trained in, for an evaluation of its own."""
    trained = read_config(study, about_agents(package, config)["config"])
    held_out = package.partners(populations(trained.held_out_ids), trained.task.types)
    episodes = {"episodes": config.episodes, "validation_episodes": config.episodes, "batch": config.batch}
    methods = package.methods(config.seeds)
    chosen = {"seeds": config.seeds, "methods": methods, "measures": config.measures, "held_out": held_out}
    return replace(trained, **chosen, **episodes)


def handing_on_agents(package: Package, study: Study) -> Stage:
    """The stage that hands on all agents of a study."""
    methods = [METHODS[name] for name in study.methods]
    files = {package.agent(method, seed): agent_of(method) for method in methods for seed in study.seeds}
    return handing_on(STAGE, files, study.task, STAGE)


def from_package(package: Package, config: PretrainedStudy) -> AgentSource:
    """Agents from the package, in the mode that was chosen for them."""
    chosen = (about_agents(package, config)["mode"],)
    networks = lambda method, inputs, seed: inputs[STAGE][package.agent(method, seed)]
    return AgentSource(networks, lambda method, seed: (STAGE,), chosen, tuple(MODES) if config.both_modes else chosen)
