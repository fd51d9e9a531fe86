"""Elements that are not there: JAX takes the nearest one in their place, and says nothing."""

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

WORKED_OUT: dict[str, Callable[..., Any]] = {
    "lt": np.less,
    "add": np.add,
    "select_n": lambda which, *cases: cases[int(which)],
}
"""What JAX makes of an index that is written down as a number."""


class Missing(NamedTuple):
    """An element that is looked for where there is none."""

    number: int
    size: int  # of the axis
    traceback: TracebackType | None  # the lines that look for it


def missing_elements(program: Any) -> Iterator[Missing]:
    """The elements that a traced program looks for by a number that is known beforehand, and will not find."""
    known: dict[Any, Any] = {}
    value_of = lambda variable: variable.val if hasattr(variable, "val") else known.get(variable)
    for step in program.eqns:
        values, name = [value_of(variable) for variable in step.invars], step.primitive.name
        if name in WORKED_OUT and all(value is not None and np.ndim(value) == 0 for value in values):
            known[step.outvars[0]] = WORKED_OUT[name](*values)
        if name == "dynamic_slice":
            for start, size, taken in zip(
                values[1:], step.invars[0].aval.shape, step.params["slice_sizes"], strict=True
            ):
                if start is not None and not 0 <= start <= size - taken:
                    yield Missing(int(start if start >= 0 else start - size), size, _traceback(step))
        for inner in (each for value in step.params.values() for each in _programs_in(value)):
            yield from missing_elements(inner)


def _traceback(step: Any) -> TracebackType | None:
    lines = step.source_info.traceback
    return None if lines is None else lines.as_python_traceback()


def _programs_in(value: Any) -> list[Any]:
    """The programs within a parameter of a step, such as the branches of a condition."""
    inner = [getattr(each, "jaxpr", each) for each in (value if isinstance(value, list | tuple) else [value])]
    return [each for each in inner if hasattr(each, "eqns")]
