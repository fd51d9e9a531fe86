"""The example to begin one's own work with: short, made of public names, and as good as its comment says."""

import ast
import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

import coadapt
from coadapt.pipeline.study_file import study_in

SCRIPT = Path(__file__).parents[2] / "examples" / "own_game.py"
SOURCE = SCRIPT.read_text()
TREE = ast.parse(SOURCE)

PLACES, STEPS, MOVES, DIRECTIONS = 5, 8, (-1, 0, 1), (-1, 1)


@pytest.fixture(scope="module")
def study():
    """The example's own study, of one seed and without baselines."""
    return replace(study_in(SCRIPT).study, seeds=(0,), methods=("behaviour_conditioned", "label_blind"))


@pytest.fixture(scope="module")
def summary(study, tmp_path_factory):
    """What the study comes to."""
    folder = tmp_path_factory.mktemp("lake") / "lake"
    coadapt.run(study, folder, quiet=True)
    return json.loads((folder / "results" / "summary.json").read_text())


def test_it_is_short():
    assert len(SOURCE.splitlines()) <= 60


def test_it_imports_the_package_and_nothing_inside_it():
    imported = {alias.name for node in ast.walk(TREE) if isinstance(node, ast.Import) for alias in node.names}
    assert imported == {"jax", "jax.numpy", "coadapt"}
    assert [node.module for node in ast.walk(TREE) if isinstance(node, ast.ImportFrom)] == ["typing"]


def test_it_uses_public_names_only():
    attributes = [node for node in ast.walk(TREE) if isinstance(node, ast.Attribute)]
    used = {node.attr for node in attributes if isinstance(node.value, ast.Name) and node.value.id == "ca"}
    assert used
    assert used <= set(coadapt.__all__)
    private = {node.attr for node in attributes if node.attr.startswith("_")}
    assert private <= {"_replace"}  # of named tuples, and public in spite of its name


@cache
def most_when_told(gap: int, direction: int, left: int) -> int:
    """What is earned in the steps left by whoever knows which way the friend goes."""
    if not left:
        return 0
    gaps = [(gap + direction - move) % PLACES for move in MOVES]
    return max((after == 0) + most_when_told(after, direction, left - 1) for after in gaps)


def most_when_not_told(gap: int) -> Fraction:
    """The same for whoever has to make a first step before it sees which way the friend goes."""

    def after_first(move: int, direction: int) -> Fraction:
        after = (gap + direction - move) % PLACES
        return Fraction((after == 0) + most_when_told(after, direction, STEPS - 1))

    return max(sum((after_first(move, way) for way in DIRECTIONS), Fraction()) / 2 for move in MOVES)


def test_the_best_by_hand_is_the_best_by_enumeration():
    gaps = range(PLACES)
    assert [most_when_told(gap, 1, STEPS) for gap in gaps] == [8, 7, 7, 8, 8]
    assert [most_when_not_told(gap) for gap in gaps] == [7] * PLACES


def mean_return(summary, method: str) -> float:
    """Over both types, sampling."""
    rows = [row for row in summary["rows"] if (row["method"], row["mode"]) == (method, "sample")]
    assert {row["partner_type"] for row in rows} == {"goes on", "goes back"}
    return sum(row["mean_return"] for row in rows) / len(rows)


@pytest.mark.slow
def test_what_is_best_is_found_without_being_told(summary):
    """The held-out friends never slip: whoever knows them earns 7.6 on average over all starts, as by hand."""
    best = [row["best_response_return"] for row in summary["regret"] if row["method"] == "behaviour_conditioned"]
    assert best
    assert best == pytest.approx([7.6] * len(best), abs=0.1)  # over the starts that were drawn


@pytest.mark.slow
def test_the_agent_comes_close_to_the_best(summary):
    """Within 0.4 of 7 on its own belief, of 7.6 with the oracle label: it has trained with friends that slip."""
    assert mean_return(summary, "behaviour_conditioned") == pytest.approx(7, abs=0.4)
    assert mean_return(summary, "oracle_label") == pytest.approx(7.6, abs=0.3)


@pytest.mark.slow
def test_it_is_the_belief_that_does_it(summary):
    """Whoever is told nothing, or what is true of another episode, earns much less."""
    assert mean_return(summary, "label_blind") < 5.5
    assert mean_return(summary, "shuffled_label") < 5
