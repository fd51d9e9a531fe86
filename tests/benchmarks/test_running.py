"""The benchmark from beginning to end, at sizes that say nothing of speed."""

import json
from dataclasses import replace
from shutil import copytree

import pytest

from benchmarks import running
from benchmarks.client import PeerFailed
from benchmarks.measuring import Entry, Spread
from benchmarks.report import TITLES, Results, from_summary, markdown
from benchmarks.running import AT_ONCE, ROWS, run
from benchmarks.time_to_quality import PASSED, SKILLED, Reached, SeedOutcome, _extrapolated, _ours
from coadapt.runs.progress import Progress
from coadapt.tables import tables_in
from tests.benchmarks.small import TINY
from tests.quickly import compiled_quickly

SHORTEST = ("stepping", "decision", "scaling")
"""The rows that compile least."""


@pytest.fixture(scope="module", autouse=True)
def processes_compile_quickly():
    """Nobody looks at how fast they are."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in compiled_quickly().items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    run(SHORTEST, TINY, None, folder, Progress())
    return folder


@pytest.fixture(scope="module")
def summary(folder):
    return json.loads((folder / "summary.json").read_text())


def test_every_row_is_there_and_says_what_it_is(summary):
    assert list(dict.fromkeys(row["row"] for row in summary["rows"])) == list(SHORTEST)
    for row in summary["rows"]:
        assert row["failed"] is None
        assert row["repetitions"]
        assert row["value"]["low"] <= row["value"]["median"] <= row["value"]["high"]
        assert {"contender", "quantity", "unit", "ratio", "settings", "note", "extrapolated"} <= set(row)


@pytest.mark.slow
def test_our_two_arrangements_are_compared(tmp_path):
    entries = run(("training", "recurrent", "roofline"), TINY, None, tmp_path, Progress()).entries
    assert [entry.failed for entry in entries if entry.failed] == []
    ratios = {entry.contender: entry.ratio for entry in entries if entry.quantity == "training"}
    assert ratios["coadapt, tabulated"] is None
    assert min(ratios["coadapt, pair by pair"] or [0]) > 0
    worth = {entry.unit: entry.value for entry in entries if "pair by pair would need" in entry.quantity}
    assert {"GFLOP/s", "of the peak"} == set(worth)


def test_a_row_that_is_measured_again_replaces_itself_alone(folder, tmp_path):
    copytree(folder, tmp_path, dirs_exist_ok=True)
    before = json.loads((tmp_path / "summary.json").read_text())
    again = run(("decision",), TINY, None, tmp_path, Progress())
    after = json.loads((tmp_path / "summary.json").read_text())
    assert list(after["runs"]) == list(SHORTEST)
    assert [row for row in after["rows"] if row["row"] != "decision"] == [
        row for row in before["rows"] if row["row"] != "decision"
    ]
    assert after["runs"]["decision"]["machine"]["date"] >= before["runs"]["decision"]["machine"]["date"]
    others = ("stepping", "scaling")
    assert from_summary(after).without(others).entries == again.without(others).entries


def test_rows_of_other_sizes_are_neither_mixed_nor_lost(folder, tmp_path):
    copytree(folder, tmp_path, dirs_exist_ok=True)
    other = replace(TINY, decisions=TINY.decisions + 1)
    with pytest.raises(ValueError, match=r"has other rows \(stepping, scaling\) that were measured with other sizes"):
        run(("decision",), other, None, tmp_path, Progress())
    assert list(json.loads((tmp_path / "summary.json").read_text())["runs"]) == list(SHORTEST)


def test_rows_of_other_sizes_are_replaced_if_all_are_measured_again(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "describe", lambda *_: machine("Monday"))
    run(("decision",), TINY, None, tmp_path, Progress())
    other = replace(TINY, decisions=TINY.decisions + 1)
    run(("decision",), other, None, tmp_path, Progress())
    assert json.loads((tmp_path / "summary.json").read_text())["sizes"]["decisions"] == other.decisions


def test_what_is_no_summary_is_not_written_over(tmp_path):
    (tmp_path / "summary.json").write_text('{"rows": 3}')
    with pytest.raises(ValueError, match="is not a summary of a benchmark; choose another folder, or remove it"):
        run(("decision",), TINY, None, tmp_path, Progress())


def test_runs_of_different_days_are_told_apart():
    run_on = lambda date: {"machine": machine(date), "versions": {}, "seconds": 1.0}
    shown = markdown(Results({}, [], {"stepping": run_on("Monday"), "training": run_on("Monday")}))
    assert shown.startswith("Measured on a computer, 2 cores")
    shown = markdown(Results({}, [], {"stepping": run_on("Monday"), "scaling": run_on("Tuesday")}))
    assert shown.startswith("Rows 1. Measured on a computer")
    assert "Rows 7. Measured on a computer, 2 cores, 4 GB, Linux, on Tuesday UTC." in shown


def machine(date):
    return {
        "processor": "a computer",
        "cores": 2,
        "memory_gb": 4,
        "system": "Linux",
        "date": date,
        "load_average_at_start": [0, 0, 0],
        "matrix_multiplication": {"one_core": 1.0, "all_cores": 2.0},
    }


def test_the_machine_is_described(summary):
    run = summary["runs"]["scaling"]
    machine = run["machine"]
    assert machine["cores"] >= 1
    assert machine["memory_gb"] > 0
    assert len(machine["load_average_at_start"]) == 3
    assert all(gflops > 0 for gflops in machine["matrix_multiplication"].values())
    assert {"jax", "numpy", "python"} <= set(run["versions"]["ours"])


def test_the_tables_are_readable(folder):
    tables = tables_in((folder / "table.md").read_text())
    assert [table.title for table in tables] == [TITLES[row] for row in SHORTEST]
    for table in tables:
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_there_is_a_picture(folder):
    assert (folder / "bench.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (folder / "bench.svg").read_bytes()


@pytest.mark.slow
def test_an_agent_is_trained_from_nothing(tmp_path):
    entries = [entry for entry in run(("quality",), TINY, None, tmp_path, Progress()).entries if not entry.failed]
    minutes = {entry.quantity: entry.repetitions for entry in entries if entry.unit == "minutes"}
    assert all(0 < early <= late for early, late in zip(minutes[SKILLED], minutes[PASSED], strict=True))
    steps = {entry.quantity: entry.repetitions for entry in entries if entry.unit == "environment steps"}
    # Two iterations of self-play, all four of the policy, and two of the predictor, each 6 games of 50 steps.
    assert steps == {SKILLED: (600,), PASSED: (600 + 1_200 + 600,)}


def test_what_a_peer_would_need_is_extrapolated_from_its_best_rate():
    outcomes = {0: SeedOutcome({SKILLED: Reached(1.0, 600, 1_200), PASSED: Reached(2.0, 900, 1_500)}, {}, 0.0)}
    rate = lambda threads, *rates: Entry(
        "training", f"Stable-Baselines3 PPO, {threads}", "training", "environment steps/s", rates
    )
    skilled, passed = _extrapolated(outcomes, [rate("1 thread", 1.0, 1.0), rate("2 threads", 0.5, 0.5)])
    # One environment step a second is two samples, or 120 a minute: 1,200 take ten minutes, 1,500 twelve and a half.
    assert (skilled.contender, skilled.extrapolated) == ("Stable-Baselines3 PPO, 1 thread", True)
    assert (skilled.repetitions, skilled.ratio) == ((10.0,), Spread(10.0, 10.0, 10.0))
    assert (passed.repetitions, passed.ratio) == ((12.5,), Spread(6.25, 6.25, 6.25))
    assert _extrapolated(outcomes, []) == []


def test_a_seed_that_was_never_good_enough_is_named():
    outcomes = {0: SeedOutcome({}, {}, 0.0, str(PeerFailed("seed 0 was not good enough")))}
    assert all(entry.failed == "seed 0 was not good enough" and entry.value is None for entry in _ours(outcomes, TINY))


def test_the_others_alone_are_no_median():
    early = {SKILLED: Reached(1.0, 600, 1_200)}
    outcomes = {
        0: SeedOutcome(early, {}, 0.0, "seed 0 was not good enough"),
        1: SeedOutcome({**early, PASSED: early[SKILLED]}, {}, 0.0),
    }
    values = {(entry.quantity, entry.unit): entry.repetitions for entry in _ours(outcomes, TINY)}
    assert values[SKILLED, "minutes"] == (1.0, 1.0)
    assert values[PASSED, "minutes"] == ()


def test_somebody_in_a_hurry_waits_for_no_training():
    assert set(ROWS) - set(AT_ONCE) == {"quality"}
