"""The published agents once more with the published partners: what the package's weights are worth."""

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.configs.checks import distinct, each_whole, in_batches, whole
from coadapt.configs.data import read_config
from coadapt.experiments import stages as stages_module
from coadapt.experiments.planning import Experiment, Report
from coadapt.experiments.salesman.ceilings import bounds_of, ceilings_of
from coadapt.experiments.salesman.config import Measures, SalesmanConfig
from coadapt.experiments.salesman.presets import FAST
from coadapt.experiments.salesman.record import with_record
from coadapt.experiments.salesman.report import headline
from coadapt.experiments.salesman.reproduce import measurements_of, write_results
from coadapt.experiments.salesman.results import gather
from coadapt.experiments.salesman.seats import Source
from coadapt.experiments.salesman.tables import tables
from coadapt.experiments.salesman.weights import FAMILIES, GAME, PUBLISHED, Saved, read
from coadapt.experiments.salesman.world import KINDS
from coadapt.experiments.stages import Inputs, Stage
from coadapt.storage.files import write_bytes
from coadapt.storage.trees import read_manifest

FOLDER = PUBLISHED / GAME
TRAINING = "training-provenance.json"
"""When, where and how the published agents were trained."""


def published_seeds(method: str = "behaviour_conditioned") -> tuple[int, ...]:
    """Of which seeds there are agents of a method."""
    return tuple(sorted(int(file.stem) for file in (FOLDER / FAMILIES[method]).glob("*.json")))


@dataclass(frozen=True)
class ShippedConfig:
    """Whom to let play, and how often."""

    seeds: tuple[int, ...] = field(default_factory=published_seeds)
    episodes: int = FAST.episodes  # of a method with a partner
    batch: int = FAST.batch  # of these at a time
    measures: Measures = FAST.measures

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


class Left(NamedTuple):
    """The partners that one seed's clones have left behind."""

    novice: Any
    intermediate: Any
    skilled: Any


@cache
def _read(name: str) -> Saved:
    return read(FOLDER / name)


def as_trained(config: ShippedConfig) -> SalesmanConfig:
    """The configuration the published agents were trained with, for an evaluation of its own."""
    trained = read_config(SalesmanConfig, _about(config)["config"])
    episodes = {"episodes": config.episodes, "rehearsal_episodes": config.episodes, "batch": config.batch}
    return replace(trained, seeds=config.seeds, methods=config.methods, measures=config.measures, **episodes)


def published(config: ShippedConfig) -> Stage:
    """The stage that does nothing but hand on what comes with the package."""
    files = _files(config)
    return Stage(
        "published",
        stages_module.__name__,  # the files say it all: no code of ours changes what is in them
        {name: read_manifest(FOLDER / name)["sha256"] for name in files},
        chunks=1,
        begin=lambda inputs: jax.tree.map(jnp.asarray, {name: _read(name).networks for name in files}),
        go_on=lambda networks, inputs: (networks, {}),
        outcome=lambda networks: networks,
    )


def _files(config: ShippedConfig) -> list[str]:
    """The names of all files an evaluation needs."""
    agents = [f"{FAMILIES[method]}/{seed}" for method in config.methods for seed in config.seeds]
    partners = [f"partners/{seed}-{kind}" for seed in as_trained(config).references for kind in KINDS]
    return [*agents, *partners]


def find(inputs: Inputs, training: str, seed: int) -> Any:
    """Published networks, by the training they come from."""
    networks = inputs["published"]
    if training == "clones":
        return Left(*(networks[f"partners/{seed}-{kind}"]["policy"] for kind in KINDS))
    method = "behaviour_conditioned" if training in ("policy", "predictor") else training
    return networks[f"{FAMILIES[method]}/{seed}"]["belief" if training == "predictor" else "policy"]


def the_package(config: ShippedConfig) -> Source:
    """Networks from the package, in the mode that was chosen for them."""
    return Source(find, ("published",), (_about(config)["mode"],))


def _about(config: ShippedConfig) -> dict[str, Any]:
    """What is known of the agents. They were trained together, so one tells it of all; but all have to be there."""
    about, *_ = [_read(f"behaviour-conditioned/{seed}").about for seed in config.seeds]
    return about


def stages(config: ShippedConfig) -> list[Stage]:
    """Every published seed plays with every published reference partner."""
    trained, source = as_trained(config), the_package(config)
    measured = [stage for seed in config.seeds for stage in measurements_of(trained, seed, trained.references, source)]
    return [published(config), bounds_of(trained), ceilings_of(trained, source), *measured]


def report(config: ShippedConfig, outcomes: Inputs, folder: Path) -> Report:
    """The same tables as after training, of what was measured here."""
    trained, about = as_trained(config), _about(config)
    measured = gather(trained, outcomes, about["mode"], met=trained.references)
    results = with_record(FOLDER, measured, about["commit"])
    write_results(results, outcomes, folder, the_package(config))
    if (about_training := FOLDER / TRAINING).is_file():
        write_bytes(folder / TRAINING, about_training.read_bytes())
    return Report(tables(results), headline(results), "See the agents play with: coadapt watch")


EXPERIMENT = Experiment("salesman_shipped", ShippedConfig, stages, report)
