"""The cache of compiled programs: on unless somebody has set up his own, whole, and bounded."""

import os
import subprocess
import sys
import zlib
from pathlib import Path

import jax
import pytest

import coadapt
from coadapt.runs.executor import RunOptions
from coadapt.runs.experiment import Experiment, Report
from coadapt.runs.launch import opened
from coadapt.storage import compiled

WHOLE = zlib.compress(os.urandom(1000))


@pytest.fixture(autouse=True)
def packed_by_zlib(monkeypatch):
    """As JAX does where there is no zstandard."""
    monkeypatch.setattr("jax._src.compilation_cache.decompress_executable", zlib.decompress)


def entry(folder: Path, name: str, data: bytes = WHOLE, used: float | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}-cache"
    file.write_bytes(data)
    if used is not None:
        os.utime(file, (used, used))
    return file


@pytest.mark.parametrize("length", [0, 1, len(WHOLE) // 2, len(WHOLE) - 1])
def test_what_was_cut_short_is_removed(tmp_path, length):
    good, bad = entry(tmp_path / "here", "good"), entry(tmp_path / "here", "bad", WHOLE[:length])
    compiled.tidy(tmp_path / "here")
    assert (good.exists(), bad.exists()) == (True, False)


def test_each_entry_is_looked_at_once(tmp_path, monkeypatch):
    looked_at = []
    monkeypatch.setattr(compiled, "_is_whole", lambda data: looked_at.append(data) or True)
    old, new = entry(tmp_path / "here", "old", used=1.0), WHOLE + b"new"
    compiled.tidy(tmp_path / "here")
    entry(tmp_path / "here", "new", new)
    compiled.tidy(tmp_path / "here")
    assert looked_at == [old.read_bytes(), new]


def test_beyond_its_bound_the_longest_unused_go(tmp_path):
    files = [entry(tmp_path / kind, f"{n}", b"x" * 10, used=n) for n, kind in enumerate(["a", "b", "a", "b"])]
    compiled._remove_oldest(tmp_path, 25)
    assert [file.exists() for file in files] == [False, False, True, True]


def test_a_cache_that_is_not_there_or_not_ours_is_no_reason_to_stop(tmp_path):
    compiled.tidy(tmp_path / "nowhere" / "here")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    compiled.tidy(tmp_path / "file" / "here")


CACHE = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")


@pytest.fixture
def untouched(monkeypatch, tmp_path):
    """JAX as it is before anybody has said anything about its cache."""
    before = {name: getattr(jax.config, name) for name in CACHE}
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", raising=False)
    for name, value in zip(CACHE, (None, 1.0), strict=True):
        jax.config.update(name, value)
    yield lambda: tuple(getattr(jax.config, name) for name in CACHE)
    for name, value in before.items():
        jax.config.update(name, value)


def test_it_is_switched_on(untouched, tmp_path):
    compiled.remember_compiled_programs()
    folder, least = untouched()
    assert Path(folder).parent == tmp_path / "coadapt" / "compiled"
    assert least == 0.2


def test_whoever_uses_a_name_of_ours_has_it(untouched):
    coadapt.__getattr__("MAIN")
    assert untouched()[0] is not None


def test_whoever_carries_out_an_experiment_has_it(untouched, tmp_path):
    nothing = Experiment("nothing", dict, lambda config: [], lambda *_: Report([], {}, ""))
    with opened(nothing, {}, tmp_path / "run", RunOptions()):
        assert untouched()[0] is not None


def test_whoever_has_set_up_his_own_keeps_it(untouched):
    jax.config.update("jax_compilation_cache_dir", "/mine")
    compiled.remember_compiled_programs()
    assert untouched() == ("/mine", 1.0)


@pytest.mark.parametrize("how", ["in the environment", "in the program"])
def test_whoever_has_said_what_is_worth_keeping_is_heard(untouched, monkeypatch, how):
    if how == "in the environment":
        monkeypatch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "1.0")
    else:
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 7.0)
    compiled.remember_compiled_programs()
    assert untouched()[1] == (1.0 if how == "in the environment" else 7.0)


PROGRAM = """
import coadapt, jax
coadapt.MAIN
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
jax.jit(lambda x: x + 41)(1)
"""


@pytest.mark.slow
def test_python_users_have_it_too_and_a_kill_does_no_lasting_harm(tmp_path):
    """An entry cut short would make JAX warn, and a warning is an error here."""
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    run = lambda: subprocess.run([sys.executable, "-W", "error", "-c", PROGRAM], env=environment, check=True)
    run()
    files = {file: file.read_bytes() for file in compiled.entries(tmp_path / "coadapt" / "compiled")}
    assert files
    for file, data in files.items():
        file.write_bytes(data[: len(data) // 2])
    run()
    for file, data in files.items():
        assert len(file.read_bytes()) > len(data) // 2, "made again, and whole"
