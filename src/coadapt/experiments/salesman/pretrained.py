"""The agents and partners that come with the package, for whoever measures them or is measured with them."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.configs.data import plain
from coadapt.experiments.salesman.clones import networks_of, stage_name
from coadapt.experiments.salesman.config import SalesmanConfig
from coadapt.experiments.salesman.seats import THIS_RUN, Source
from coadapt.experiments.salesman.weights import FAMILIES, GAME, PUBLISHED, Saved, read
from coadapt.experiments.salesman.world import KINDS
from coadapt.runs import stage as stage_module
from coadapt.runs.stage import Inputs, Stage
from coadapt.storage.files import Incompatible
from coadapt.storage.trees import read_manifest

FOLDER = PUBLISHED / GAME
STAGE = "published"
"""The stage that hands them on."""


def home() -> Path:
    """The folder of all of them."""
    return FOLDER


def published_seeds(method: str = "behaviour_conditioned") -> tuple[int, ...]:
    """Of which seeds there are agents of a method."""
    return tuple(sorted(int(file.stem) for file in (FOLDER / FAMILIES[method]).glob("*.json")))


@cache
def read_published(name: str) -> Saved:
    """One of the files, such as behaviour-conditioned/0."""
    return read(FOLDER / name)


def handing_on(files: Sequence[str]) -> Stage:
    """The stage that does nothing but hand on what comes with the package."""
    return Stage(
        STAGE,
        stage_module.__name__,  # the files say it all: no code of ours changes what is in them
        {name: read_manifest(FOLDER / name)["sha256"] for name in files},
        chunks=1,
        begin=lambda inputs: jax.tree.map(jnp.asarray, {name: read_published(name).networks for name in files}),
        go_on=lambda networks, inputs: (networks, {}),
        outcome=lambda networks: networks,
    )


def partner_files(references: Sequence[int]) -> list[str]:
    """The names of the files of reference partners."""
    return [f"partners/{seed}-{kind}" for seed in references for kind in KINDS]


class Left(NamedTuple):
    """The partners that one seed's clones have left behind."""

    novice: Any
    intermediate: Any
    skilled: Any


def find(inputs: Inputs, training: str, seed: int) -> Any:
    """Published networks, by the training they come from."""
    networks = inputs[STAGE]
    if training == "clones":
        return Left(*(networks[f"partners/{seed}-{kind}"]["policy"] for kind in KINDS))
    method = "behaviour_conditioned" if training in ("policy", "predictor") else training
    return networks[f"{FAMILIES[method]}/{seed}"]["belief" if training == "predictor" else "policy"]


def source_of(config: SalesmanConfig) -> Source:
    """Where a run that trains gets its networks from: all it trains, and perhaps the package's reference partners."""
    if not config.pretrained_references:
        return THIS_RUN
    in_package = lambda training, seed: training == "clones" and seed in config.references
    return Source(
        lambda inputs, training, seed: (find if in_package(training, seed) else networks_of)(inputs, training, seed),
        lambda training, seed: STAGE if in_package(training, seed) else stage_name(training, seed),
    )


def references_of(config: SalesmanConfig) -> list[Stage]:
    """The stage that hands on the package's reference partners, if a run is measured with them."""
    check_references(config)
    if not config.pretrained_references:
        return []
    return [handing_on(partner_files(config.references))]


def check_references(config: SalesmanConfig) -> None:
    """Refuse reference partners that are not there, or that have learnt another game."""
    if not config.pretrained_references:
        return
    there = sorted({int(file.stem.partition("-")[0]) for file in (FOLDER / "partners").glob("*.json")})
    for seed in config.references:
        if seed not in there:
            raise Incompatible(f"the package has no reference partners of seed {seed}; there are {there}")
    for name in partner_files(config.references):
        if plain(read_published(name).world.game) != plain(config.world.game):
            raise Incompatible(
                "the package's reference partners have learnt another game than the one in world.game;"
                " train some for it with: --set pretrained_references=false"
            )
