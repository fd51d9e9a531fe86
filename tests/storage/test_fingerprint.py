"""A fingerprint changes with what is computed, and with nothing else."""

import subprocess
import sys

import pytest

from coadapt.storage.fingerprint import fingerprint, modules_behind

MODULE = '''"""A docstring."""
from {package}.part import double

def f(x):
    """Another."""
    return double(x)  # a comment
'''
PART = "def double(x):\n    return 2 * x\n"


@pytest.fixture
def package(tmp_path, monkeypatch, request):
    name = f"fingerprinted_{abs(hash(request.node.name))}"
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").touch()
    (tmp_path / name / "whole.py").write_text(MODULE.format(package=name))
    (tmp_path / name / "part.py").write_text(PART)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path / name


def taken_again(package):
    fingerprint.cache_clear()
    return fingerprint(f"{package.name}.whole")


def test_comments_docstrings_and_layout_do_not_count(package):
    before = taken_again(package)
    text = (package / "whole.py").read_text()
    (package / "whole.py").write_text(text.replace("A docstring.", "Better.").replace("  # a comment", "\n\n"))
    assert taken_again(package) == before


def test_code_counts_wherever_it_is(package):
    before = taken_again(package)
    (package / "part.py").write_text(PART.replace("2 * x", "3 * x"))
    assert taken_again(package) != before


def test_what_is_imported_relatively_counts(package):
    (package / "whole.py").write_text("from .part import double\n")
    before = taken_again(package)
    (package / "part.py").write_text(PART.replace("2 * x", "3 * x"))
    assert taken_again(package) != before


def test_versions_count(package, monkeypatch):
    before = taken_again(package)
    monkeypatch.setattr("coadapt.storage.fingerprint.version", lambda name: "0")
    assert taken_again(package) != before


def test_a_script_counts_with_its_neighbours(tmp_path):
    """Run as a script a file has the same fingerprint as long as neither it nor what it imports changes."""
    (tmp_path / "neighbour.py").write_text(PART)
    (tmp_path / "script.py").write_text(
        "from coadapt.storage.fingerprint import fingerprint\nimport neighbour\nprint(fingerprint(__name__))\n"
    )
    taken = lambda: subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=True)
    before = taken().stdout
    assert len(before) == 65
    assert taken().stdout == before
    (tmp_path / "neighbour.py").write_text(PART.replace("2", "3"))
    assert taken().stdout != before


@pytest.mark.parametrize("module", ["training", "scores", "search"])
def test_what_is_behind_the_matrix_games_stages_computes_and_does_not_store(module):
    behind = set(modules_behind(f"coadapt.experiments.matrix_game.{module}"))
    assert {"coadapt.learning.ppo", "coadapt.games.matrix", "coadapt.networks.mlp", "coadapt.encounters"} <= behind
    assert not [name for name in behind if name.split(".")[1] in ("storage", "progress", "cli", "tracking")]
