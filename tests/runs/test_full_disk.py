"""No space left on the device: the run stops with a sentence, what was stored before is whole, and it goes on."""

import errno
import os
import subprocess
from contextlib import contextmanager

import pytest

from coadapt.cli.answers import FAILURE, stops_explained
from coadapt.configs.data import plain
from coadapt.runs.experiment import plan
from coadapt.storage import runs, trees
from coadapt.storage.files import CannotWrite
from tests.runs.toy import TOY, ToyConfig, bits, run_toy

CALLS = ("write", "fsync", "replace")


@contextmanager
def full_from(call: int | None):
    """From this call of write, sync and rename on the disk is full. What is yielded counts the calls."""
    counted = [0]

    def failing(really):
        def instead(*arguments):
            counted[0] += 1
            if call is not None and counted[0] > call:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return really(*arguments)

        return instead

    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            patch.setattr(os, name, failing(getattr(os, name)))
        yield counted


def calls_of_a_whole_run(folder):
    with full_from(None) as counted:
        run_toy(folder)
    return counted[0]


def test_a_full_disk_at_every_write(whole, tmp_path):
    """One run for each of the calls, a hundred and more: each stops with a sentence, keeps its checkpoints, goes on."""
    calls = calls_of_a_whole_run(tmp_path / "counted" / "run")
    assert calls > 100
    stopped = 0
    for call in range(calls):
        folder = tmp_path / str(call) / "run"
        with full_from(call):
            problem = why_it_stopped(folder)
        if problem is not None:
            stopped += 1
            assert "No space left on device" in problem
            assert str(tmp_path / str(call)) in problem
        assert_all_checkpoints_load(folder)
        run_toy(folder)
        assert bits(folder) == bits(whole)
        assert not list((tmp_path / str(call)).rglob("*.part"))
    assert stopped > calls - 20  # all but those of state.json at the very end, which is not worth stopping for


def why_it_stopped(folder):
    try:
        run_toy(folder)
    except CannotWrite as problem:
        return str(problem)
    return None


def assert_all_checkpoints_load(folder):
    planned = {each.stage.name: each for each in plan(TOY, ToyConfig(), {})}
    for manifest in (folder / "checkpoints").glob("*.json"):
        path = manifest.with_suffix("")
        trees.load(path, planned[path.name.rsplit("-", 1)[0]].state)


def test_a_write_that_the_system_takes_in_parts_is_completed(whole, tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[: max(1, len(data) // 2)]))
    run_toy(tmp_path / "run")
    assert bits(tmp_path / "run") == bits(whole)


def test_a_line_that_did_not_fit_is_taken_back(tmp_path, monkeypatch):
    from coadapt.storage.journal import Journal

    write = os.write

    def half_a_line(descriptor, data):
        if len(data) < 20:
            raise OSError(errno.ENOSPC, "full")
        return write(descriptor, data[:5])

    with Journal(tmp_path / "metrics.jsonl") as journal:
        journal.append({"whole": True})
        monkeypatch.setattr(os, "write", half_a_line)
        with pytest.raises(CannotWrite, match=r"cannot write .*metrics\.jsonl: full"):
            journal.append({"too long": "for what is left"})
    assert (tmp_path / "metrics.jsonl").read_text() == '{"whole": true}\n'


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 60 kB, where the machine permits; what is yielded makes it larger."""
    place = tmp_path / "disk"
    place.mkdir()

    def mount(size, *more):
        command = ["mount", "-t", "tmpfs", "-o", ",".join([f"size={size}k", *more]), "tmpfs", str(place)]
        return subprocess.run(command, capture_output=True).returncode == 0

    if not mount(60):
        pytest.skip("this machine does not let us mount a file system")
    try:
        yield place, lambda: mount(20_000, "remount")
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_is_really_full(whole, small_disk, capsys):
    place, enlarge = small_disk
    folder = place / "run"
    with pytest.raises(SystemExit) as stop, stops_explained(folder):
        run_toy(folder)
    assert stop.value.code == FAILURE
    sentence = capsys.readouterr().err
    assert sentence.startswith(f"coadapt: cannot write {place}")
    assert sentence.endswith(f"when there is room, go on with: coadapt resume {folder}\n")
    assert_all_checkpoints_load(folder)
    assert runs.read(folder).config == plain(ToyConfig())
    assert enlarge()
    run_toy(folder)
    assert bits(folder) == bits(whole)
