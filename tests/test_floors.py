"""The house stands: a module imports only from lower floors, and inside a package nothing runs in a ring."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "coadapt"

FLOORS = {
    "arrays": 0,
    "compiler": -1,
    "configs": 0,
    "memory": 0,
    "printable": -1,
    "storage": 0,
    "tables": 0,
    "games": 1,
    "networks": 1,
    "players": 1,
    "oracles": 2,
    "encounters": 2,
    "partners": 2,
    "agents": 3,
    "learning": 4,
    "evaluation": 4,
    "runs": 5,
    "pipeline": 6,
    "experiments": 7,
    "catalogue": 8,
    "benchmarks": 9,
    "cli": 10,
}

MAY_IMPORT = {
    "arrays": set(),
    "compiler": set(),
    "configs": set(),
    "memory": set(),
    "printable": set(),
    "storage": {"compiler"},
    "tables": {"printable"},
    "games": {"arrays", "configs"},
    "networks": {"arrays"},
    "players": {"arrays"},
    "oracles": {"arrays", "games", "memory"},
    "encounters": {"arrays", "games", "players"},
    "partners": {"arrays", "games", "players"},
    "agents": {"arrays", "games", "players", "networks", "oracles"},
    "learning": {"arrays", "configs", "games", "encounters", "players", "partners", "networks"},
    "evaluation": {"arrays", "printable", "tables", "games", "encounters", "players", "partners", "oracles"},
    "runs": {"arrays", "configs", "memory", "printable", "storage", "tables"},
}
"""What the lower floors are held to beyond their height. The upper ones may use all that is below them."""


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imports_of(path: Path) -> set[str]:
    """The modules of ours that a file imports, as names below the package."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide where one is"
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    ours = {name.removeprefix("coadapt.") for name in names if name and name.startswith("coadapt.")}
    return {name for name in ours if name in MODULES}


PATHS = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")
MODULES = {module_of(path) for path in PATHS}
GRAPH = {module_of(path): imports_of(path) for path in PATHS}


def test_every_module_lives_on_a_floor():
    assert {module.split(".")[0] for module in MODULES} == set(FLOORS)


@pytest.mark.parametrize("module", sorted(MODULES))
def test_imports_only_from_below(module):
    home = module.split(".")[0]
    for other in GRAPH[module]:
        there = other.split(".")[0]
        if there == home:
            continue
        assert FLOORS[there] < FLOORS[home], f"{module} imports {other}, which is not below it"
        assert there in MAY_IMPORT.get(home, set(FLOORS)), f"{module} imports {other}: more than its floor needs"


def test_no_rings_inside_a_package():
    finished, on_the_way = set(), []

    def walk(module):
        assert module not in on_the_way, f"a ring: {' -> '.join([*on_the_way, module])}"
        if module in finished:
            return
        on_the_way.append(module)
        for other in GRAPH[module]:
            walk(other)
        finished.add(on_the_way.pop())

    for module in sorted(MODULES):
        walk(module)
