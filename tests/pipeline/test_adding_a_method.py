"""Adding a method is one file and one line of the registry, and what other methods have trained stays theirs."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import coadapt

NAMES = """
import json, sys
from dataclasses import replace
from pathlib import Path

from coadapt.pipeline.experiment import stages_of
from coadapt.pipeline.methods import METHODS
from coadapt.runs.experiment import Experiment, artefact_names
from coadapt.storage import fingerprint
from lake import STUDY

study = replace(STUDY, methods=tuple(METHODS))
experiment = Experiment("lake", type(study), stages_of, lambda *_: None)


def names():
    fingerprint.fingerprint.cache_clear()
    return artefact_names(experiment, stages_of(study), {})


found = {"as it is": names()}
for name, (file, old, new) in json.loads(sys.argv[1]).items():
    text = Path(file).read_text()
    assert text.count(old) == 1, f"{old!r} must be once in {file}"
    Path(file).write_text(text.replace(old, new))
    found[name] = names()
    Path(file).write_text(text)
print(json.dumps(found))
"""

LAKE = '''
"""A game and a study of somebody's own."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp

import coadapt as ca


class State(NamedTuple):
    step: Any


@dataclass(frozen=True)
class Lake:
    num_actions = (2, 2)
    max_steps = 3

    def reset(self, key):
        return State(jnp.int32(0))

    def step(self, state, actions, key):
        reward = jnp.where(actions[0] == actions[1], 1.0, 0.0)
        ended = state.step + 1 >= self.max_steps
        return State(state.step + 1), ca.Outcome(reward, ended, jnp.array(False))

    def observe(self, state, seat):
        return jnp.float32(state.step)[None]


class Left(NamedTuple):
    certainly: float

    def start(self, key):
        return ()

    def decide(self, seen, memory):
        return ca.Decision(self.certainly * jnp.array([1.0, 0.0]), memory, {})


def seen(observation):
    return observation


@dataclass(frozen=True)
class Task:
    name = "lake"
    game = learning_game = Lake()
    types = ("left",)
    heads = ca.Heads((4,), 4, (4,))
    oracle = None

    def encoder(self, role):
        return ca.VectorSpec(seen)


_PPO = ca.PPOConfig(iterations=10, num_envs=4, num_steps=3)
STUDY = ca.Study(
    clones=None, policy=_PPO, predictor=ca.SupervisedConfig(10, num_envs=4, num_steps=3), lstm_clones=None, lstm=_PPO,
    task=Task(), partners=ca.Scripted({"left": Left(5.0)}), held_out=ca.Scripted({"left": Left(4.0)}),
    measures=ca.Measures(switch_after=1, episodes=2000), seeds=(0,),
)
'''

METHOD = '''
"""A method that did not exist before: the label-blind control under another name."""

from dataclasses import replace

from coadapt.pipeline.methods import label_blind
from coadapt.pipeline.study import Study


def trainings(study: Study):
    """The same training for a purpose of its own."""
    (training,) = label_blind.trainings(study)
    return (replace(training, purpose="deaf", code=__name__),)


(BLIND,) = label_blind.METHODS
METHODS = (replace(BLIND, name="deaf", title="deaf", code=__name__, trainings=trainings, parts={"policy": "deaf"}),)
'''


EDITS = {
    "method": ("coadapt/pipeline/methods/lstm.py", "METHODS = (LSTM, MATCHED)", "METHODS = (LSTM, MATCHED, *())"),
    "game": ("lake.py", "1.0, 0.0)", "2.0, 0.0)"),
    "partner": ("lake.py", "self.certainly *", "2 * self.certainly *"),
    "another game": ("coadapt/games/matrix.py", "\nfrom typing", "\nADDED = 1\nfrom typing"),
}
"""What is edited, and put back: a file, what it says, and what it says then."""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package, with somebody's study beside it."""
    folder = tmp_path_factory.mktemp("copy")
    ours = Path(coadapt.__file__).parent
    shutil.copytree(ours, folder / "coadapt", ignore=shutil.ignore_patterns("__pycache__", "weights"))
    (folder / "lake.py").write_text(LAKE)
    return folder


def names_in(folder: Path, edits: dict[str, tuple[str, str, str]]) -> dict[str, dict[str, str]]:
    """What all artefacts of the study are called, by stage: as it is, and after each edit."""
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", NAMES, json.dumps(edits)]
    answer = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


@pytest.fixture(scope="module")
def names(package):
    return names_in(package, EDITS)


def test_a_method_is_one_file_and_one_line_of_the_registry(package, names):
    before, methods = names["as it is"], package / "coadapt" / "pipeline" / "methods"
    registry = (methods / "__init__.py").read_text()
    assert registry.count('    "label_blind",\n') == 1
    (methods / "deaf.py").write_text(METHOD)
    (methods / "__init__.py").write_text(registry.replace('    "label_blind",\n', '    "label_blind",\n    "deaf",\n'))
    after = names_in(package, {})["as it is"]
    assert {stage: name for stage, name in after.items() if stage in before} == before
    assert {stage for stage in after if stage not in before} == {
        "deaf_0",
        "evaluation_deaf_0",
        "evaluation_matrix_deaf_0",
        "partner_switch_deaf_0",
    }


def test_editing_one_method_renames_its_own_stages_alone(names):
    before, after = names["as it is"], names["method"]
    assert {stage for stage in before if after[stage] != before[stage]} == {s for s in before if "lstm" in s}


@pytest.mark.parametrize("edited", ["game", "partner"])
def test_editing_the_game_or_its_partners_renames_everything(names, edited):
    assert not set(names["as it is"].values()) & set(names[edited].values())


def test_what_is_not_taken_from_the_door_does_not_count(names):
    assert names["another game"] == names["as it is"]  # behind the same door, and none of this study's business
