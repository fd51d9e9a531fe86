"""Metrics also go to TensorBoard and to Weights & Biases, as files and nowhere else."""

import sys

import pytest

from coadapt.tracking import check_tracker
from tests.runs.toy import run_toy


def contents(folder, pattern):
    (file,) = folder.rglob(pattern)
    return file.read_bytes()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tensorboard(tmp_path):
    run_toy(tmp_path / "run", track="tensorboard")
    events = contents(tmp_path / "run/tensorboard", "events.*")
    for tag in (b"first/loss", b"second/place", b"look/distance"):
        assert events.count(tag) == 4


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_weights_and_biases_offline(tmp_path, monkeypatch):
    monkeypatch.delenv("WANDB_MODE", raising=False)
    monkeypatch.setenv("WANDB_ERROR_REPORTING", "false")
    monkeypatch.setenv("HOME", str(tmp_path))
    run_toy(tmp_path / "run", track="wandb")
    stored = contents(tmp_path / "run/wandb", "*.wandb")
    for name in (b"first/loss", b"second/place", b"look/distance", b"stride"):
        assert name in stored


def test_a_tracker_that_is_not_installed_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ValueError, match=r"tracking with wandb needs an extra; install it with: pip install 'coadapt"):
        check_tracker("wandb")


def test_an_unknown_tracker_is_refused():
    with pytest.raises(ValueError, match="there is no tracker 'paper'; choose one of: tensorboard, wandb"):
        check_tracker("paper")
