"""What is known of how agents were trained, as a file beside their weights: whoever has only these has all results."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coadapt.configs.data import plain
from coadapt.evaluation.returns import Cell
from coadapt.pipeline.older_words import in_words_of_today
from coadapt.pipeline.partners import Partner, PartnerId, populations
from coadapt.pipeline.results import Results
from coadapt.pipeline.self_play import CLONES
from coadapt.pipeline.study import Study
from coadapt.storage.files import Incompatible, check_kinds, read_json, write_json

FILE = "training.json"
LISTS = dict.fromkeys(("partners", "validation", "accuracies", "curves"), list)
FIELDS: dict[str, Any] = {"commit": str | None, "evaluation_matrix": dict} | LISTS


def write_record(folder: Path, results: Results, commit: str | None) -> None:
    """How the agents of these results have learnt, whom they trained with, and how they did with them."""
    trained_with = [n for n, met in enumerate(results.met_in_matrix) if not met.held_out]
    record = {
        "commit": commit,
        "partners": [partner._asdict() for partner in results.partners],
        "validation": _cells_by_way(results.validation),
        "evaluation_matrix": {
            "met": [results.met_in_matrix[n] for n in trained_with],
            "cells": _cells_by_way({way: [of[n] for n in trained_with] for way, of in results.matrix.items()}),
        },
        "accuracies": [{"seed": seed, "both": both} for seed, both in results.accuracies.items()],
        "curves": [{"of": of, "points": points} for of, points in results.curves.items()],
    }
    write_json(folder / FILE, plain(record))


def _cells_by_way(measured: Mapping[Any, Sequence[Cell]]) -> list[dict[str, Any]]:
    return [{"way": way, "cells": [cell._asdict() for cell in cells]} for way, cells in measured.items()]


def _by_way(entries: list[dict[str, Any]]) -> dict[Any, list[Cell]]:
    return {tuple(entry["way"]): [Cell(**cell) for cell in entry["cells"]] for entry in entries}


def with_record(folder: Path, results: Results, commit: str | None) -> Results:
    """Results of agents from a folder, with all that is known of their training; both were written at this commit."""
    file = folder / FILE
    if not file.exists():
        return results
    record = read_json(file)
    if "rehearsal" in record:  # as nobody writes any more
        record = in_words_of_today(record)
    check_kinds(file, record, FIELDS)
    if record["commit"] != commit:
        raise Incompatible(f"{file} was written at commit {record['commit']}, but the agents beside it at {commit}")
    try:
        return results._replace(**_understood(record, results.study), **_met_in_training(record, results))
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        raise Incompatible(f"{file} does not say what it should: {problem!r}") from problem


def _understood(record: dict[str, Any], study: Study) -> dict[str, Any]:
    """The fields of `Results` that a record has, of those seeds that take part."""
    seeds, held_out, clones = study.seeds, populations(study.held_out_ids), populations(study.all_ids)
    who = lambda population, name, *_: PartnerId(population, name, held_out=population in held_out)
    partners = [Partner(**partner | {"id": who(*partner["id"])}) for partner in record["partners"]]
    return {
        "partners": [partner for partner in partners if partner.id.population in clones],
        "validation": {
            (way, mode, seed): cells
            for (way, mode, seed), cells in _by_way(record["validation"]).items()
            if seed in seeds
        },
        "accuracies": {each["seed"]: tuple(each["both"]) for each in record["accuracies"] if each["seed"] in seeds},
        "curves": {
            (training, seed): {name: np.asarray(values, np.float64) for name, values in entry["points"].items()}
            for entry in record["curves"]
            for training, seed in [entry["of"]]
            if seed in (clones if training == CLONES else seeds)
        },
    }


def _met_in_training(record: dict[str, Any], results: Results) -> dict[str, Any]:
    """Cross-play with those who are here, and with the partners of the training, who need not be."""
    matrix = record["evaluation_matrix"]
    met, cells = [PartnerId(*each) for each in matrix["met"]], _by_way(matrix["cells"])
    return {
        "met_in_matrix": [*results.met_in_matrix, *met],
        "matrix": {way: [*here, *cells[way]] for way, here in results.matrix.items()},
    }
