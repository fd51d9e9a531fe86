"""A run as people handle it: they stop it, look at it, go on with it, and are told what is the matter."""

import json
import random
import re
import signal
import subprocess
import time
from pathlib import Path
from shutil import copytree

import pytest

from coadapt.experiments.matrix_game.report import NAMES
from coadapt.storage.runs import glance
from tests.runs.processes import (
    CHUNKS,
    COMMAND,
    SMALL,
    STAGES,
    SUDDEN,
    begin,
    compiled_once,
    prepare,
    process,
    run,
    stage_of,
)
from tests.runs.toy import bits, run_toy

pytestmark = pytest.mark.slow
ENDLESS = json.dumps({"patience": 2_000_000_000})


@pytest.fixture(scope="module")
def work(tmp_path_factory, cache):
    """A folder in which the run was stopped by SIGTERM in the first stage."""
    folder = prepare(tmp_path_factory.mktemp("work"))
    command = begin(*COMMAND, folder=folder, cache=cache)
    wait_for(folder / "runs/matrix_game/checkpoints/predictor-000001.json", command)
    command.terminate()
    _, err = command.communicate()
    assert command.returncode == 128 + signal.SIGTERM, err
    assert err.endswith("coadapt: stopped, and nothing is lost; go on with: coadapt resume runs/matrix_game\n")
    return folder


def wait_for(file: Path, of: subprocess.Popen) -> None:
    while not file.exists():
        assert of.poll() is None, of.communicate()
        time.sleep(0.01)


def test_the_whole_life_of_a_run(work, cache):
    """Looked at, refused under other settings, which a new run goes on under, gone on with, compared, repeated.

    Each step needs the last.
    """
    ask = lambda *arguments: run(*arguments, folder=work, cache=cache)

    listed = ask("runs").stdout
    assert "interrupted" in listed
    assert re.search(r"\d+%", listed)

    shown = ask("runs", "show", "matrix_game").stdout
    for word in ("interrupted", "predictor", "predictor.learning_rate", "loss", "coadapt resume runs/matrix_game"):
        assert word in shown

    slower = ("--set", "predictor.learning_rate=0.02")
    refused = ask(*COMMAND, *slower)
    assert refused.returncode == 2
    assert "predictor.learning_rate was 0.01 and is 0.02" in refused.stderr
    refused = ask(*COMMAND, "--seeds", "2")
    assert refused.returncode == 2
    assert "seeds was [3] and is [0, 1]" in refused.stderr

    newest = max((work / "runs/matrix_game/checkpoints").glob("predictor-*.json")).relative_to(work)
    begun = ask(*COMMAND, "--run", "slower", *slower, "--init-from", str(newest))
    assert begun.returncode == 0, begun.stderr
    assert "predictor: going on after" in begun.stderr

    resumed = ask("resume", "runs/matrix_game")
    assert resumed.returncode == 0, resumed.stderr
    assert "predictor: going on after" in resumed.stderr
    # What does not depend on the predictor's learning rate was finished by the other run.
    assert re.findall(r"^(\w+): reusing", resumed.stderr, re.MULTILINE) == ["policy", "rl2"]
    assert re.search(r"Storing took [\d.]+ s beside [\d.]+ s of work: [\d.]+%", resumed.stderr)
    assert "Everything is in runs/matrix_game." in resumed.stdout

    compared = ask("runs", "compare", "matrix_game", "slower").stdout
    assert "predictor.learning_rate" in compared
    assert "policy.learning_rate" not in compared
    assert "RL2, share of the optimum" in compared

    again = ask(*COMMAND, "--quiet", "--publish", "published")
    assert (again.returncode, again.stderr) == (0, "")
    assert "share of the optimum" in again.stdout
    published = {path.name for path in (work / "published").iterdir()}
    assert published >= {"config.json", "summary.json", "provenance.json", "table.md", "learning.png"}
    stages = json.loads((work / "published/provenance.json").read_text())["stages"]
    assert set(stages) == set(STAGES)
    summary = json.loads((work / "published/summary.json").read_text())
    assert len(summary["rows"]) == len(("bayes", *NAMES)) * len(SMALL.alphas) * len(SMALL.seeds) * 2
    # Its own three actions, the partner's two, the reward and the clock go into an LSTM of 4 units, then to 16 and out.
    assert summary["parameters"]["rl2"]["policy"] == 4 * 4 * (3 + 2 + 1 + 1 + 4 + 1) + 5 * 16 + 17 * 3

    plain = ask(*COMMAND)
    assert re.findall(r"^(\w+): reusing", plain.stderr, re.MULTILINE) == list(STAGES)


@pytest.fixture(scope="module")
def whole(tmp_path_factory, cache):
    """A run that nothing happened to."""
    folder = prepare(tmp_path_factory.mktemp("whole"))
    done = run(*COMMAND, folder=folder, cache=cache)
    assert done.returncode == 0, done.stderr
    lines = sum(file.read_bytes().count(b"\n") for file in folder.glob("runs/matrix_game/metrics/*.jsonl"))
    assert lines == CHUNKS
    return folder


def test_a_second_start_compiles_nothing_again(whole, cache, tmp_path):
    """The compiled programs lie in the user's cache folder; making everything again adds none to them.

    The stages' own programs, that is: of very small ones, only those are kept that happen to take long.
    """
    kept = lambda: {path.name for path in (cache / "coadapt/compiled").rglob("*-cache")}
    compiled = lambda: {name for name in kept() if name.startswith(("jit_begin-", "jit_go_on-"))}
    before = compiled()
    assert before
    folder = copytree(whole, tmp_path / "work")
    assert run(*COMMAND, "--fresh", folder=folder, cache=cache).returncode == 0
    assert compiled() == before


def test_killed_in_every_stage_it_ends_with_the_same_bits(whole, cache, tmp_path):
    """With a checkpoint after every chunk, and with as few as by default: then the whole stage is made again."""
    folder, chance = prepare(tmp_path / "work"), random.Random(2021)
    for number, stage in enumerate(STAGES):
        accident = SUDDEN.format(moment=chance.random(), stage=stage)
        killed = run(*(COMMAND if number % 2 else COMMAND[:-2]), folder=folder, cache=cache, before=accident)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        assert stage_of(folder / "runs/matrix_game") == stage
    last = run("resume", "matrix_game", "--checkpoint-every", "0", folder=folder, cache=cache)
    assert last.returncode == 0, last.stderr
    assert "Traceback" not in last.stderr
    assert bits(folder / "runs/matrix_game") == bits(whole / "runs/matrix_game")


def test_a_loss_that_is_no_number_is_explained(whole, cache, tmp_path):
    """Beside a run whose finished stages it can build on."""
    folder = copytree(whole, tmp_path / "work")
    answer = run(*COMMAND, "--run", "lost", "--set", "policy.learning_rate=1e37", folder=folder, cache=cache)
    assert answer.returncode == 1
    assert "Traceback" not in answer.stderr
    last = answer.stderr.splitlines()[-1]
    assert re.match(r"coadapt: \w+ of policy is (nan|-?inf) after \d+ iterations \(alpha [\d.]+, seed 3\); ", last)
    assert "look at policy.learning_rate and policy.max_gradient_norm" in last
    assert last.endswith("; go on from a checkpoint in a new run with: --init-from CHECKPOINT --set FIELD=VALUE")


@pytest.fixture
def toy(cache):
    """Starts the toy experiment in a process, and sees to it that none is left when the test is over."""
    started: list[subprocess.Popen] = []

    def start(folder: Path, config: str = "{}", before: str = "") -> subprocess.Popen:
        """`before` is Python to run first. There it may touch THERE, a file beside the run."""
        there = f"THERE = Path({str(folder.with_name('there'))!r})"
        asked = f"toy.main({str(folder)!r}, {config!r})"
        script = f"from pathlib import Path; import jax; from tests.runs import toy\n{there}\n{before}\n{asked}"
        started.append(process("-c", script, env=compiled_once(cache)))
        return started[-1]

    yield start
    for each in started:
        each.kill()
        each.communicate()


TOLD_WHEN_IT_RUNS = """
really = jax.stages.Compiled.__call__
def instead(*arguments):
    THERE.touch()
    return really(*arguments)
jax.stages.Compiled.__call__ = instead
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_twice_it_leaves_at_once_and_is_still_consistent(toy, tmp_path, number):
    """In the middle of a chunk that would take hours."""
    endless = toy(tmp_path / "run", ENDLESS, before=TOLD_WHEN_IT_RUNS)
    wait_for(tmp_path / "there", endless)
    endless.send_signal(number)
    assert endless.stderr is not None
    while (said := endless.stderr.readline()) != "Stopping after this chunk of work; once more to leave at once.\n":
        assert said.startswith("first: compiling")  # on a busy machine more than once
    endless.send_signal(number)
    endless.communicate()
    assert endless.returncode == 128 + number
    assert not list(tmp_path.rglob("*.part"))
    assert json.loads((tmp_path / "run/config.json").read_text())["patience"] == 2_000_000_000


FOR_EVER = """
import time
def instead(*_):
    THERE.touch()
    while True:
        time.sleep(3600)
"""
PLANS, COMPILES = f"{FOR_EVER}\ntoy._wait = instead", f"{FOR_EVER}\njax.stages.Lowered.compile = instead"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("doing", [PLANS, COMPILES], ids=["plans", "compiles"])
def test_asked_while_it_plans_or_compiles_it_does_not_wait(toy, tmp_path, doing, number):
    """For neither would ever come to its end; `_wait` is a part of what is planned."""
    endless = toy(tmp_path / "run", before=doing)
    wait_for(tmp_path / "there", endless)
    endless.send_signal(number)
    _, err = endless.communicate()
    assert endless.returncode == 128 + number, err
    assert err.endswith(f"coadapt: stopped, and nothing is lost; go on with: coadapt resume {tmp_path}/run\n")
    assert glance(tmp_path / "run").state == "interrupted"
    run_toy(tmp_path / "run")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_before_anything_was_begun_it_leaves_nothing_behind(cache, tmp_path, number):
    folder = prepare(tmp_path / "work")
    plans = f"from pathlib import Path; THERE = Path('../there')\n{FOR_EVER}\n"
    plans += "from coadapt.runs import footprint; footprint.weighed = instead"
    endless = begin(*COMMAND, folder=folder, cache=cache, before=plans)
    try:
        wait_for(tmp_path / "there", endless)
        endless.send_signal(number)
        _, err = endless.communicate()
    finally:
        endless.kill()
    assert endless.returncode == 128 + number, err
    assert err.endswith("coadapt: stopped before anything was begun.\n")
    assert [path.name for path in folder.iterdir()] == ["small.json"]


def test_two_processes_on_one_run(toy, tmp_path):
    """The second is told who the first is and touches nothing; when the first is gone, the run goes on."""
    first = toy(tmp_path / "run", ENDLESS)
    wait_for(tmp_path / "run/times.jsonl", first)
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    second = toy(tmp_path / "run", ENDLESS)
    _, err = second.communicate()
    assert second.returncode == 2
    assert err.startswith(f"coadapt: {tmp_path}/run is being written by process {first.pid} on ")
    assert {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()} == before
    first.kill()
    first.communicate()
    third = toy(tmp_path / "run", "{}")
    _, err = third.communicate()
    assert "patience was 2000000000 and is 0" in err


def test_two_runs_side_by_side_share_a_store(toy, tmp_path):
    """Both make the same stages at the same time, and both end with the bits of one that was alone."""
    run_toy(tmp_path / "alone/run")
    together = [toy(tmp_path / f"together/{name}") for name in ("run", "other")]
    for each in together:
        _, err = each.communicate()
        assert each.returncode == 0, err
    # Whoever finds that the other one has finished a stage lets go of its own checkpoints of it.
    without_checkpoints = lambda folder: {n: data for n, data in bits(folder).items() if "checkpoints" not in n}
    assert without_checkpoints(tmp_path / "together/run") == without_checkpoints(tmp_path / "alone/run")
    summaries = [(tmp_path / f"together/{name}/results/summary.json").read_bytes() for name in ("run", "other")]
    assert summaries[0] == summaries[1]
