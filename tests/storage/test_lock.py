import errno
import os
import subprocess
import sys

import pytest

from coadapt.storage import lock
from coadapt.storage.files import CannotWrite
from coadapt.storage.lock import Busy, TakenOver, is_locked, locked, move

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


def test_who_looks_is_not_taken_for_who_writes(tmp_path, monkeypatch):
    """Two look at the same time: the second finds the lock taken for an instant, and nobody's name there."""
    with locked(tmp_path):
        pass
    descriptor = os.open(tmp_path / "lock", os.O_RDONLY)
    assert lock._take(descriptor)
    monkeypatch.setattr("time.sleep", lambda seconds: os.close(descriptor))
    assert not is_locked(tmp_path)


def test_who_may_not_write_the_lock_may_look_at_it(tmp_path, other_process, monkeypatch):
    monkeypatch.setattr("os.access", lambda file, how: False)
    monkeypatch.setattr(lock, "_excludes", lambda file: pytest.fail("it takes no writing to look"))
    assert is_locked(tmp_path)
    monkeypatch.setattr(lock, "lock_descriptor", lambda *_, **__: os.open(tmp_path / "nothing", os.O_RDONLY))
    assert is_locked(tmp_path), "where the system does not answer, the living owner's name does"
    other_process.kill()
    other_process.wait()
    assert not is_locked(tmp_path)


def test_a_lock_that_another_machine_has_is_seen_where_only_what_is_open_for_writing_is_locked(
    tmp_path, other_process, monkeypatch
):
    """As on NFS. Nobody can see from here whether the owner is alive, so the lock has to tell."""
    lock_descriptor = lock.lock_descriptor
    as_on_nfs = lambda descriptor, blocking: os.write(descriptor, b"") or lock_descriptor(descriptor, blocking=blocking)
    monkeypatch.setattr(lock, "lock_descriptor", as_on_nfs)
    monkeypatch.setattr("socket.gethostname", lambda: "elsewhere")
    assert is_locked(tmp_path)


@pytest.mark.parametrize("platform", ["linux", "win32"])
def test_a_folder_is_moved_while_nobody_writes_it(tmp_path, platform, monkeypatch):
    """On Windows no file in it may be open then, not even the lock's."""
    run, seen, rename = tmp_path / "run", [], lock.rename
    run.mkdir()
    (run / "a").write_bytes(b"a")
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr(lock, "rename", lambda folder, to: (seen.append(is_locked(folder)), rename(folder, to)))
    with locked(run), pytest.raises(Busy):
        move(run, tmp_path / "aside")
    move(run, tmp_path / "aside")
    assert seen == [platform != "win32"]
    assert (tmp_path / "aside" / "a").read_bytes() == b"a"
    assert not run.exists()


@pytest.mark.parametrize("files", [(), ("lock",)])
def test_a_folder_that_is_renamed_while_its_lock_is_taken_is_not_taken_for_the_new_one(tmp_path, files, monkeypatch):
    """Between opening the lock's file and taking the lock another process moves the folder away and makes a new one."""
    folder = tmp_path / "run"
    folder.mkdir()
    take = lock._take

    def moved_before_taken(*arguments, **more):
        folder.rename(tmp_path / "aside")
        folder.mkdir()
        for name in files:
            (folder / name).touch()
        return take(*arguments, **more)

    monkeypatch.setattr(lock, "_take", moved_before_taken)
    with pytest.raises(Busy, match="was moved away by another process at this moment"), locked(folder):
        pass


def test_who_has_gone_leaves_no_name(tmp_path):
    with locked(tmp_path) as mine:
        mine.check()
        assert mine.excludes
        assert (tmp_path / "lock").read_bytes() == lock.LOCKED_BYTE + mine.signature
    assert (tmp_path / "lock").read_bytes() == b""


@pytest.fixture(params=["does nothing", "is not known"])
def no_locks(request, monkeypatch):
    """A file system on which the system's lock keeps nobody out, or where there is no such thing."""

    def lock_descriptor(descriptor, blocking):
        if request.param == "is not known":
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
        return True

    monkeypatch.setattr(lock, "lock_descriptor", lock_descriptor)


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


def test_windows_is_not_asked_whether_a_process_lives_for_that_would_end_it(tmp_path, no_locks, monkeypatch):
    """So there the one who comes later takes over, and the first one stops."""
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setattr("os.kill", lambda *_: pytest.fail("it would be killed"))
    with locked(tmp_path) as first, locked(tmp_path) as second:
        second.check()
        with pytest.raises(TakenOver, match=f"was taken over by process {os.getpid()} on "):
            first.check()


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
    (tmp_path / "lock").write_bytes(lock.LOCKED_BYTE + signature)
    with locked(tmp_path) as mine:
        mine.check()


def test_a_lock_that_is_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "lock")
    assert not is_locked(tmp_path)
    with pytest.raises(CannotWrite, match="lock: it is not a regular file"), locked(tmp_path):
        pass
