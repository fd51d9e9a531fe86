"""A fingerprint changes with what is computed, and with nothing else."""

import subprocess
import sys

import pytest

from coadapt.storage.fingerprint import fingerprint, modules_behind, normal_form
from coadapt.storage.sealed import checksum

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


def test_what_is_imported_for_type_checkers_alone_does_not_count(package):
    only_typed = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from .part import double\n"
    (package / "whole.py").write_text(only_typed)
    before = taken_again(package)
    (package / "part.py").write_text(PART.replace("2 * x", "3 * x"))
    assert taken_again(package) == before


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


STRANGERS = {
    "a virtual environment": (".venv", "lib/python3.11/site-packages", ".venv/pyvenv.cfg"),
    "an environment of another layout": ("environment", "modules", "environment/pyvenv.cfg"),
    "packages of a system": ("usr", "lib/python3/dist-packages", None),
}


@pytest.mark.parametrize("kind", STRANGERS)
def test_an_environment_below_the_folder_of_a_script_does_not_count(kind, tmp_path, monkeypatch):
    """Nor does what is compiled, wherever it lies; a neighbour does."""
    environment, below, mark = STRANGERS[kind]
    name = f"script_{abs(hash(kind))}"
    strangers = tmp_path / environment / below
    (strangers / f"{name}_stranger").mkdir(parents=True)
    (strangers / f"{name}_stranger/__init__.py").write_text("x = 1\n")
    (strangers / f"{name}_stranger/binary.abi3.so").write_bytes(b"\x7fELF\x00")
    if mark is not None:
        (tmp_path / mark).touch()
    (tmp_path / f"{name}_binary.abi3.so").write_bytes(b"\x7fELF\x00")
    (tmp_path / f"{name}_neighbour.py").write_text(PART)
    imports = f"import {name}_stranger, {name}_stranger.binary, {name}_binary\nfrom {name}_neighbour import double\n"
    (tmp_path / f"{name}.py").write_text(imports)
    for folder in (strangers, tmp_path):
        monkeypatch.syspath_prepend(folder)
    assert set(modules_behind(name)) == {name, f"{name}_neighbour"}


def test_a_module_among_installed_packages_has_no_relatives_there(tmp_path, monkeypatch):
    site = tmp_path / "site-packages"
    site.mkdir()
    (site / "alone_there.py").write_text("import stranger_there\n")
    (site / "stranger_there.py").write_text(PART)
    monkeypatch.syspath_prepend(site)
    assert set(modules_behind("alone_there")) == {"alone_there"}


SOURCE = """# -*- coding: utf-8 -*-
'''A docstring.'''
from __future__ import annotations

class Größe(dict):
    '''Another.'''

async def f(x, /, *rest: int, width=None, **more) -> str:
    with open(x) as file, file:
        pass
    return f"{x!r:>{width}} and {x=} {{}}" "" f"{rest}" "\N{GRINNING FACE} \\uFFFF" + {**more, None: ...}[x]
"""


def test_every_python_reads_a_source_alike():
    """The checksum was made by Python 3.11, 3.12 and 3.13: each has its own idea of a syntax tree."""
    assert (
        checksum(normal_form(SOURCE.encode()).encode())
        == "031b42a8e16efff3486bf593bc5cd50d4e7c1720f2fbb72f26d11b825f81d0eb"
    )


def test_different_codes_have_different_normal_forms():
    codes = [b"x = None", b"x = []", b"x = ''", b"x = f''", b"x: int", b"x = {}", b"x = 0", b"x = 0.0", b"f()", b"f(x)"]
    codes += [b"x = f'{y}'", b"x = f'{y!r}'", b"def f(): ...", b"async def f(): ...", b"class f: ...", b"{**x}"]
    assert len({normal_form(code) for code in codes}) == len(codes)


@pytest.mark.parametrize("module", ["training", "scores"])
def test_what_is_behind_the_matrix_games_stages_computes_and_does_not_store(module):
    behind = set(modules_behind(f"coadapt.experiments.matrix_game.{module}"))
    assert {"coadapt.learning.ppo", "coadapt.games.matrix", "coadapt.networks.mlp", "coadapt.encounters"} <= behind
    assert not [name for name in behind if name.split(".")[1] in ("storage", "progress", "cli", "tracking")]
