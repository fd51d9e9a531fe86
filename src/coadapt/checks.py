"""Checks of a configuration's numbers, each with a sentence for whoever set them.

A value that is being traced by JAX has no number to look at yet; it passes.
"""

import math
from typing import Any


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def whole(name: str, value: Any, least: int = 1) -> None:
    """A whole number, `least` or more."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}")


def positive(name: str, value: Any) -> None:
    """A finite number above zero."""
    if _is_number(value) and not (math.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a positive number, not {value!r}")


def between(name: str, value: Any, least: float, most: float) -> None:
    """A number from `least` to `most`, both included."""
    if _is_number(value) and not least <= value <= most:
        raise ValueError(f"{name} must lie between {least} and {most}, not be {value!r}")
