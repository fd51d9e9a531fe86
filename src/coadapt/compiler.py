"""Known faults of the compiler under JAX, and how to be spared them.

Some releases of jaxlib return wrong numbers on a processor, silently. All of the faults known so far are in one path of
the compiler (reductions that are handed on to YNNPACK), which can be switched off; without it programs are right, and
no slower. It has to be done before JAX starts its backend, so it is done when `coadapt` is imported.

Others raise a false alarm: whenever a program comes from the cache they print, as an error, that it was compiled for
another processor. They are asked to print nothing but what ends the process; what fails is raised as an exception, too.
"""

import os
import sys
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

FLAG = "--xla_cpu_experimental_ynn_fusion_type"
"""What is handed on to YNNPACK. Set to nothing, nothing is. Releases that do not know a flag abort when they see it."""

FAULTS = {
    "0.10.1": "is reported to return wrong values in some programs",
    "0.10.2": "returns wrong values for some products that are summed up, and crashes on arrays of seven axes",
    "0.11.0": "crashes or hangs on arrays of seven axes that are summed up",
}
"""By version of jaxlib: jax's issues 39103, 39257 and 40412."""

FALSE_ALARMS = ("0.10.1",)
"""The versions that complain of every program from the cache."""
LOG_LEVEL, ONLY_FATAL, SET_BY_JAX = "TF_CPP_MIN_LOG_LEVEL", "3", "1"
"""JAX sets the level as it is imported, if nobody else has."""


def known_fault(release: str | None = None) -> str | None:
    """What is wrong with a release of jaxlib (that which is installed) on a processor; None if nothing is known."""
    release = release or installed() or ""
    return f"jaxlib {release} {FAULTS[release]}" if release in FAULTS else None


def installed() -> str | None:
    """The version of jaxlib, without loading it."""
    try:
        return version("jaxlib")
    except PackageNotFoundError:
        return None


def flags() -> str:
    """The flags that XLA is given: what XLA_FLAGS says or, if that is the name of a file, what is in it."""
    given = os.environ.get("XLA_FLAGS", "").strip()
    if not given or given.startswith("-"):
        return given
    try:
        return Path(given).read_text(encoding="utf-8", errors="replace") if Path(given).is_file() else given
    except OSError:
        return given  # XLA, too, will find nothing there


def is_switched_off() -> bool:
    """Whether programs compiled from now on are spared the faulty path."""
    return any(flag == f"{FLAG}=" for flag in flags().split())


def avoid_faults() -> None:
    """Switch the faulty path off if this release has one. Somebody who has set the flag knows what they do."""
    fault, given = known_fault(), os.environ.get("XLA_FLAGS", "").strip()
    if fault is None or FLAG in flags():
        return
    if given and not given.startswith("-"):  # then it is the name of a file, which is not ours to change
        warnings.warn(f"{fault}; XLA_FLAGS names a file, so add this line to it: {FLAG}=", stacklevel=2)
        return
    if _has_started():
        advice = f"import coadapt before anything is computed with jax, or set XLA_FLAGS={FLAG}="
        warnings.warn(f"{fault}, and it has started already: {advice}", stacklevel=2)
        return
    os.environ["XLA_FLAGS"] = f"{given} {FLAG}=".strip()


def keep_false_alarms_quiet() -> None:
    """Unless somebody has said what they want to read, as far as one can tell that from what JAX sets by itself."""
    by_jax = "jax" in sys.modules and os.environ.get(LOG_LEVEL) == SET_BY_JAX and "JAX_LOGGING_LEVEL" not in os.environ
    if installed() not in FALSE_ALARMS or not (by_jax or LOG_LEVEL not in os.environ):
        return
    os.environ[LOG_LEVEL] = ONLY_FATAL
    set_level = getattr(sys.modules.get("jaxlib.utils"), "absl_set_min_log_level", None)
    if set_level is not None:  # it has read the variable already
        set_level(int(ONLY_FATAL))


def _has_started() -> bool:
    """Whether JAX has read its flags; it does so when something is computed for the first time."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    started = getattr(bridge, "backends_are_initialized", None)
    return bridge is not None and (started is None or bool(started()))
