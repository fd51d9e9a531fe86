"""Compiled programs are kept in the user's cache folder, so that the second start does not compile them again.

The cache is JAX's. What JAX leaves to others is done here: it is kept from growing without end, and entries that a
killed process has left half written are removed, for JAX would stumble over them at every start and never replace them.
"""

import os
import platform
import time
from contextlib import suppress
from pathlib import Path

from coadapt.storage.files import StorageError
from coadapt.storage.sealed import checksum

MOST_BYTES = 2 * 1024**3
"""Of compiled programs; beyond it the oldest go. All stages of both experiments take some ten megabytes."""
LEAST_SECONDS, JAX_LEAST_SECONDS = 0.2, 1.0
"""What took longer to compile is kept: ours, and what JAX does if nothing is said."""
ENTRIES = "*-cache"


def remember_compiled_programs() -> None:
    """Switch JAX's compilation cache on. Whoever has said where it should be has set it up: then nothing is changed."""
    import jax

    config = jax.config
    if config.jax_compilation_cache_dir is not None:  # type: ignore[attr-defined]
        return
    with suppress(StorageError):  # whoever has no home has no cache
        # One for each kind of processor: a program compiled for another one might not run.
        folder = all_compiled() / f"{platform.machine()}-{checksum(_processor().encode())[:8]}"
        tidy(folder)
        config.update("jax_compilation_cache_dir", str(folder))
        least = config.jax_persistent_cache_min_compile_time_secs  # type: ignore[attr-defined]
        if least == JAX_LEAST_SECONDS and "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS" not in os.environ:
            config.update("jax_persistent_cache_min_compile_time_secs", LEAST_SECONDS)


def all_compiled() -> Path:
    """The folder of all compiled programs."""
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "coadapt" / "compiled"
    except RuntimeError:
        raise StorageError("there is no home folder to keep compiled programs in; set XDG_CACHE_HOME") from None


def tidy(folder: Path, most_bytes: int = MOST_BYTES) -> None:
    """Away with what was cut short, and the oldest of what is too much. A cache that cannot be tidied still works."""
    with suppress(OSError):
        _remove_cut_short(folder)
    with suppress(OSError):
        _remove_oldest(folder.parent, most_bytes)


def _remove_cut_short(folder: Path) -> None:
    """JAX writes an entry in its place, so a process that is killed leaves a part of one. Each is looked at once."""
    marker, began = folder / "checked", time.time()  # a file as old as the last look
    last = marker.stat().st_mtime - 2 if marker.exists() else 0.0  # some file systems count in two seconds
    for entry in folder.glob(ENTRIES):
        if entry.stat().st_mtime >= last and not _is_whole(entry.read_bytes()):
            entry.unlink(missing_ok=True)
    if folder.is_dir():
        marker.touch()
        os.utime(marker, (began, began))


def _is_whole(entry: bytes) -> bool:
    """Whether JAX can unpack it, with whichever packer it uses here."""
    try:
        from jax._src.compilation_cache import decompress_executable
    except ImportError:  # in a JAX that keeps it elsewhere nobody can tell
        return True
    try:
        decompress_executable(entry)
    except Exception:  # each packer has its own
        return False
    return True


def _remove_oldest(folder: Path, most_bytes: int) -> None:
    """Those that were not used for the longest time, as far as the file system tells."""
    stats = [(file, file.stat()) for file in entries(folder)]
    found = [(max(stat.st_atime, stat.st_mtime), stat.st_size, file) for file, stat in stats]
    too_much = sum(size for _, size, _ in found) - most_bytes
    for _, size, file in sorted(found):
        if too_much <= 0:
            return
        file.unlink(missing_ok=True)
        too_much -= size


def entries(folder: Path) -> list[Path]:
    """All compiled programs, whatever processor they are for."""
    return sorted(folder.glob(f"*/{ENTRIES}"))


def _processor() -> str:
    """What the processor can do, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), platform.processor())
