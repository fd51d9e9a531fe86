"""Checks of a configuration's numbers, each with a sentence for whoever set them.

A value that JAX is tracing has no number to look at yet, and was checked as a number before; it passes.
"""

import math
from numbers import Integral, Real
from typing import Any

from jax.core import Tracer


def whole(name: str, value: Any, least: int = 1) -> None:
    """A whole number, `least` or more."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}")


def positive(name: str, value: Any) -> None:
    """A finite number above zero."""
    if not isinstance(value, Tracer) and not (_is_finite(value) and value > 0):
        raise ValueError(f"{name} must be a positive number, not {value!r}")


def between(name: str, value: Any, least: float, most: float) -> None:
    """A number from `least` to `most`, both included."""
    if not isinstance(value, Tracer) and not (_is_finite(value) and least <= value <= most):
        raise ValueError(f"{name} must be a number from {least:g} to {most:g}, not {value!r}")


def _is_finite(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
