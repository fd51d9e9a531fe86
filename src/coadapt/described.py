"""What any value is, as plain data: settings that are functions, players and games of somebody's own."""

import dataclasses
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from inspect import unwrap
from pathlib import Path
from types import MethodType, ModuleType
from typing import Any

PACKAGES = ("jax", "jaxlib", "numpy", "scipy", "equinox", "optax")
"""What numbers depend on beside our own code; it is known by its version."""


def module_named(module: str) -> str:
    """The name of a module; that of a script is its file's, as if it were imported."""
    if module != "__main__":
        return module
    main = sys.modules["__main__"]
    spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None)
    return spec.name if spec is not None else module if file is None else Path(file).stem


def described(value: Any, around: tuple[int, ...] = ()) -> Any:
    """A value as dictionaries, lists, strings, numbers and None.

    Of an object it is the class and all that it holds; of a function its name and what it was given beforehand. Two
    values that are described alike, and whose modules say the same, do the same.
    """
    if value is None or isinstance(value, str | int | float):
        return value
    if hasattr(value, "tolist"):
        return value.tolist()
    if id(value) in around:  # it holds itself
        return "..."
    within = lambda part: described(part, (*around, id(value)))
    if isinstance(value, Mapping):
        return {str(name): within(each) for name, each in value.items()}
    if isinstance(value, list | tuple) and not hasattr(value, "_asdict"):
        return [within(each) for each in value]
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, partial):
        return {"partial": within((value.func, value.args, value.keywords))}
    if isinstance(value, MethodType):
        return {"method": within((value.__func__, value.__self__))}
    if hasattr(value, "__qualname__"):
        return _of_function(unwrap(value) if callable(value) else value, within)
    return {"class": within(type(value))} | within(_fields(value))


def _of_function(value: Any, within: Callable[[Any], Any]) -> Any:
    """The name of a function or a class; and what a function has been given beforehand, for it acts on that."""
    cells = [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]
    usual = [*(getattr(value, "__defaults__", None) or ()), *(getattr(value, "__kwdefaults__", None) or {}).values()]
    name = f"{module_named(value.__module__)}.{value.__qualname__}"
    return [name, *map(within, (*cells, *usual))] if cells or usual else name


def _fields(value: Any) -> dict[str, Any]:
    if hasattr(value, "_asdict"):
        return value._asdict()
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return getattr(value, "__dict__", {})


def modules_of(value: Any, around: tuple[int, ...] = ()) -> Iterator[str]:
    """The modules that a value's classes and functions, and those of all that it holds, are defined in."""
    if value is None or isinstance(value, str | int | float) or hasattr(value, "tolist") or id(value) in around:
        return
    if isinstance(value, Mapping):
        parts = list(value.values())
    elif isinstance(value, partial):
        parts = [value.func, value.args, value.keywords]
    elif isinstance(value, MethodType):
        parts = [value.__func__, value.__self__]
    elif isinstance(value, list | tuple) and not hasattr(value, "_asdict"):
        parts = list(value)
    elif hasattr(value, "__qualname__"):
        value = unwrap(value) if callable(value) else value
        yield value.__module__
        parts = [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]
    else:
        parts = [type(value), *_fields(value).values()]
    for part in parts:
        yield from modules_of(part, (*around, id(value)))


def code_behind(value: Any) -> tuple[str, ...]:
    """The modules that a value is made of, without those that come with Python or are known by their version."""
    is_own = lambda name: name.partition(".")[0] not in (*sys.stdlib_module_names, *PACKAGES)
    return tuple(dict.fromkeys(filter(is_own, modules_of(value))))
