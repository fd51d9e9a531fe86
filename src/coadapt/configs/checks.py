"""Checks of a configuration's numbers, each with a sentence for whoever set them.

A value that JAX is tracing has no number to look at yet, and was checked as a number before; it passes.
"""

import math
import sys
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

LARGEST = 2**31 - 1
"""What a count in a compiled program can hold."""

MOST_GAMES, MOST_STEPS, MOST_UNITS = 10**7, 10**5, 10**5
"""Of games side by side, steps of each, and units of a layer: more than any memory has, and still to be counted."""


def whole(name: str, value: Any, least: int = 1, most: int = LARGEST) -> None:
    """A whole number from `least` to `most`, both included."""
    if not _is_whole(value, least, most):
        raise ValueError(f"{name} must be a whole number from {least} to {most}, not {shown(value)}")


def each_whole(name: str, values: Any, least: int = 1, most: int = LARGEST) -> None:
    """Some whole numbers, or none."""
    if not isinstance(values, tuple):
        raise ValueError(f"{name} must be a list of whole numbers, not {shown(values)}")
    for value in values:
        if not _is_whole(value, least, most):
            raise ValueError(f"{name} must hold whole numbers from {least} to {most}, not {shown(value)}")


def each_between(name: str, values: Any, least: float, most: float) -> None:
    """Some numbers, or none."""
    if not isinstance(values, tuple):
        raise ValueError(f"{name} must be a list of numbers, not {shown(values)}")
    for value in values:
        if not (_is_finite(value) and least <= value <= most):
            raise ValueError(f"{name} must hold numbers from {least:g} to {most:g}, not {shown(value)}")


def distinct(name: str, values: Any) -> None:
    """At least one, and none twice."""
    if not isinstance(values, tuple) or not values or len(set(values)) < len(values):
        raise ValueError(f"{name} must be a list with something in it and nothing twice, not {shown(values)}")


def positive(name: str, value: Any) -> None:
    """A finite number above zero."""
    if not _is_traced(value) and not (_is_finite(value) and value > 0):
        raise ValueError(f"{name} must be a positive number, not {shown(value)}")


def between(name: str, value: Any, least: float, most: float) -> None:
    """A number from `least` to `most`, both included."""
    if not _is_traced(value) and not (_is_finite(value) and least <= value <= most):
        raise ValueError(f"{name} must be a number from {least:g} to {most:g}, not {shown(value)}")


def one_of(name: str, value: str, known: Collection[str]) -> None:
    """A name that means something."""
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, not {shown(value)}")


def _is_whole(value: Any, least: int, most: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most


def _is_finite(value: Any) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a whole number that no float can hold
        return False


def _is_traced(value: Any) -> bool:
    """Whether JAX is tracing the value; whoever has not loaded JAX has none of this kind."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(value, jax.core.Tracer)


def shown(value: Any) -> str:
    """A value in a sentence, if need be only its beginning."""
    if isinstance(value, tuple):  # a list in every file that people write
        return shown(_as_lists(value))
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**30 else "a number of far too many digits"
    return text if len(text) <= 80 else f"{text[:77]}..."


def _as_lists(value: Any) -> Any:
    return [_as_lists(element) for element in value] if isinstance(value, tuple) else value


def in_batches(name: str, number: int, batch: int, of: str = "batch") -> None:
    """A number of something that makes whole batches."""
    if number % batch:
        raise ValueError(f"{name} ({number}) must be a multiple of {of} ({batch})")
