"""What the code of a stage comes to: a checksum over every module it is made of, and the packages it computes with.

Two stages with one fingerprint compute the same. Comments, docstrings and layout do not count, so explaining the code
better does not make what it trained out of date; nor does it matter which Python reads it.
"""

import ast
import sys
import sysconfig
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import Any

from coadapt.described import PACKAGES, module_named
from coadapt.storage.sealed import checksum


def versions(packages: tuple[str, ...] = ("coadapt", *PACKAGES)) -> dict[str, str]:
    """Of this package and those that its numbers depend on."""
    return {name: version(name) for name in packages}


@cache
def fingerprint(*modules: str) -> str:
    """Of modules and all that they import, directly or not, from their own packages (or folders) and from coadapt."""
    behind = {name: file for module in modules for name, file in modules_behind(module).items()}
    packages = [f"{name} {number}" for name, number in versions(PACKAGES).items()]
    return checksum("\n".join([*_codes(behind), *packages]).encode())


def fingerprint_of_family(module: str) -> str:
    """The same of a module and its relatives without coadapt: what somebody's files say, whichever coadapt there is."""
    is_ours = lambda file: file.is_relative_to(Path(__file__).parents[1])
    return checksum("\n".join(_codes({n: f for n, f in modules_behind(module).items() if not is_ours(f)})).encode())


def _codes(behind: dict[str, Path]) -> list[str]:
    return [f"{name} {normal_form(file.read_bytes())}" for name, file in sorted(behind.items())]


def modules_behind(module: str) -> dict[str, Path]:
    """The module and all of ours that it needs, with their files."""
    first, file = module_named(module), _file(module)
    homes = (Path(__file__).parents[1], _home(first, file))
    found, waiting = {first: file}, [first]
    while waiting:
        importer = waiting.pop()
        package = importer if found[importer].name == "__init__.py" else importer.rpartition(".")[0]
        for name in _imports(package, found[importer].read_bytes()):
            file = None if name in found else _file_or_none(name)
            if file is not None and any(_is_at_home(file, home) for home in homes):
                found[name] = file
                waiting.append(name)
    return found


def _home(name: str, file: Path) -> Path:
    """Where a module's own relatives live: the folder of its outermost package, or its own folder."""
    return file.parents[max(0, name.count(".") - (file.name != "__init__.py"))]


def _is_at_home(file: Path, home: Path) -> bool:
    """Whether a file below a home is of the family: whole environments may lie there, and are full of strangers."""
    if not file.is_relative_to(home) or home.name in SITES:
        return False
    is_environment = lambda folder: (folder / "pyvenv.cfg").exists() or (folder / "conda-meta").exists()
    between = [folder for folder in file.parents if home in folder.parents]
    return not any(folder in INTERPRETER or folder.name in SITES or is_environment(folder) for folder in between)


SITES = ("site-packages", "dist-packages")
INTERPRETER = frozenset(map(Path, (sys.prefix, sys.base_prefix, *sysconfig.get_paths().values())))


@cache
def _imports(package: str, source: bytes) -> list[str]:
    """The names that a module of this package imports; a name taken from a module may be a module itself."""
    tree, names = ast.parse(source), []
    for node in ast.walk(tree):  # what is imported for type checkers alone computes nothing
        if isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names if alias.name != DOOR]
        if isinstance(node, ast.ImportFrom):
            home = resolve_name("." * node.level + (node.module or ""), package)
            taken = [alias.name for alias in node.names]
            names += map(_behind_the_door, taken) if home == DOOR else [home, *(f"{home}.{n}" for n in taken)]
    return [*names, *_through_the_door(tree)]


DOOR = __name__.partition(".")[0]
"""The package itself, which has names from everywhere: whoever takes one depends on where that comes from alone."""


def _through_the_door(tree: ast.Module) -> list[str]:
    """The modules of the names that are taken from the package itself, as in `import coadapt as ca; ca.Study`."""
    imported = [alias for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    called = {alias.asname or DOOR for alias in imported if alias.name == DOOR}
    is_door = lambda node: isinstance(node, ast.Name) and node.id in called
    taken = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and is_door(node.value)]
    at_large = sum(map(is_door, ast.walk(tree))) > len(taken)  # handed to somebody who may take anything
    return [*(_behind_the_door(node.attr) for node in taken), *(sys.modules[DOOR].HOMES.values() if at_large else [])]


def _behind_the_door(name: str) -> str:
    """The module that a name of the package comes from; a module, if it is one itself."""
    return sys.modules[DOOR].HOMES.get(name, f"{DOOR}.{name}")


@cache
def _file_or_none(name: str) -> Path | None:
    """The source of a module; of one that is compiled there is none to read."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):  # a name inside a module that is no package
        return None
    has_source = spec is not None and spec.has_location and spec.origin and spec.origin.endswith(".py")
    return Path(spec.origin) if has_source else None  # type: ignore[union-attr, arg-type]


def _file(module: str) -> Path:
    file = getattr(sys.modules["__main__"], "__file__", None) if module == "__main__" else _file_or_none(module)
    if file is None:
        raise ValueError(f"a stage must be defined in a file, for its code is part of its name; {module} has none")
    return Path(file).resolve()


@cache
def normal_form(source: bytes) -> str:
    """What a source says, in the same words in every Python: without comments, docstrings and layout."""
    is_docstring = lambda each: isinstance(each, ast.Expr) and isinstance(getattr(each.value, "value", None), str)
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [each for each in body if not is_docstring(each)] or [ast.Pass()]  # type: ignore[attr-defined]
        if isinstance(node, ast.JoinedStr):  # some versions end an f-string with an empty one
            node.values = [part for part in node.values if not (isinstance(part, ast.Constant) and part.value == "")]
    return _dump(tree)


def _dump(node: Any) -> str:
    """As `ast.dump`, whose answer is another one in almost every version, for each adds fields that are empty."""
    if isinstance(node, list):
        return f"[{', '.join(map(_dump, node))}]"
    if not isinstance(node, ast.AST):
        return ascii(node)  # which of the characters are printable, and so what `repr` says, is not settled either
    said = [f"{name}={_dump(value)}" for name, value in ast.iter_fields(node) if value is not None and value != []]
    return f"{type(node).__name__}({', '.join(said)})"
