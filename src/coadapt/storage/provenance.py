"""Which code, versions and machine something comes from."""

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def provenance() -> dict[str, Any]:
    """Which code, versions and machine a result comes from."""
    # Both take a while to load, and `coadapt runs` wants only the time.
    from coadapt.storage.fingerprint import versions
    from coadapt.storage.numerics import numerics

    return {
        "commit": commit(),
        "python": platform.python_version(),
        "packages": versions(),
        "numerics": numerics(),
        "machine": {"system": platform.system(), "architecture": platform.machine(), "cores": os.cpu_count()}
        | device(),
        "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]),
    }


def device() -> dict[str, Any]:
    """What computes, and on how many threads: as many as there are cores to use, if nobody has told XLA otherwise."""
    import jax  # here, for whoever only wants to know the time does not need it

    first = jax.devices()[0]
    usable = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()
    told = os.environ.get("PJRT_NPROC") or os.environ.get("NPROC")
    threads = int(told) if told and told.isdecimal() else usable
    return {"platform": first.platform, "device": first.device_kind, "usable_cores": usable, "threads": threads}


def now() -> str:
    """The time, for people."""
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"


def commit() -> str | None:
    """The commit of the checkout this code runs from, marked if it was changed; None for an installed package.

    Published results do not count: no number depends on them, and the next ones are made beside them.
    """
    if _git("ls-files", "--error-unmatch", Path(__file__).name) is None:
        return None  # whatever repository is around here, this file is not part of it
    changes = _git("status", "--porcelain", "--untracked-files=no", "--", ":/", ":(top,exclude)results")
    head = _git("rev-parse", "HEAD")
    return head if changes == "" else f"{head} with changes"  # or nobody knows


def _git(*arguments: str) -> str | None:
    """What git answers where this file lies, or None if it cannot."""
    command = ["git", "-C", str(Path(__file__).parent), *arguments]
    try:
        answer = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=True)
        return answer.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
