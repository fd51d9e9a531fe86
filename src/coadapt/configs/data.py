"""Configurations as data: frozen dataclasses to JSON and back, and what differs between two of them."""

import dataclasses
import difflib
import json
import math
import types
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from coadapt.configs.checks import shown
from coadapt.described import described

Config = TypeVar("Config")

KINDS: dict[type, str] = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


def plain(data: Any) -> Any:
    """The same data made of nothing but dictionaries, lists, strings, numbers and None; NaN becomes None.

    What is no data, such as a function or a game of somebody's own, is described.
    """
    if dataclasses.is_dataclass(data):
        return {field.name: plain(getattr(data, field.name)) for field in dataclasses.fields(data)}
    if isinstance(data, Mapping):
        return {str(key): plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [plain(value) for value in data]
    if hasattr(data, "tolist"):
        return plain(data.tolist())
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data if data is None or isinstance(data, str | int | float) else plain(described(data))


def read_config(kind: type[Config], data: Any, place: str = "") -> Config:
    """A configuration from plain data; a ValueError names the field that is wrong, as in policy.learning_rate."""
    if not isinstance(data, dict):
        raise ValueError(f"{place or 'the configuration'} must be an object with named fields, not {shown(data)}")
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for name in data:
        if name not in fields:
            raise ValueError(f"there is no field {_inside(place, name)}{_hint(name, list(fields))}")
    for name, field in fields.items():
        if name not in data and field.default is field.default_factory is dataclasses.MISSING:
            raise ValueError(f"the field {_inside(place, name)} is missing")
    hints = get_type_hints(kind)
    values = {name: _read(hints[name], value, _inside(place, name)) for name, value in data.items()}
    try:
        return kind(**values)
    except ValueError as problem:
        raise ValueError(_inside(place, str(problem))) from None


def _read(kind: Any, value: Any, place: str) -> Any:
    """A value as its field has it; only its kind is looked at here, its size is checked where it is used."""
    if dataclasses.is_dataclass(kind):
        return read_config(kind, value, place)  # type: ignore[arg-type]
    if get_origin(kind) in (Union, types.UnionType):
        return None if value is None else _read(_meant(get_args(kind), value), value, place)
    if get_origin(kind) is tuple:
        if not isinstance(value, list | tuple):
            raise ValueError(f"{place} must be a list, not {shown(value)}")
        return tuple(_read(get_args(kind)[0], element, place) for element in value)
    if not _is_a(kind, value):
        raise ValueError(f"{place} must be {KINDS[kind]}, not {shown(value)}")
    return kind(value)


def _meant(kinds: tuple[Any, ...], value: Any) -> Any:
    """Which of several kinds a value is of: the first that has all the fields it names, or else the first."""
    named = set(value) if isinstance(value, dict) else set()
    fields = {
        kind: {each.name for each in dataclasses.fields(kind)} for kind in kinds if dataclasses.is_dataclass(kind)
    }
    return next((kind for kind, names in fields.items() if named <= names), kinds[0])


def _is_a(kind: type, value: Any) -> bool:
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e308
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def _inside(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _hint(name: str, names: list[str]) -> str:
    close = difflib.get_close_matches(name, names, n=1)
    return f"; did you mean {close[0]}?" if close else f"; the fields are {', '.join(names)}"


def changed(config: Any, settings: tuple[str, ...]) -> Any:
    """The configuration with other values for some fields, each given as in policy.learning_rate=0.01."""
    data = plain(config)
    for setting in settings:
        path, separator, text = setting.partition("=")
        if not separator:
            raise ValueError(f"a change is written as field=value, as in seeds=[0,1], not {setting!r}")
        _set(data, path.strip().split("."), text)
    return read_config(type(config), data)


def _set(data: dict[str, Any], path: list[str], text: str) -> None:
    *parents, name = path
    for parent in parents:
        if not isinstance(data.get(parent), dict):
            raise ValueError(f"there is no field {'.'.join(path)}{_hint(parent, list(data))}")
        data = data[parent]
    try:
        data[name] = json.loads(text)
    except (ValueError, RecursionError):
        data[name] = text


def fields_of(config: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """All fields of a plain configuration with their values, those within others by their path."""
    if isinstance(config, dict):
        for name, value in config.items():
            yield from fields_of(value, _inside(place, name))
    else:
        yield place, config


def differences(one: Any, other: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The fields in which two plain configurations differ, each with both values."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in one | other:
            yield from differences(one.get(name), other.get(name), _inside(place, name))
    elif one != other:
        yield place, one, other
