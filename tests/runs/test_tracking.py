"""Metrics also go to TensorBoard and to Weights & Biases, as files and nowhere else."""

import sys

import pytest

from coadapt.runs.tracking import TRACKERS, check_tracker
from tests.runs.toy import run_toy


def contents(folder, pattern):
    (file,) = folder.rglob(pattern)
    return file.read_bytes()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tensorboard(tmp_path):
    run_toy(tmp_path / "run", track="tensorboard")
    for stage, tag in (("first", b"loss"), ("second", b"place"), ("look", b"distance")):
        assert contents(tmp_path / "run/tensorboard" / stage, "events.*").count(tag) == 4


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_weights_and_biases_offline(tmp_path, monkeypatch):
    monkeypatch.delenv("WANDB_MODE", raising=False)
    monkeypatch.setenv("WANDB_ERROR_REPORTING", "false")
    monkeypatch.setenv("HOME", str(tmp_path))
    run_toy(tmp_path / "run", track="wandb")
    stored = contents(tmp_path / "run/wandb", "*.wandb")
    for name in (b"first/loss", b"second/place", b"look/distance", b"stride"):
        assert name in stored


@pytest.mark.parametrize("fails_at", ["__init__", "begin", "log", "close"])
def test_a_tracker_that_fails_is_told_once_and_the_run_goes_on(tmp_path, monkeypatch, fails_at):
    class Broken:
        def __init__(self, *_):
            self.complain("__init__")

        def begin(self, *_):
            self.complain("begin")

        def log(self, *_):
            self.complain("log")

        def close(self):
            self.complain("close")

        def complain(self, place):
            if place == fails_at:
                raise RuntimeError("no network")

    monkeypatch.setitem(TRACKERS, "tensorboard", Broken)
    heard = run_toy(tmp_path / "run", track="tensorboard")
    assert [line for line in heard if "no network" in line] == [
        "Tracking has failed and is left out from here on: no network"
    ]


def test_a_tracker_that_is_not_installed_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ValueError, match=r"tracking with wandb needs an extra; install it with: pip install 'coadapt"):
        check_tracker("wandb")


def test_an_unknown_tracker_is_refused():
    with pytest.raises(ValueError, match="there is no tracker 'paper'; choose one of: tensorboard, wandb"):
        check_tracker("paper")
