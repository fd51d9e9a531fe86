import subprocess
import sys

import pytest

from coadapt.storage import lock
from coadapt.storage.lock import Busy, is_locked, locked

HOLD = """
import sys
from pathlib import Path
from coadapt.storage.lock import locked

with locked(Path(sys.argv[1])):
    print("mine", flush=True)
    input()
"""


@pytest.fixture
def other_process(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "mine\n"
    yield process
    process.kill()
    process.communicate()


def test_the_second_process_is_told_who_the_first_is(tmp_path, other_process):
    with pytest.raises(Busy, match=f"is being written by process {other_process.pid} on "), locked(tmp_path):
        pass
    assert is_locked(tmp_path)


def test_a_killed_process_leaves_no_lock(tmp_path, other_process):
    other_process.kill()
    other_process.wait()
    assert not is_locked(tmp_path)
    with locked(tmp_path):
        assert is_locked(tmp_path)
    assert not is_locked(tmp_path)


def test_what_was_never_locked_is_not_locked(tmp_path):
    assert not is_locked(tmp_path / "nowhere")


def test_a_folder_that_is_renamed_while_its_lock_is_taken_is_not_taken_for_the_new_one(tmp_path, monkeypatch):
    """Between opening the lock's file and taking the lock another process moves the folder away and makes a new one."""
    folder = tmp_path / "run"
    folder.mkdir()
    take = lock._take

    def moved_before_taken(*arguments, **more):
        folder.rename(tmp_path / "aside")
        folder.mkdir()
        return take(*arguments, **more)

    monkeypatch.setattr(lock, "_take", moved_before_taken)
    with pytest.raises(Busy, match="was moved away by another process at this moment"), locked(folder):
        pass
