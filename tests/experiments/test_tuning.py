import json
from dataclasses import replace

import jax.numpy as jnp
import pytest

from coadapt.experiments.matrix_game import FAST
from coadapt.runs.launch import carry_out
from tuning import search
from tuning.__main__ import main
from tuning.report import TUNING
from tuning.search import TuningConfig


@pytest.mark.slow
def test_a_search_in_miniature(tmp_path, monkeypatch):
    """Of two learning rates, one of which cannot learn anything, the other is chosen and everything is written down."""
    monkeypatch.setattr(search, "GRIDS", {"predictor": {"learning_rate": (1e-9, 1e-2)}})
    monkeypatch.setattr(search, "FIRST_ALPHAS", (0.03,))
    monkeypatch.setattr(search, "EPISODES", 500)
    config = replace(FAST, alphas=(0.03, 0.1), predictor=replace(FAST.predictor, iterations=300))
    run, report = carry_out(TUNING, TuningConfig(config, ("predictor",)), tmp_path / "run")
    (found,) = json.loads((run.results / "tuning.json").read_text())["searches"]
    assert found["chosen"] == {"learning_rate": 1e-2}
    assert report.headline == {"predictor, learning_rate": 1e-2}
    assert [len(found[round_]) for round_ in ("first", "final")] == [2, 2]
    assert found["first"][0]["score"] < found["first"][1]["score"]
    assert "Chosen: learning_rate 0.01." in (run.results / "tuning.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["policy", "rl2"])
def test_a_policy_is_scored_by_its_share_of_the_optimum(method, tmp_path, monkeypatch):
    """Untrained, almost uniform actions earn -0.232 on average over the table's cells, whatever the partner."""
    monkeypatch.setattr(search, "GRIDS", {method: {"learning_rate": (1e-9,), "discount": (0.0,)}})
    monkeypatch.setattr(search, "FIRST_ALPHAS", (0.1,))
    monkeypatch.setattr(search, "EPISODES", 5_000)
    config = replace(FAST, alphas=(0.1,), **{method: replace(getattr(FAST, method), iterations=60)})
    run, _ = carry_out(TUNING, TuningConfig(config, (method,)), tmp_path / "run")
    (found,) = json.loads((run.results / "tuning.json").read_text())["searches"]
    assert found["final"][0]["score"] == pytest.approx(-0.232 / 0.38774, abs=0.05)


@pytest.mark.parametrize(("method", "best_first"), [("predictor", [2, 0, 1]), ("policy", [1, 0, 2])])
def test_errors_are_better_when_small_and_shares_when_large(method, best_first):
    first, _ = search.rounds(TuningConfig(FAST, (method,)), method)
    scores = jnp.array([[[0.5, 0.7], [0.8, 0.8], [0.1, 0.2]]])  # by candidate and alpha
    assert search.ranking(first, scores).tolist() == best_first


@pytest.mark.parametrize("methods", [(), ("sarsa",), ("rl2", "rl2")])
def test_a_search_for_nothing_known_is_refused(methods):
    with pytest.raises(ValueError, match="methods must be some of predictor, policy, rl2, each named once"):
        TuningConfig(FAST, methods)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--methods",), "methods must be some of predictor, policy, rl2, each named once, not []."),
        (
            ("--set", "experiment.predictor.iterations=40"),
            "iterations must be a whole number from 1 to 2147483647, not 0.",
        ),
        (("--methods", "sarsa"), "methods must be some of predictor, policy, rl2, each named once, not ['sarsa']."),
    ],
)
def test_a_search_for_nothing_is_a_mistake(tmp_path, monkeypatch, capsys, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main([*arguments, "--quiet"])
    assert (left.value.code, capsys.readouterr().err) == (2, f"coadapt: {sentence}\n")
    assert list(tmp_path.iterdir()) == []
