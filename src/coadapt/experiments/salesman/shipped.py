"""The published agents once more with the published partners: what the package's weights are worth."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from coadapt.configs.checks import distinct, each_whole, in_batches, whole
from coadapt.configs.data import read_config
from coadapt.experiments.salesman.config import Measures, SalesmanConfig
from coadapt.experiments.salesman.presets import FAST, QUICK
from coadapt.experiments.salesman.pretrained import (
    STAGE,
    find,
    handing_on,
    home,
    partner_files,
    published_seeds,
    read_published,
)
from coadapt.experiments.salesman.record import with_record
from coadapt.experiments.salesman.report import headline, verdict
from coadapt.experiments.salesman.reproduce import best_of, measurements_of, write_results
from coadapt.experiments.salesman.results import gather
from coadapt.experiments.salesman.seats import MODES, Source
from coadapt.experiments.salesman.tables import tables
from coadapt.experiments.salesman.weights import FAMILIES
from coadapt.runs.experiment import Experiment, Report
from coadapt.runs.stage import Inputs, Stage
from coadapt.storage.files import write_bytes

TRAINING = "training-provenance.json"
"""When, where and how the published agents were trained."""


@dataclass(frozen=True)
class ShippedConfig:
    """Whom to let play, and how often."""

    seeds: tuple[int, ...] = field(default_factory=published_seeds)
    episodes: int = FAST.episodes  # of a method with a partner
    batch: int = FAST.batch  # of these at a time
    measures: Measures = FAST.measures
    both_modes: bool = True  # or only in the one that was chosen for the agents on training partners

    def __post_init__(self):
        if not self.seeds:
            raise ValueError("this package comes without agents; train some with: coadapt train salesman")
        distinct("seeds", self.seeds)
        each_whole("seeds", self.seeds, least=0)
        for name in ("episodes", "batch"):
            whole(name, getattr(self, name))
        in_batches("episodes", self.episodes, self.batch)
        in_batches("measures.episodes", self.measures.episodes, self.batch)

    @property
    def methods(self) -> tuple[str, ...]:
        """All of which every seed was published."""
        return tuple(method for method in FAMILIES if set(self.seeds) <= set(published_seeds(method)))


def as_trained(config: ShippedConfig) -> SalesmanConfig:
    """The configuration the published agents were trained with, for an evaluation of its own."""
    trained = read_config(SalesmanConfig, _about(config)["config"])
    episodes = {"episodes": config.episodes, "rehearsal_episodes": config.episodes, "batch": config.batch}
    return replace(trained, seeds=config.seeds, methods=config.methods, measures=config.measures, **episodes)


def _files(config: ShippedConfig) -> list[str]:
    """The names of all files an evaluation needs."""
    agents = [f"{FAMILIES[method]}/{seed}" for method in config.methods for seed in config.seeds]
    return [*agents, *partner_files(as_trained(config).references)]


def the_package(config: ShippedConfig) -> Source:
    """Networks from the package, in the mode that was chosen for them."""
    chosen = (_about(config)["mode"],)
    return Source(find, lambda training, seed: STAGE, chosen, tuple(MODES) if config.both_modes else chosen)


def _about(config: ShippedConfig) -> dict[str, Any]:
    """What is known of the agents. They were trained together, so one tells it of all; but all have to be there."""
    about, *_ = [read_published(f"behaviour-conditioned/{seed}").about for seed in config.seeds]
    return about


def stages(config: ShippedConfig) -> list[Stage]:
    """Every published seed plays with every published reference partner."""
    trained, source = as_trained(config), the_package(config)
    measured = [stage for seed in config.seeds for stage in measurements_of(trained, seed, trained.references, source)]
    return [handing_on(_files(config)), *best_of(trained, source), *measured]


def report(config: ShippedConfig, outcomes: Inputs, folder: Path) -> Report:
    """The same tables as after training, of what was measured here."""
    trained, about = as_trained(config), _about(config)
    measured = gather(trained, outcomes, about["mode"], met=trained.references)
    results = with_record(home(), measured, about["commit"])
    write_results(results, outcomes, folder, the_package(config))
    if (about_training := home() / TRAINING).is_file():
        write_bytes(folder / TRAINING, about_training.read_bytes())
    closing = f"See the agents play with: coadapt watch. {verdict(results)}"
    return Report(tables(results), headline(results), closing.strip())


PRESETS = {
    "fast": ShippedConfig(),
    "quick": ShippedConfig(episodes=QUICK.episodes, measures=QUICK.measures, both_modes=False),
}
EXPERIMENT = Experiment("salesman_shipped", ShippedConfig, stages, report)
