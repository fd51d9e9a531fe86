"""Functions that somebody has brought along, gone through with shapes alone.

Nothing is computed and nothing compiled. What is wrong is said in a sentence that names the function and, where it is
known, the line.
"""

import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from traceback import walk_tb
from types import TracebackType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import errors

from coadapt.games.indices import missing_elements

LONGEST = 200
"""So much of the message of an error is passed on."""
MOST_LEAVES = 6
"""So many arrays of a tree are named."""

REMEDIES: dict[type[Exception], str] = {  # the first that fits
    errors.TracerArrayConversionError: "it hands an array to NumPy; use jax.numpy in its place",
    errors.TracerBoolConversionError: (
        "it decides by the value of an array (if, while, and, or, not, in); use jnp.where, or the operators & | ~"
    ),
    errors.TracerIntegerConversionError: (
        "it counts or looks up by the value of an array in plain Python; use jax.lax.fori_loop, or make the list a"
        " jnp.array"
    ),
    errors.ConcretizationTypeError: (
        "it takes the value out of an array (.item(), int(), float(), or as a size); keep it as an array"
    ),
    errors.UnexpectedTracerError: "it uses an array kept from another call (as in self.x); keep it in the state",
    errors.NonConcreteBooleanIndexError: "it picks as many elements as a mask says; use jnp.where with three arguments",
}


class Unfit(ValueError):
    """A game, a player or a network that somebody has brought along cannot be used; it says why in a sentence."""


class Fails(Unfit):
    """One of its functions cannot even be gone through."""


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Within it whatever goes wrong is said to be the fault of `what`."""
    try:
        yield
    except Unfit as problem:
        raise type(problem)(*problem.args) from None  # without the notes on tracebacks that JAX adds
    except MemoryError:
        raise
    except Exception as problem:
        raise Fails(f"{what} {_in_words(problem)}{where(problem)}") from problem


def traced(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """The shapes of what a function returns, given those of its arguments. `what` is its name in sentences."""

    def arrays_of(*arguments: Any) -> Any:
        returned = function(*arguments)
        check_arrays(f"what {what} returns", returned)
        return returned

    with explained(what):
        program, shapes = jax.make_jaxpr(arrays_of, return_shape=True)(*arguments)
    for index, size, lines in missing_elements(program.jaxpr):
        raise Unfit(f"{what} looks for element {index} along an axis of {size}{_where(lines)}")
    return shapes


def check_arrays(what: str, tree: Any) -> None:
    """A sentence unless a tree holds nothing but arrays and numbers."""
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
        if not is_array(leaf):
            place = f" at {_place('', path)}" if path else ""
            raise Unfit(f"{what} must be made of arrays, and has a {type(leaf).__name__}{place}")


def is_array(value: Any) -> bool:
    """Whether it is an array, or a number that JAX takes for one."""
    return isinstance(value, jax.Array | np.ndarray | np.generic | bool | int | float | complex)


def check_alike(what: str, before: Any, now: Any, first: str, later: str) -> None:
    """A sentence unless two trees of shapes are alike: `what` they are, and the functions that made them."""
    if jax.tree.structure(before) != jax.tree.structure(now):
        raise Unfit(f"{what} must keep its form, and is {_form(before)} from {first} and {_form(now)} from {later}")
    leaves = zip(jax.tree_util.tree_leaves_with_path(before), jax.tree.leaves(now), strict=True)
    for (path, old), new in leaves:
        if (old.shape, old.dtype) != (new.shape, new.dtype):
            raise Unfit(
                f"{_place(what, path)} must keep its shape and kind, and is {shape_of(old)} from {first} and"
                f" {shape_of(new)} from {later}"
            )


def _form(tree: Any) -> str:
    if not jax.tree.leaves(tree):
        return repr(tree)
    is_one_array = isinstance(tree, jax.ShapeDtypeStruct)
    return shapes_of(tree) if is_one_array else f"a {type(tree).__name__} ({shapes_of(tree)})"


def check_method(owner: Any, name: str, arguments: tuple[str, ...]) -> None:
    """A sentence unless it has this method, and one that takes these arguments."""
    method, written = getattr(owner, name, None), f"{name}({', '.join(('self', *arguments))})"
    if not callable(method):
        raise Unfit(f"{type(owner).__name__} needs a method {written}")
    try:
        signature(method).bind(*arguments)
    except TypeError:
        raise Unfit(f"{type(owner).__name__}.{name} must take these arguments: {written}") from None


def shape_of(value: Any) -> str:
    """The kind and shape of an array, such as float32[2,3]; of anything else what it is."""
    if not (is_array(value) or isinstance(value, jax.ShapeDtypeStruct)):
        return f"a {type(value).__name__}"
    return f"{jnp.result_type(value)}[{','.join(map(str, jnp.shape(value)))}]"


def shapes_of(tree: Any) -> str:
    """The arrays of a tree by their names, such as gap: float32[5], friend: float32[5]."""
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    name = lambda path: f"{jax.tree_util.keystr(path, simple=True, separator='.')}: " if path else ""
    said = [f"{name(path)}{shape_of(leaf)}" for path, leaf in leaves[:MOST_LEAVES]]
    more = [f"{len(leaves) - MOST_LEAVES} more"] if len(leaves) > MOST_LEAVES else []
    return ", ".join([*said, *more]) or "nothing"


def named_leaves(what: str, tree: Any) -> list[tuple[str, Any]]:
    """The leaves of a tree with their places in it, such as state.places[0]."""
    return [(_place(what, path), leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(tree)]


def _place(what: str, path: Any) -> str:
    return f"{what}{jax.tree_util.keystr(path)}"


def _in_words(problem: Exception) -> str:
    remedy = next((words for kind, words in REMEDIES.items() if isinstance(problem, kind)), None)
    if remedy is not None:
        return f"cannot be compiled: {remedy}"
    said = str(problem).strip().partition("\n")[0]
    said = said if len(said) <= LONGEST else f"{said[: LONGEST - 3]}..."
    return f"fails: {type(problem).__name__}: {said}".rstrip(": ")


OTHERS = tuple(Path(sysconfig.get_paths()[name]) for name in ("stdlib", "purelib", "platlib"))
OURS = Path(__file__).parents[1]
MADE_UP = ("<string>", "<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")
"""Files of code that nobody has written: the methods of dataclasses, and what imports."""


def where(problem: BaseException) -> str:
    """The last line on the way to a problem that is neither ours nor a library's."""
    return _where(problem.__traceback__)


def _where(lines: TracebackType | None) -> str:
    passed = [(Path(frame.f_code.co_filename), line) for frame, line in walk_tb(lines)]
    is_own = lambda file: file.name not in MADE_UP and not any(map(file.is_relative_to, (OURS, *OTHERS)))
    own = [(file.name, line) for file, line in passed if is_own(file)]
    return f" (line {own[-1][1]} of {own[-1][0]})" if own else ""
