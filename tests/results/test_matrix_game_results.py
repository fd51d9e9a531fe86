"""The committed results hold what the project claims of them. They are checked, not made, here."""

import json
from pathlib import Path

import numpy as np
import pytest

from coadapt.configs.data import read_config
from coadapt.evaluation.statistics import over_seeds
from coadapt.experiments.matrix_game import FAST, MatrixGameConfig
from coadapt.oracles.matrix import optima
from coadapt.pipeline.older_words import in_words_of_today
from tuning import search

FOLDER = Path(__file__).parents[2] / "results" / "matrix_game"
SUMMARY = json.loads((FOLDER / "summary.json").read_text())
OPTIMA = {optimum["alpha"]: optimum for optimum in SUMMARY["optima"]}


def rewards(method, alpha, mode="sample"):
    wanted = (method, alpha, mode)
    return np.array([r["last_step_reward"] for r in SUMMARY["rows"] if (r["method"], r["alpha"], r["mode"]) == wanted])


def test_they_come_from_the_fast_preset_and_a_clean_commit():
    assert read_config(MatrixGameConfig, json.loads((FOLDER / "config.json").read_text())) == FAST
    provenance = json.loads((FOLDER / "provenance.json").read_text())
    commits = {provenance["commit"], *(made["commit"] for made in provenance["stages"].values())}
    assert {len(commit) for commit in commits} == {40}  # "with changes" would be more


def test_five_seeds_of_enough_fresh_episodes():
    assert {row["seed"] for row in SUMMARY["rows"]} == {0, 1, 2, 3, 4}
    assert min(row["episodes"] for row in SUMMARY["rows"]) >= 100_000
    assert not {*search.FIRST_SEEDS, *search.FINAL_SEEDS} & set(FAST.seeds)


@pytest.mark.parametrize("alpha", FAST.alphas)
def test_the_optima_are_the_exact_ones(alpha):
    exact = optima(np.array(FAST.payoff), np.full(5, alpha), FAST.max_steps)
    assert OPTIMA[alpha]["bayes_last_step"] == pytest.approx(exact.bayes_last_step, abs=1e-12)
    assert OPTIMA[alpha]["bayes_mean_step"] == pytest.approx(exact.bayes_mean_step, abs=1e-12)
    assert OPTIMA[alpha]["known_distribution_standard_error"] < 1e-4


@pytest.mark.parametrize("alpha", [0.01, 0.03, 0.1, 0.3])
def test_the_agent_reaches_99_percent_of_the_bayes_reward(alpha):
    assert rewards("behaviour_conditioned", alpha).mean() >= 0.99 * OPTIMA[alpha]["bayes_last_step"]


@pytest.mark.parametrize("alpha", [1.0, 3.0])
def test_the_agent_comes_within_two_thousandths_of_the_bayes_reward(alpha):
    assert rewards("behaviour_conditioned", alpha).mean() >= OPTIMA[alpha]["bayes_last_step"] - 0.002


@pytest.mark.parametrize("alpha", [0.01, 0.03, 0.1, 0.3])
def test_knowing_is_better_than_predicting_and_predicting_than_not_looking(alpha):
    """Seed by seed on the same partners, with 95% intervals; and the agent's own interval lies above the control's."""
    predicted, prior = rewards("behaviour_conditioned", alpha), rewards("prior_mean_label", alpha)
    assert over_seeds(rewards("oracle_label", alpha) - predicted).low > 0
    assert over_seeds(predicted - prior).low > 0
    assert over_seeds(predicted).low > over_seeds(prior).high
    assert over_seeds(predicted).low > over_seeds(rewards("shuffled_label", alpha)).high


@pytest.mark.parametrize("alpha", FAST.alphas)
def test_nobody_without_the_truth_is_above_the_optimum(alpha):
    for method in ("behaviour_conditioned", "rl2", "bayes", "prior_mean_label", "shuffled_label"):
        assert over_seeds(rewards(method, alpha)).low <= OPTIMA[alpha]["bayes_last_step"]


@pytest.mark.parametrize("alpha", FAST.alphas)
def test_no_prediction_is_better_than_the_exact_posterior(alpha):
    """Not by more than the luck of a million episodes, which a percent of the error covers many times over."""
    rows = [r for r in SUMMARY["rows"] if (r["method"], r["alpha"]) == ("behaviour_conditioned", alpha)]
    assert np.mean([row["prediction_error"] for row in rows]) > 0.99 * OPTIMA[alpha]["bayes_prediction_error"]


@pytest.mark.parametrize("method", ["predictor", "policy", "rl2"])
def test_the_preset_has_what_the_search_chose(method):
    searches = json.loads((FOLDER.parent / "matrix_game_tuning" / "tuning.json").read_text())["searches"]
    (chosen,) = [in_words_of_today(each["chosen"]) for each in searches if each["method"] == method]
    assert {name: getattr(getattr(FAST, method), name) for name in chosen} == chosen
