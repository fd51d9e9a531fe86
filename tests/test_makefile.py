"""`make` finds a Python that runs, and asks for what there is."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from coadapt.cli import experiments, main

MAKEFILE = Path(__file__).parents[1] / "Makefile"


def chosen(folder, **pythons):
    """Which Python `make` takes if these commands are found first."""
    for name, does in pythons.items():
        file = folder / name.replace("_", ".")
        file.write_text(f"#!/bin/sh\n{does}\n")
        file.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON" and "MAKE" not in name}
    environment["PATH"] = f"{folder}:{os.environ['PATH']}"
    command = ["make", "--no-print-directory", "--file", str(MAKEFILE), "--eval", "chosen:;@echo $(PYTHON)", "chosen"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


RUNS, STAND_IN = f'exec {sys.executable} "$@"', "echo not here >&2; exit 127"


def test_the_newest_that_runs_is_taken(tmp_path):
    assert chosen(tmp_path, python3_13=RUNS, python3_12=RUNS) == "python3.13"


def test_a_stand_in_that_does_not_run_is_passed_over(tmp_path):
    assert chosen(tmp_path, python3_13=STAND_IN, python3_12=RUNS) == "python3.12"


def test_one_that_is_too_old_is_passed_over(tmp_path):
    """Whatever its name says: what counts is what it answers."""
    too_old = "exit 1"  # as it does when asked whether its version is at least 3.11
    assert chosen(tmp_path, python3_13=too_old, python3_12=too_old, python3_11=RUNS) == "python3.11"


def asked_for():
    """What `make` asks coadapt to run."""
    lines = MAKEFILE.read_text().replace("\\\n", "")
    commands = re.findall(r"^\t\$\(BIN\)/coadapt (.*)$", lines, re.MULTILINE)
    return [command for command in commands if not command.startswith("report ")]


@pytest.fixture
def begun(monkeypatch):
    """What would be run: the experiment, its configuration, the run's folder and where results are copied to."""
    noted = []
    monkeypatch.setattr(
        experiments, "run_to_end", lambda of, config, folder, how: noted.append((of.name, config, folder, how.publish))
    )
    return noted


@pytest.mark.parametrize("command", asked_for())
def test_every_command_is_understood(command, begun):
    main(command.split())
    ((_, _, folder, _),) = begun
    assert folder.parent == Path("runs")


def test_the_salesmans_results_are_those_of_its_pretrained_agents_on_many_layouts(begun):
    (command,) = [command for command in asked_for() if "--publish results/salesman" in command]
    main(command.split())
    ((experiment, config, _, to),) = begun
    assert (experiment, to) == ("salesman_pretrained", Path("results/salesman"))
    assert (config.seeds, config.episodes, config.both_modes) == ((0, 1, 2, 3, 4), 20_000, True)
    assert (config.measures.layouts, config.measures.joint_layouts) == (200, 1_000)
