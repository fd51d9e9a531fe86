"""The committed results of the salesman hold what the project claims of them. They are checked, not made, here."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from coadapt.catalogue import find, pretrained
from coadapt.configs.data import read_config
from coadapt.evaluation.statistics import crossed
from coadapt.experiments.salesman import FAST, SalesmanStudy
from coadapt.experiments.salesman.task import TYPES

FOLDER = Path(__file__).parents[2] / "results" / "salesman"
SUMMARY = json.loads((FOLDER / "summary.json").read_text())
ROWS = SUMMARY["rows"]
TARGETS = {"skilled": 0.100, "intermediate": 0.011, "novice": -0.022}


def by_partner(method, name, mode=SUMMARY["mode"]):
    """By seed and held-out partner of one type."""
    of = lambda seed: [r["mean_return"] for r in ROWS if _whose(r) == (method, seed, name, mode)]
    return np.array([of(seed) for seed in FAST.seeds])


def returns(method, name):
    """One mean for each seed."""
    return by_partner(method, name).mean(axis=1)


def _whose(row):
    return row["method"], row["seed"], row["partner_type"], row["mode"]


def test_they_come_from_agents_of_the_fast_preset_and_a_clean_commit():
    manifests = [find(name).about for name in pretrained()]
    (commit,) = {about["commit"] for about in manifests}
    assert all(read_config(SalesmanStudy, about["config"]) == FAST for about in manifests)
    provenance = json.loads((FOLDER / "provenance.json").read_text())
    commits = {commit, provenance["commit"], *(made["commit"] for made in provenance["stages"].values())}
    assert {len(commit) for commit in commits} == {40}  # "with changes" would be more


def test_every_method_seed_partner_and_mode_has_enough_episodes():
    methods = {*FAST.methods, "oracle_label", "shuffled_label", *(f"always_{name}" for name in FAST.task.types)}
    found = [(row["method"], row["seed"], row["partner_id"], row["mode"]) for row in ROWS]
    partners = {str(partner) for partner in FAST.held_out_ids}
    expected = {(m, s, p, mode) for m in methods for s in FAST.seeds for p in partners for mode in ("sample", "argmax")}
    assert (len(FAST.seeds), len(partners)) == (5, 9)
    assert len(found) == len(expected)
    assert set(found) == expected
    assert min(row["episodes"] for row in ROWS) >= 20_000


def test_there_are_enough_layouts():
    assert SUMMARY["layouts"] >= 200
    assert SUMMARY["joint_optimum"]["layouts"] >= 1_000


def test_the_optima_are_those_that_are_known():
    """From 40,000 layouts of another simulation: 12.89 +- 0.01 and 26.32 +- 0.03 steps; 0.035 +- 0.009 more with no
    waiting; about 25.5 steps with a random walker. Each to four standard errors of both.
    """
    optimum = SUMMARY["joint_optimum"]
    error = lambda name: (optimum[name]["high"] - optimum[name]["low"]) / 2 / 1.96
    known = {"joint_length": (12.89, 0.01), "alone_length": (26.32, 0.03), "joint_optimum_length": (12.925, 0.014)}
    for name, (mean, its_error) in known.items():
        assert abs(optimum[name]["mean"] - mean) < 4 * np.hypot(error(name), its_error)
    assert abs(optimum["random_walker_length"]["mean"] - 25.5) < 4 * np.hypot(error("random_walker_length"), 0.3)


@pytest.mark.parametrize("name", TYPES)
def test_the_agent_beats_the_papers_row(name):
    assert returns("behaviour_conditioned", name).mean() >= TARGETS[name]


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("other", ["lstm", "lstm_matched", "label_blind"])
def test_the_agent_is_ahead_of_baseline_and_control(name, other):
    """Partner by partner, for new seeds and new partners."""
    ahead = crossed(by_partner("behaviour_conditioned", name) - by_partner(other, name))
    assert 0.003 < ahead.mean < 0.012
    assert ahead.low > 0


@pytest.mark.parametrize("name", TYPES)
def test_another_label_than_its_own_is_worse(name):
    for source in ("shuffled_label", "always_novice" if name != "novice" else "always_skilled"):
        assert returns("oracle_label", name).mean() > returns(source, name).mean()


def test_the_mode_is_the_better_one_with_training_partners():
    chosen = SUMMARY["conditioning"]
    mean = lambda mode: np.mean(
        [r["mean_return"] for r in SUMMARY["validation"] if (r["conditioning"], r["mode"]) == (chosen, mode)]
    )
    assert SUMMARY["mode"] == max(("sample", "argmax"), key=mean)


def test_the_pretrained_weights_are_those_of_the_results():
    """After training they were measured by fewer episodes, so the numbers of their manifests are near to these."""
    error_then = lambda row: row["return_standard_error"] * (row["episodes"] / FAST.episodes) ** 0.5
    for seed, name in product(FAST.seeds, TYPES):
        then = find(f"salesman/behaviour-conditioned/{seed}").about["measured"][f"return_{name}"]
        rows = [row for row in ROWS if _whose(row) == ("behaviour_conditioned", seed, name, SUMMARY["mode"])]
        error = np.mean([error_then(row) ** 2 for row in rows]) ** 0.5 / len(rows) ** 0.5
        assert abs(then - returns("behaviour_conditioned", name)[seed]) < 5 * error


def test_nobody_is_better_than_the_best_response():
    """By luck in four standard errors at the most."""
    assert {row["method"] for row in SUMMARY["regret"]} >= {*FAST.methods, "oracle_label", "exact_posterior"}
    for row in SUMMARY["regret"]:
        assert row["regret_return"] > -4 * row["regret_return_standard_error"]


@pytest.mark.parametrize("name", TYPES)
def test_what_is_lost_here_and_there_is_all_that_is_lost(name):
    (parts,) = ({k: v for k, v in row.items() if k != "partner_type"} for row in of_type("losses", name))
    (regret,) = (row["regret_return"] for row in of_type("regret_by_type", name) if row["method"] == FAST.methods[0])
    assert sum(part["mean"] for part in parts.values()) == pytest.approx(regret["mean"], abs=1e-9)


def of_type(what, name):
    return [row for row in SUMMARY[what] if row["partner_type"] == name]


def test_the_exact_posterior_knows_more_than_the_predictor():
    of_all = {row["source"]: row for row in SUMMARY["inference"] if row["partner_type"] is None}
    predictor, posterior = of_all["predictor"], of_all["posterior"]
    assert posterior["overall_log_loss"] < predictor["overall_log_loss"]
    assert posterior["calibration_error"] < 0.02
    for step in (1, 3, 5, 10):
        assert posterior["accuracy"][step] > predictor["accuracy"][step]
