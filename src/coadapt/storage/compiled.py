"""Compiled programs are kept in the user's cache folder, so that the second start does not compile them again."""

import os
import platform
from contextlib import suppress
from pathlib import Path

import jax

from coadapt.storage.sealed import checksum


def remember_compiled_programs() -> None:
    """Switch JAX's compilation cache on, unless the person has said where it should be."""
    if jax.config.jax_compilation_cache_dir is None:  # type: ignore[attr-defined]
        with suppress(RuntimeError):  # whoever has no home has no cache
            jax.config.update("jax_compilation_cache_dir", str(cache_folder()))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)


def cache_folder() -> Path:
    """One for each kind of processor: a program compiled for another one might not run."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "coadapt" / "compiled" / f"{platform.machine()}-{checksum(_processor().encode())[:8]}"


def _processor() -> str:
    """What the processor can do, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), platform.processor())
