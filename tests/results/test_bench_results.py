"""The committed benchmark holds what the project claims of it. It is checked, not made, here."""

import json
from pathlib import Path

import pytest

from benchmarks.report import TITLES, number
from benchmarks.scaling import COST
from benchmarks.sizes import FULL
from coadapt.configs.data import differences, plain

FOLDER = Path(__file__).parents[2] / "results" / "bench"
SUMMARY = json.loads((FOLDER / "summary.json").read_text())
ROWS = SUMMARY["rows"]


def entries(row, contender, quantity, unit=None):
    """All that was measured of whoever's name begins like this."""
    found = [
        entry
        for entry in ROWS
        if entry["row"] == row and entry["contender"].startswith(contender) and entry["quantity"] == quantity
        if unit is None or entry["unit"] == unit
    ]
    assert found
    return found


def least_ratio(row, contender):
    """How many times as fast ours is as the best setting of a peer."""
    return min(entry["ratio"]["median"] for entry in entries(row, contender, "training"))


YOUNGER = {
    (f"{training}.shaping_span", None, 1.0) for training in ("self_play", "lstm", "quality.clones", "quality.policy")
}
"""Fields that came after what is committed was measured, with what they are by default, which is how it was before."""


def test_every_row_is_there_and_nobody_failed():
    assert list(SUMMARY["runs"]) == list(TITLES)
    assert [entry["failed"] for entry in ROWS if entry["failed"]] == []
    assert {"ours", "torch", "numpy", "jaxmarl", "jumanji"} == {
        name for run in SUMMARY["runs"].values() for name in run["versions"]
    }


def test_all_was_measured_at_full_size_by_one_run_of_one_commit():
    machine, *others = (run["machine"] for run in SUMMARY["runs"].values())
    assert all(other == machine for other in others)
    assert len(machine["commit"]) == 40
    assert machine["matrix_multiplication"]["all_cores"] > 0
    assert set(differences(SUMMARY["sizes"], plain(FULL))) <= YOUNGER


@pytest.mark.parametrize("row", ["training", "recurrent"])
def test_everybody_learns_as_many_parameters(row):
    ours, *others = (entry["value"] for entry in entries(row, "", "parameters"))
    assert others
    assert all(other["median"] == pytest.approx(ours["median"], rel=0.02) for other in others)


def test_training_is_ten_times_as_fast_as_the_best_peer_and_five_times_as_pair_by_pair():
    assert least_ratio("training", "Stable-Baselines3") >= 10
    assert least_ratio("training", "coadapt, pair by pair") >= 5


@pytest.mark.parametrize("steps", [50, 17])
def test_recurrent_training_is_twenty_times_as_fast(steps):
    assert least_ratio("recurrent", f"sb3-contrib RecurrentPPO, episodes of {steps}") >= 20


@pytest.mark.parametrize(
    ("goal", "minutes"), [("self-play as long as the paper's", 5), ("the paper's three rows passed", 15)]
)
def test_quality_is_reached_in_time(goal, minutes):
    (ours,) = (entry for entry in entries("quality", "coadapt", goal, "minutes") if not entry["extrapolated"])
    assert len(ours["repetitions"]) == 3
    assert ours["value"]["median"] <= minutes


def test_a_decision_takes_a_millisecond_at_most():
    slow = [entry for entry in ROWS if entry["row"] == "decision" and "99" in entry["quantity"]]
    assert len(slow) == 2
    assert max(entry["value"]["median"] for entry in slow) <= 1


def test_the_tabulated_update_is_worth_three_times_the_peak():
    worth, *_ = entries(
        "roofline", "coadapt's update, tabulated", "operations that pair by pair would need", "of the peak"
    )
    assert worth["value"]["median"] >= 3


@pytest.mark.parametrize("axis", ["games", "seeds"])
def test_cost_scales_linearly_or_better(axis):
    """Each size beside the one before it, but for what a noisy machine makes of it."""
    points = [entry for entry in ROWS if entry["row"] == "scaling" and entry["settings"].get("axis") == axis]
    linear = [entry["settings"]["of_linear_scaling"]["median"] for entry in points if entry["quantity"] == COST.name]
    assert len(linear) == len(getattr(FULL, f"scaling_{axis}")) > 2
    assert max(linear) <= 1.1


def readme_lines():
    """The README's table: what, ours, the best of the others, and how many times as good ours is."""
    yield "| | coadapt | the best of the others | |"
    yield "| --- | ---: | ---: | ---: |"
    per_second = ", environment steps a second"
    yield _line("training", "training", "Stable-Baselines3", f"self-play PPO with the paper's network{per_second}")
    yield _line("training", "training", "coadapt, pair by pair", "the same, beside our own code pair by pair")
    for steps in (50, 17):
        rival = f"sb3-contrib RecurrentPPO, episodes of {steps}"
        yield _line("recurrent", "training", rival, f"with an LSTM, episodes of {steps} steps{per_second}", str(steps))
    passed = "the paper's three rows passed"
    yield _line("quality", passed, "Stable-Baselines3", "from nothing to better than the paper's agent, minutes")
    slow = ours_of("decision", "one decision, 99th percentile", "compiled in")
    yield f"| one decision, 99th percentile, milliseconds | {number(slow['value']['median'])} | | |"


def ours_of(row, quantity, ending=""):
    found = [e for e in entries(row, "coadapt", quantity) if "pair by pair" not in e["contender"]]
    return next(entry for entry in found if ending in entry["contender"] and entry["unit"] != "environment steps")


def _line(row, quantity, rival, what, ending=""):
    ours = ours_of(row, quantity, ending)["value"]["median"]
    best = min(entries(row, rival, quantity), key=lambda entry: entry["ratio"]["median"])
    name = best["contender"].replace(f", episodes of {ending}", "")
    theirs = f"{'≈ ' if best['extrapolated'] else ''}{number(best['value']['median'])}, {name}"
    theirs += ", extrapolated" if best["extrapolated"] else ""
    return f"| {what} | {number(ours)} | {theirs} | {number(best['ratio']['median'])}x |"


def test_the_readme_shows_these_numbers():
    assert "\n".join(readme_lines()) in (FOLDER.parents[1] / "README.md").read_text()
