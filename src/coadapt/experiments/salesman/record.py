"""What is known of how agents were trained, as a file beside their weights: whoever has only these has all results."""

from pathlib import Path
from typing import Any

import numpy as np

from coadapt.configs.data import plain
from coadapt.experiments.salesman.config import SalesmanConfig
from coadapt.experiments.salesman.results import Partner, Results
from coadapt.experiments.salesman.scores import Cell
from coadapt.storage.files import Foreign, check_kinds, read_json, write_json

FILE = "training.json"
FIELDS = {"commit": str | None, "partners": list, "rehearsal": list, "accuracies": list, "curves": list}


def write_record(folder: Path, results: Results, commit: str | None) -> None:
    """How the agents of these results have learnt, whom they trained with, and how they did with them."""
    record = {
        "commit": commit,
        "partners": [partner._asdict() for partner in results.partners],
        "rehearsal": [
            {"way": way, "cells": [cell._asdict() for cell in cells]} for way, cells in results.rehearsal.items()
        ],
        "accuracies": [{"seed": seed, "both": both} for seed, both in results.accuracies.items()],
        "curves": [{"of": of, "points": points} for of, points in results.curves.items()],
    }
    write_json(folder / FILE, plain(record))


def with_record(folder: Path, results: Results, commit: str | None) -> Results:
    """Results of agents from a folder, with all that is known of their training at this commit."""
    file = folder / FILE
    if not file.exists():
        return results
    record = read_json(file)
    check_kinds(file, record, FIELDS)
    if record["commit"] != commit:
        raise Foreign(f"{file} is of agents trained at {record['commit']}, but those beside it were at {commit}")
    try:
        return results._replace(**_understood(record, results.config))
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        raise Foreign(f"{file} does not say what it should: {problem!r}") from problem


def _understood(record: dict[str, Any], config: SalesmanConfig) -> dict[str, Any]:
    """The fields of `Results` that a record has, of those seeds that take part."""
    seeds, clones = config.seeds, config.all_clones
    return {
        "partners": [Partner(**partner) for partner in record["partners"] if partner["seed"] in clones],
        "rehearsal": {
            (feed, mode, seed): [Cell(**cell) for cell in entry["cells"]]
            for entry in record["rehearsal"]
            for feed, mode, seed in [entry["way"]]
            if seed in seeds
        },
        "accuracies": {each["seed"]: tuple(each["both"]) for each in record["accuracies"] if each["seed"] in seeds},
        "curves": {
            (training, seed): {name: np.asarray(values, np.float64) for name, values in entry["points"].items()}
            for entry in record["curves"]
            for training, seed in [entry["of"]]
            if seed in (clones if training == "clones" else seeds)
        },
    }
