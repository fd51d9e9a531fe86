import json
from dataclasses import replace

import pytest

from coadapt.experiments.matrix_game import FAST, tuning
from coadapt.progress import Silent


@pytest.mark.slow
def test_a_search_in_miniature(tmp_path, monkeypatch):
    """Of two learning rates, one of which cannot learn anything, the other is chosen and everything is written down."""
    monkeypatch.setattr(tuning, "GRIDS", {"predictor": {"learning_rate": (1e-9, 1e-2)}})
    monkeypatch.setattr(tuning, "FIRST_ALPHAS", (0.03,))
    monkeypatch.setattr(tuning, "EPISODES", 500)
    config = replace(FAST, alphas=(0.03, 0.1), predictor=replace(FAST.predictor, iterations=300))
    tuning.tune(config, ["predictor"], tmp_path, Silent())
    (search,) = json.loads((tmp_path / "tuning.json").read_text())["searches"]
    assert search["chosen"] == {"learning_rate": 1e-2}
    assert [len(search[round_]) for round_ in ("first", "final")] == [2, 2]
    assert search["first"][0]["score"] < search["first"][1]["score"]
    assert "Chosen: learning_rate 0.01." in (tmp_path / "tuning.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["policy", "rl2"])
def test_a_policy_is_scored_by_its_share_of_the_ceiling(method):
    """Untrained, almost uniform actions earn -0.232 on average over the table's cells, whatever the partner."""
    config = replace(FAST, alphas=(0.1,), **{method: replace(getattr(FAST, method), iterations=20, learning_rate=1e-9)})
    settings = {"learning_rate": 1e-9, "discount": 0.0, "entropy_bonus": 0.1}
    (trial,) = tuning._try(config, method, [settings], 1.0, (1000,), Silent())
    assert trial.score == pytest.approx(-0.232 / 0.38774, abs=0.05)
