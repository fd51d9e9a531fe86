"""The experiment in miniature: everything that the real one does, in seconds."""

import json
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.evaluation.episodes import StepScores
from coadapt.experiments import matrix_game
from coadapt.experiments.matrix_game import scores
from coadapt.experiments.matrix_game.config import FAST, PAPER, PRESETS
from coadapt.experiments.matrix_game.replicates import all_replicates
from coadapt.experiments.matrix_game.report import NAMES, Results, comparison_table, reward_table
from coadapt.experiments.matrix_game.scores import Networks, optima_of
from coadapt.experiments.matrix_game.training import LEARNERS
from coadapt.partners.dirichlet import DirichletPartners
from coadapt.runs.launch import carry_out
from tests.experiments.tracing import traced_once

TINY = replace(
    FAST,
    alphas=(0.03, 1.0),
    seeds=(0, 7),
    predictor=replace(FAST.predictor, iterations=20),
    policy=replace(FAST.policy, iterations=20),
    rl2=replace(FAST.rl2, iterations=40),
    curve_points=2,
    curve_episodes=100,
    episodes=2_000,
    greedy_episodes=1_000,
    batch=1_000,
)


@pytest.fixture(scope="module")
def experiment():
    """Its stages are traced once, however often they are carried out."""
    return traced_once(matrix_game.EXPERIMENT, TINY)


@pytest.fixture(scope="module")
def folder(experiment, tmp_path_factory):
    path = tmp_path_factory.mktemp("matrix_game")
    run, _ = carry_out(experiment, TINY, path / "run")
    return run.results


@pytest.fixture(scope="module")
def summary(folder):
    return json.loads((folder / "summary.json").read_text())


def test_it_writes_what_it_promises(folder):
    written = {path.name for path in folder.iterdir()}
    figures = {"learning.png", "learning.svg", "adaptation.png", "adaptation.svg"}
    assert written == {"summary.json", "provenance.json", "table.md", "times.md"} | figures


def test_the_rows_are_every_method_mode_alpha_and_seed(summary):
    rows = summary["rows"]
    named = {(row["method"], row["mode"], row["alpha"], row["seed"]) for row in rows}
    assert named == {
        (m, mode, a, s) for m in ("bayes", *NAMES) for mode in ("sample", "argmax") for a in (0.03, 1.0) for s in (0, 7)
    }
    assert len(rows) == len(named)
    assert {(row["mode"], row["episodes"]) for row in rows} == {("sample", 2_000), ("argmax", 1_000)}
    for row in rows:
        assert -1 <= row["last_step_reward"] <= 1
        assert (row["prediction_error"] is None) == (row["method"] == "rl2")


def test_the_truth_has_no_error_and_the_average_has_the_populations_variance(summary):
    """Around its mean a Dirichlet distribution lies at a squared distance of (4/5) / (5 alpha + 1) on average."""
    for row in summary["rows"]:
        if row["method"] == "oracle_label":
            assert row["prediction_error"] == 0
        if row["method"] == "prior_mean_label":
            assert row["prediction_error"] == pytest.approx(0.8 / (5 * row["alpha"] + 1), rel=0.1)


def test_the_bayes_player_earns_its_optimum(summary):
    for optimum in summary["optima"]:
        rewards = [
            row["last_step_reward"]
            for row in summary["rows"]
            if (row["method"], row["alpha"]) == ("bayes", optimum["alpha"])
        ]
        assert np.mean(rewards) == pytest.approx(optimum["bayes_last_step"], abs=0.03)


class Mislabelled(NamedTuple):
    """The same partners with the labels of those so many places before them: with none, the truth."""

    truly: DirichletPartners
    places: Any

    @property
    def concentration(self):
        return self.truly.concentration

    @property
    def mean_label(self):
        return self.truly.mean_label

    def draw(self, key, games):
        partners = self.truly.draw(key, games)
        return partners._replace(labels=jnp.roll(partners.labels, self.places, axis=0))


def test_no_label_reaches_an_agent_in_execution(monkeypatch):
    """With false labels the agents that execute play the very same episodes; only who is told the truth is misled."""
    learners = [learner(TINY) for learner in LEARNERS.values()]
    starts = [learner.start(jax.random.key(n), jnp.float32(0.03)) for n, learner in enumerate(learners)]
    networks = Networks(*(learner.networks(start) for learner, start in zip(learners, starts, strict=True)))
    networks = jax.tree.map(lambda leaf: 30 * leaf, networks)  # untrained, but with strong opinions

    @jax.jit
    def scored(places):
        partners_of = lambda config, alpha: Mislabelled(DirichletPartners(jnp.full(5, alpha)), places)
        monkeypatch.setattr(scores, "partners_of", partners_of)
        return scores.score_all(jax.random.key(9), jnp.float32(0.03), networks, TINY, 50, greedy=False)

    truly, falsely = scored(0), scored(1)
    for method in ("behaviour_conditioned", "rl2", "bayes", "prior_mean_label", "shuffled_label"):
        assert (truly[method].reward == falsely[method].reward).all()
    assert (truly["oracle_label"].reward != falsely["oracle_label"].reward).any()
    assert (truly["shuffled_label"].reward != truly["behaviour_conditioned"].reward).any()  # they are another's


def test_parameters_are_the_papers_counted_by_hand(summary):
    assert summary["parameters"] == {
        "behaviour_conditioned": {
            "predictor": 4 * 32 * (6 + 32 + 1) + 33 * 16 + 17 * 5,
            "policy": 7 * 6 + 7 * 16 + 17 * 5,
            "value": 7 * 6 + 7 * 16 + 17 * 1,
        },
        "rl2": {
            "policy": 4 * 32 * (12 + 32 + 1) + 33 * 16 + 17 * 5,
            "value": 4 * 16 * (17 + 16 + 1) + 17 * 16 + 17 * 1,
        },
    }


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_both_methods_consume_the_same_number_of_steps(preset):
    ours = sum(stage.iterations * stage.steps_per_iteration for stage in (preset.predictor, preset.policy))
    assert ours == preset.rl2.iterations * preset.rl2.steps_per_iteration


def test_the_paper_preset_is_what_the_paper_states():
    for training in (PAPER.predictor, PAPER.policy, PAPER.rl2):
        assert (training.num_envs, training.num_steps, training.learning_rate) == (50, 10, 5e-4)
    assert (len(PAPER.alphas), len(PAPER.seeds)) == (6, 5)


def test_the_diagnostics_of_every_stage_are_kept(summary):
    of_ppo = {"reward", "value_loss", "entropy", "kl", "clip_fraction", "explained_variance"}
    of_ppo |= {"policy_gradient_norm", "critic_gradient_norm"}
    assert {name: set(values) for name, values in summary["diagnostics"].items()} == {
        "predictor": {"loss", "accuracy", "gradient_norm"},
        "policy": of_ppo,
        "rl2": of_ppo,
    }


def test_the_same_seeds_give_the_same_numbers_bit_for_bit(experiment, folder, tmp_path):
    again, _ = carry_out(experiment, TINY, tmp_path / "run")
    for name in ("summary.json", "table.md", "learning.svg"):
        assert (again.results / name).read_bytes() == (folder / name).read_bytes()


def test_the_chances_of_a_replicate_do_not_depend_on_which_others_there_are():
    key_of = lambda replicates, number: jax.random.key_data(replicates.keys)[number].tolist()
    assert key_of(all_replicates((0.03, 1.0), (0, 7)), 3) == key_of(all_replicates((1.0,), (7,)), 0)
    assert key_of(all_replicates((0.03, 1.0), (0, 7)), 3) != key_of(all_replicates((1.0,), (0,)), 0)


def test_a_game_in_which_nothing_can_be_won_is_reported_all_the_same():
    """The optimum is zero, so there is no share of it; and one seed has no deviation."""
    scored = StepScores(jnp.zeros((1, 10)), jnp.zeros((1, 10)))
    config = replace(TINY, payoff=((0.0, 0.0),) * 5, alphas=(1.0,), seeds=(0,))
    results = Results(config, optima_of(config), {(m, "sample"): scored for m in NAMES}, {}, {}, {}, {})
    assert reward_table(results).rows == [["1", *["0.0000"] * 7, "–", "–"]]
    assert comparison_table(results).rows == [["1", *["+0.0000"] * 4]]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"alphas": ()}, "alphas must be a list with something in it"),
        ({"alphas": (0.0,)}, "alphas must hold numbers from 1e-06 to 1e\\+06, not 0.0"),
        ({"alphas": (float("inf"),)}, "alphas must hold numbers"),
        ({"alphas": (True,)}, "alphas must hold numbers"),
        ({"alphas": ("x",)}, "alphas must hold numbers"),
        ({"alphas": (0.1, 0.1)}, "nothing twice"),
        ({"alphas": (0.1, 0.1 + 1e-12)}, "alphas must differ by more than single precision can tell"),
        ({"seeds": ()}, "seeds must be a list with something in it"),
        ({"seeds": (-1,)}, "seeds must hold whole numbers from 0 to 4294967295, not -1"),
        ({"seeds": (2**33,)}, "seeds must hold whole numbers from 0 to"),
        ({"payoff": ((1.0,), (1.0, 2.0))}, "one length"),
        ({"payoff": ((1.0, 0.0),) * 60}, "too many to enumerate"),
        ({"episodes": 2_500}, "multiple of batch"),
        ({"curve_points": 3}, "multiple of curve_points"),
        ({"max_steps": 5}, "num_steps must be max_steps"),
    ],
)
def test_a_bad_configuration_is_refused_before_any_work(changes, words):
    with pytest.raises(ValueError, match=words):
        replace(TINY, **changes)
