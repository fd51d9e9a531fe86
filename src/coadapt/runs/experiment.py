"""An experiment, and the plan of carrying it out: what each stage's outcome is called and looks like."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax

from coadapt.configs.data import plain
from coadapt.runs.footprint import weighed
from coadapt.runs.stage import Inputs, Stage
from coadapt.storage.files import json_text
from coadapt.storage.fingerprint import fingerprint
from coadapt.storage.numerics import numerics
from coadapt.storage.sealed import checksum
from coadapt.tables import Table


class Report(NamedTuple):
    """What an experiment came to, for people."""

    tables: Sequence[Table]
    headline: dict[str, float]  # the numbers that runs are compared by, the most important first
    closing: str


@dataclass(frozen=True)
class Experiment:
    """Stages made from a configuration, and a report made from their outcomes."""

    name: str
    config: type
    stages: Callable[[Any], Sequence[Stage]]
    report: Callable[[Any, Inputs, Path], Report]  # config, outcomes, the folder to write to


class Planned(NamedTuple):
    """A stage, the name of its artefact, and the shapes of its state and of its outcome."""

    stage: Stage
    artefact: str
    state: Any
    outcome: Any


def plan(experiment: Experiment, config: Any, origins: dict[str, str]) -> list[Planned]:
    """All stages in turn. Nothing is computed: names and shapes follow from the configuration and the code.

    What would not fit into the memory is refused: `DoesNotFit`.
    """
    planned: dict[str, Planned] = {}
    stages = experiment.stages(config)
    names = artefact_names(experiment, stages, origins)
    for stage in stages:
        shapes = _shapes(stage, {need: planned[need].outcome for need in stage.needs})
        planned[stage.name] = Planned(stage, names[stage.name], *shapes)
    return list(planned.values())


_known_shapes: dict[Any, tuple[Any, Any]] = {}


def _shapes(stage: Stage, inputs: Inputs) -> tuple[Any, Any]:
    """Of a stage's state and of its outcome. To find them all of its code is traced, which takes a second.

    Stages of one kind that differ in their seed alone have the same shapes, which are found once.
    """
    settings = plain(stage.settings)
    if isinstance(settings, dict):
        settings = {name: value for name, value in settings.items() if name != "seed"}
    given = [(leaf.shape, str(leaf.dtype)) for leaf in jax.tree.leaves(inputs)]
    size = stage.chunks, len(stage.replicates)
    kind = repr((stage.family or stage.name, stage.code, settings, size, given, numerics()))
    if kind not in _known_shapes:
        _known_shapes[kind] = weighed(stage, inputs)
    return _known_shapes[kind]


def artefact_names(experiment: Experiment, stages: Sequence[Stage], origins: dict[str, str]) -> dict[str, str]:
    """What each stage's outcome is kept under, by stage: its name, and a checksum of all that it depends on.

    `origins` has the checksums of the checkpoints of other runs that stages go on from.
    """
    names: dict[str, str] = {}
    for stage in stages:
        depends_on = {
            "experiment": experiment.name,
            "settings": plain(stage.settings),
            "chunks": stage.chunks,
            "inputs": {need: names[need] for need in stage.needs},
            "code": fingerprint(*stage.code),
            "numerics": numerics(),
            "origin": origins.get(stage.name),
        }
        names[stage.name] = f"{stage.name}-{checksum(json_text(depends_on).encode())[:16]}"
    return names
