"""A study of one's own from beginning to end: run, stopped, gone on with, loaded, and looked at by its name."""

import json
import random
import sys
from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
import pytest

import coadapt as ca
from coadapt.cli import main
from coadapt.pipeline import running
from coadapt.pipeline.study_file import study_in
from coadapt.players import seen_first
from coadapt.runs.executor import RunOptions, Worker
from coadapt.storage.files import Incompatible, StorageError
from tests.experiments.tracing import traced_once

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_game.py"
FOUND = study_in(EXAMPLE)
STUDY = replace(ca.smoke(FOUND.study), methods=("behaviour_conditioned", "rl2"))
EXPERIMENT = traced_once(running.experiment_of(STUDY), STUDY)
AGENT = "behaviour-conditioned/0"


@pytest.fixture(autouse=True)
def the_same_experiment(monkeypatch):
    """Whose programs are compiled once for all tests here."""
    monkeypatch.setattr(running, "experiment_of", lambda study: EXPERIMENT)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The run, below runs/ in a folder of its own."""
    place = tmp_path_factory.mktemp("lake") / "runs" / "lake"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "experiment_of", lambda study: EXPERIMENT)
        running.carry_out(STUDY, place, RunOptions(), FOUND)
    return place


class Killed(Exception):
    """As sudden as a kill: nothing is stored on the way out."""


def test_killed_in_each_of_its_stages_it_ends_with_the_same_bits(folder, tmp_path, monkeypatch):
    chance, record, victims = random.Random(4), Worker._record, set()

    def dying(self, stage, *chunk):
        record(self, stage, *chunk)
        if stage.name not in victims and (self.done == stage.chunks or chance.random() < 0.5):
            victims.add(stage.name)
            raise Killed

    monkeypatch.setattr(Worker, "_record", dying)
    again, deaths = tmp_path / "runs" / "lake", 0
    while True:
        try:
            ca.run(STUDY, again, options=RunOptions(checkpoint_every=0), quiet=True)
            break
        except Killed:
            deaths += 1
    assert deaths == len(EXPERIMENT.stages(STUDY)) == 16
    for file in ("summary.json", "table.md", f"agents/{AGENT}.safetensors", "agents/rl2/0.safetensors"):
        assert (again / "results" / file).read_bytes() == (folder / "results" / file).read_bytes()
    for metrics in (folder / "metrics").iterdir():
        assert (again / "metrics" / metrics.name).read_bytes() == metrics.read_bytes()


def test_a_loaded_agent_knows_what_it_was_trained_for(folder):
    agent = ca.load(folder / AGENT, task=STUDY.task)
    assert agent.game is STUDY.task.game
    assert agent.types == ("goes on", "goes back")
    assert agent.num_actions == 3
    key = jax.random.key(0)
    seen = seen_first(agent.game, agent.game.reset(key), ca.MAIN)
    decision = agent.decide(seen, agent.start(key))
    assert decision.logits.shape == (3,)
    assert decision.info["belief"].shape == (2,)


def test_what_is_saved_again_is_the_same(folder, tmp_path):
    agent = ca.load(folder / AGENT, task=STUDY.task)
    ca.save(tmp_path / "again", agent)
    same = ca.load(tmp_path / "again", task=STUDY.task)
    assert jax.tree.all(jax.tree.map(lambda one, other: bool(np.array_equal(one, other)), agent, same))
    assert (same.conditioning, same.greedy) == (agent.conditioning, agent.greedy)


@pytest.mark.parametrize(
    ("task", "sentence"),
    [
        (ca.Task("pond", STUDY.task.game, STUDY.task.types), "is for the game 'lake'; known are pond"),
        (replace(STUDY.task, types=("goes back", "goes on")), "is of another task: types was"),
        (replace(STUDY.task, heads=ca.Heads((8,), 8, (8,))), r"is of another task: heads.* was"),
    ],
)
def test_an_agent_of_another_task_is_refused(folder, task, sentence):
    with pytest.raises(Incompatible, match=sentence):
        ca.load(folder / AGENT, task=task)


def test_a_hostile_manifest_runs_nothing(folder, tmp_path, monkeypatch):
    """Whatever it names stays a name."""
    saved = json.loads((folder / "results" / "agents" / f"{AGENT}.json").read_text())
    arrays = (folder / "results" / "agents" / f"{AGENT}.safetensors").read_bytes()
    (tmp_path / "evil.py").write_text("raise SystemExit('evil was run')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    for field, value in (
        ("game", "evil.Game"),
        ("agent", "__import__('evil')"),
        ("task", {"class": "evil.Task", "__reduce__": "evil"}),
        ("conditioning", "evil.conditioning"),
        ("labels", ["evil", "__import__('evil')"]),
    ):
        manifest = saved | {"about": saved["about"] | {field: value}}
        (tmp_path / "agent.json").write_text(json.dumps(manifest))
        (tmp_path / "agent.safetensors").write_bytes(arrays)
        with pytest.raises(StorageError):
            ca.load(tmp_path / "agent", task=STUDY.task)
        assert "evil" not in sys.modules


def told(capsys, *command: str) -> str:
    main(command)
    return capsys.readouterr().out


def test_commands_take_the_name_of_a_run(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder.parents[1])
    evaluated = told(capsys, "evaluate", "lake", "--episodes", "100", "--quiet")
    assert "0-goes on" in evaluated
    assert "0-goes back" in evaluated
    assert "100 episodes" in told(capsys, "evaluate", "lake/rl2/0", "--episodes", "100", "--quiet")
    watched = told(capsys, "watch", "lake", "--seed", "3")
    assert "8 steps with a partner that is goes back" in watched
    assert "believes goes on" in watched
    assert "report.html" in told(capsys, "report", "lake")


def test_a_run_goes_on_under_the_same_study_alone(folder):
    with pytest.raises(Exception, match="cannot go on with another configuration"):
        ca.run(replace(STUDY, episodes=200), folder, quiet=True)
