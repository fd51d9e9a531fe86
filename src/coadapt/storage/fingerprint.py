"""What the code of a stage comes to: a checksum over every module it is made of, and the packages it computes with.

Two stages with one fingerprint compute the same. Comments, docstrings and layout do not count, so explaining the code
better does not make what it trained out of date.
"""

import ast
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from coadapt.storage.sealed import checksum

PACKAGES = ("jax", "jaxlib", "numpy", "scipy", "equinox", "optax")
"""What numbers depend on beside our own code."""


def versions(packages: tuple[str, ...] = ("coadapt", *PACKAGES)) -> dict[str, str]:
    """Of this package and those that its numbers depend on."""
    return {name: version(name) for name in packages}


@cache
def fingerprint(module: str) -> str:
    """Of a module and all that it imports, directly or not, from its own package and from coadapt."""
    codes = [f"{name} {_code(_file(name))}" for name in sorted(modules_behind(module))]
    packages = [f"{name} {number}" for name, number in versions(PACKAGES).items()]
    return checksum("\n".join([*codes, *packages]).encode())


def modules_behind(module: str) -> set[str]:
    """The module and all of ours that it needs."""
    homes = {"coadapt", module.split(".")[0]}
    found, waiting = set(), [module]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [other for other in _imports(_file(name)) if other.split(".")[0] in homes and _is_module(other)]
    return found


def _imports(file: Path) -> list[str]:
    """The names a file imports; a name taken from a module may be a module itself."""
    names = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names


def _is_module(name: str) -> bool:
    try:
        spec = find_spec(name)
    except ModuleNotFoundError:  # a name inside a module that is no package
        return False
    return spec is not None and spec.has_location


def _file(module: str) -> Path:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ValueError(f"there is no file of the module {module}")
    return Path(spec.origin)


def _code(file: Path) -> str:
    tree = ast.parse(file.read_text())
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [statement for statement in body if not _is_docstring(statement)]
            node.body = kept or [ast.Pass()]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
