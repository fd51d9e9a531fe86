"""A folder of results: made before the work, filled after it, and never left with half a file in it."""

import dataclasses
import json
import math
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

PACKAGES = ("coadapt", "jax", "jaxlib", "numpy", "equinox", "optax", "scipy")


def make_folder(path: Path) -> Path:
    """The folder, made if need be; a ValueError if nothing can be written there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as problem:
        raise ValueError(f"cannot write to the output folder {path}: {problem.strerror or problem}") from problem
    return path


def write_text(path: Path, text: str) -> None:
    """Write a file so that a reader finds the old one or the new one, never a part."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def write_json(path: Path, data: Any) -> None:
    """Write data as JSON; dataclasses become objects, and NaN becomes null."""
    write_text(path, json.dumps(plain(data), indent=1, allow_nan=False) + "\n")


def plain(data: Any) -> Any:
    """The same data made of nothing but dictionaries, lists, strings, numbers and None."""
    if dataclasses.is_dataclass(data):
        return {field.name: plain(getattr(data, field.name)) for field in dataclasses.fields(data)}
    if isinstance(data, dict):
        return {str(key): plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [plain(value) for value in data]
    if hasattr(data, "tolist"):
        return plain(data.tolist())
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data


def versions() -> dict[str, str]:
    """Of this package and those that its numbers depend on."""
    return {name: version(name) for name in PACKAGES}


def provenance() -> dict[str, Any]:
    """Which code, versions and machine a result comes from."""
    return {
        "commit": _commit(),
        "python": platform.python_version(),
        "packages": versions(),
        "machine": {"system": platform.system(), "architecture": platform.machine(), "cores": os.cpu_count()},
        "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]),
    }


def _commit() -> str | None:
    """The commit of the checkout this code runs from, marked if it was changed; None for an installed package."""
    if _git("ls-files", "--error-unmatch", Path(__file__).name) is None:
        return None  # whatever repository is around here, this file is not part of it
    changes = _git("status", "--porcelain", "--untracked-files=no")
    return f"{_git('rev-parse', 'HEAD')} with changes" if changes else _git("rev-parse", "HEAD")


def _git(*arguments: str) -> str | None:
    """What git answers where this file lies, or None if it cannot."""
    command = ["git", "-C", str(Path(__file__).parent), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
