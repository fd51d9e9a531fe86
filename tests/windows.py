"""What Linux can pretend of Windows towards coadapt, and towards coadapt alone.

Modules of ours are given an `os`, a `signal` and a `sys` with no more in them than Windows has, and no module that it
lacks. The libraries they use know Windows by themselves, and see this system as it is. Of what Windows has but does in
another way, there are its locks, folders, files of text, and files that are open. It takes a process of its own:

    python -m tests.windows import
    python -m tests.windows run FOLDER
"""

import builtins
import errno
import fcntl
import os
import pkgutil
import shutil
import signal
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

LACKING = {"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"}
"""Modules that Windows does not have."""
IN_OS = """
    F_OK R_OK W_OK X_OK O_RDONLY O_WRONLY O_RDWR O_APPEND O_CREAT O_EXCL O_TRUNC SEEK_SET SEEK_CUR SEEK_END PathLike
    DirEntry _exit abort access chdir chmod close cpu_count devnull dup dup2 environ error fdopen fsdecode fsencode
    fspath fstat fsync ftruncate get_terminal_size getcwd getenv getlogin getpid getppid isatty kill linesep link
    listdir lseek lstat makedirs mkdir name open path pathsep pipe putenv read readlink remove removedirs rename replace
    rmdir scandir sep set_inheritable stat stat_result strerror symlink system times truncate umask unlink unsetenv
    urandom utime waitpid walk write
"""
IN_SIGNAL = """
    SIGABRT SIGFPE SIGILL SIGINT SIGSEGV SIGTERM SIG_DFL SIG_IGN Signals default_int_handler getsignal raise_signal
    set_wakeup_fd signal strsignal valid_signals
"""
O_BINARY = 0x8000


def pretend() -> None:
    """From now on what is imported of coadapt is on Windows."""
    given = {"os": _only(os, IN_OS), "signal": _only(signal, IN_SIGNAL), "sys": _only(sys, " ".join(dir(sys)))}
    vars(given["os"]).update(O_BINARY=O_BINARY, open=_open, read=_read, kill=_kill)
    vars(given["sys"]).update(platform="win32")
    os.replace, os.unlink = _none_open(os.replace), _none_open(os.unlink)  # for pathlib, too
    as_ever = builtins.__import__

    def importing(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        ours = globals is not None and str(globals.get("__name__")).partition(".")[0] == "coadapt"
        if ours and name in LACKING:
            raise ModuleNotFoundError(f"Windows has no module {name}", name=name)
        return given[name] if ours and name in given else as_ever(name, globals, locals, fromlist, level)

    builtins.__import__ = importing


def _only(module: ModuleType, names: str) -> ModuleType:
    same = ModuleType(module.__name__)
    vars(same).update({name: getattr(module, name) for name in names.split()})
    return same


def _open(path: Any, flags: int, mode: int = 0o777) -> int:
    """It opens no folders. Who does not ask for bytes gets text, in which the ends of lines are other ones."""
    if os.path.isdir(path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    assert flags & O_BINARY or path == os.devnull, f"{path} would be changed"
    return os.open(path, flags & ~O_BINARY, mode)


def _read(descriptor: int, size: int) -> bytes:
    """Its locks are on bytes, here on the first one, which only their owner can read then."""
    if os.lseek(descriptor, 0, os.SEEK_CUR) == 0:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES)) from None
    return os.read(descriptor, size)


def _kill(process: int, number: int) -> None:
    """There is no signal that only asks."""
    raise AssertionError(f"process {process} would be ended by {number}")


def _none_open(operation: Any) -> Any:
    """It neither moves nor removes a file that is open, nor a folder with one in it."""

    def if_none_is_open(*paths: Any, **options: Any) -> None:
        links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
        opened = [Path(os.readlink(link)) for link in links if os.path.lexists(link)]
        for path in paths if not options else ():  # one that is relative to a descriptor is none of ours
            held = [file for file in opened if file.is_relative_to(os.path.realpath(path))]
            assert not held, f"{path} cannot be moved or removed while {held} are open"
        operation(*paths, **options)

    return if_none_is_open


def import_everything() -> None:
    """All modules of ours, but for those that need an extra which is not installed."""
    import coadapt

    for module in pkgutil.walk_packages(coadapt.__path__, "coadapt."):
        if not module.name.endswith("__main__"):
            try:
                import_module(module.name)
            except ModuleNotFoundError as missing:
                if str(missing.name).partition(".")[0] in {*LACKING, "coadapt"}:
                    raise


def run_and_go_on(folder: Path) -> None:
    """A run is made, made again from its checkpoints, and begun anew beside it."""
    from coadapt.storage import runs
    from tests.runs.toy import bits, run_toy

    run_toy(folder / "run")
    made = bits(folder / "run")
    assert runs.glance(folder / "run").state == "finished"
    shutil.rmtree(folder / runs.ARTEFACTS)
    run_toy(folder / "run")
    assert bits(folder / "run") == made
    assert (
        run_toy(folder / "run", fresh=True)[0] == f"The run that was in {folder / 'run'} is now in {folder / 'run-2'}."
    )
    assert bits(folder / "run") == made


if __name__ == "__main__":
    pretend()
    if sys.argv[1] == "import":
        import_everything()
    else:
        run_and_go_on(Path(sys.argv[2]))
