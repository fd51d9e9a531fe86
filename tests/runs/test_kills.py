"""Killed at random moments, and at the worst ones, a run of the toy ends with the same bits.

Storing is the same for all experiments. The stages of a real one are killed in `test_commands`, once each.
"""

import json
import random
import signal

import pytest

from tests.runs.processes import SUDDEN, compiled_once, process, stage_of
from tests.runs.toy import ToyConfig, bits, run_toy

pytestmark = pytest.mark.slow

KILLS = 20  # or as many more as it takes to come to the last stage
LONG = {"iterations": 140, "points": 14}
"""The toy with more chunks in its three stages than so many killed processes can make, which is two each."""


@pytest.fixture
def toy(tmp_path, cache):
    """The toy as a process to which something happens: its status, and what it said."""
    start = "\nimport sys\nfrom tests.runs.toy import main\nmain(*sys.argv[1:])"

    def happen(accident=""):
        child = process("-c", accident + start, str(tmp_path / "run"), json.dumps(LONG), env=compiled_once(cache))
        _, err = child.communicate()
        return child.returncode, err

    return happen


@pytest.fixture(scope="module")
def whole_toy(tmp_path_factory):
    """A run of the toy that nothing happened to."""
    folder = tmp_path_factory.mktemp("whole_toy") / "run"
    run_toy(folder, ToyConfig(**LONG))
    return folder


def test_killed_at_random_moments_again_and_again(toy, whole_toy, tmp_path):
    folder, chance = tmp_path / "run", random.Random(2021)
    killed_in = []
    while len(killed_in) < KILLS or "look" not in killed_in:  # how far a process comes depends on the code, too
        assert len(killed_in) < 3 * KILLS
        status, err = toy(SUDDEN.format(moment=chance.random(), stage="any"))
        assert status == -signal.SIGKILL, err
        killed_in.append(stage_of(folder))
    assert set(killed_in) == {"first", "second", "look"}
    assert toy()[0] == 0
    assert bits(folder) == bits(whole_toy)


ACCIDENT = """
import os, signal
from pathlib import Path
count = 0

def watched(name, file_of):
    really = getattr(os, name)
    def instead(*arguments):
        global count
        concerned = {where!r} in file_of(*arguments)
        if concerned:
            count += 1
        if concerned and count == {number} and {when!r} == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        if concerned and count == {number} and {when!r} == "half":
            really(arguments[0], arguments[1][: len(arguments[1]) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        return really(*arguments)
    setattr(os, name, instead)

def file_of(first, *_):
    return str(Path("/proc/self/fd", str(first)).readlink() if isinstance(first, int) else first)

watched({call!r}, file_of)
"""

# Where it is killed: before the call of this name that concerns such a file, or when half of it is written.
WORST_MOMENTS = {
    "before the first checkpoint": ("write", "checkpoints", 1, "before"),
    "in the middle of writing the arrays": ("write", "-000002.safetensors", 1, "half"),
    "between writing and syncing the arrays": ("fsync", "-000003.safetensors", 1, "before"),
    "between syncing and renaming the arrays": ("replace", "-000004.safetensors", 1, "before"),
    "between the arrays and their manifest": ("write", "-000005.json", 1, "before"),
    "in the middle of writing the manifest": ("write", "-000006.json", 1, "half"),
    "between writing and syncing the manifest": ("fsync", "-000007.json", 1, "before"),
    "between syncing and renaming the manifest": ("replace", "-000008.json", 1, "before"),
    "in the middle of writing an artefact": ("write", "artefacts", 2, "half"),
    "before the manifest of an artefact is renamed": ("replace", "outcome.json", 1, "before"),
    "in the middle of a line of the metrics": ("write", "metrics/second.jsonl", 2, "half"),
    "before the run itself is written down": ("replace", "run.json", 1, "before"),
}


def test_killed_at_the_worst_moments(toy, whole_toy, tmp_path):
    """One kill between each pair of write, sync and rename, each in a process of its own, and each is gone on from."""
    order = sorted(WORST_MOMENTS.items(), key=lambda moment: "run itself" not in moment[0])
    for name, (call, where, number, when) in order:
        status, err = toy(ACCIDENT.format(call=call, where=where, number=number, when=when))
        assert status == -signal.SIGKILL, f"{name}: {err}"
    status, err = toy()
    assert status == 0, err
    assert bits(tmp_path / "run") == bits(whole_toy)
    assert not list(tmp_path.rglob("*.part"))
