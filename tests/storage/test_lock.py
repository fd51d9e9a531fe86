import errno
import fcntl
import os
import subprocess
import sys

import pytest

from coadapt.storage import lock
from coadapt.storage.files import CannotWrite
from coadapt.storage.lock import Busy, TakenOver, is_locked, locked

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


def test_who_has_gone_leaves_no_name(tmp_path):
    with locked(tmp_path) as mine:
        mine.check()
        assert mine.excludes
        assert (tmp_path / "lock").read_bytes() == mine.signature
    assert (tmp_path / "lock").read_bytes() == b""


@pytest.fixture(params=["does nothing", "is not known"])
def no_locks(request, monkeypatch):
    """A file system on which the system's lock keeps nobody out, or where there is no such thing."""

    def flock(descriptor, kind):
        if request.param == "is not known":
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)


def test_where_no_lock_holds_a_living_owner_is_noticed(tmp_path, no_locks):
    with locked(tmp_path) as mine:
        assert not mine.excludes
        assert is_locked(tmp_path)
        with pytest.raises(Busy, match=f"is being written by process {os.getpid()} on "), locked(tmp_path):
            pass
        mine.check()
    assert not is_locked(tmp_path)
    with locked(tmp_path):
        pass


def test_where_no_lock_holds_whoever_was_first_stops_when_another_comes(tmp_path, no_locks, monkeypatch):
    """The other one may be on another machine, from where nobody can see whether the first is still alive."""
    with locked(tmp_path) as first:
        first.check()
        monkeypatch.setattr("socket.gethostname", lambda: "elsewhere")
        with locked(tmp_path) as second:
            with pytest.raises(TakenOver, match=f"was taken over by process {os.getpid()} on elsewhere"):
                first.check()
            second.check()
        with pytest.raises(TakenOver, match="was taken over by another process"):
            first.check()


@pytest.mark.parametrize("signature", [b"process 1" + b"0" * 80 + b" on x", b"\xff\x1b[2J", b"process -1 on x", b"\n"])
def test_a_signature_that_nobody_wrote_is_nobodys(tmp_path, no_locks, signature, monkeypatch):
    monkeypatch.setattr("socket.gethostname", lambda: "x")
    (tmp_path / "lock").write_bytes(signature)
    with locked(tmp_path) as mine:
        mine.check()


def test_a_lock_that_is_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "lock")
    assert not is_locked(tmp_path)
    with pytest.raises(CannotWrite, match="lock: it is not a regular file"), locked(tmp_path):
        pass
