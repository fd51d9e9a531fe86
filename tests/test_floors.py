"""The house stands: a module imports only from lower floors, and inside a package nothing runs in a ring."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "coadapt"

FLOORS = {
    "arrays": 0,
    "compiler": -1,
    "configs": 0,
    "described": -1,
    "images": 0,
    "memory": -1,
    "printable": -1,
    "storage": 0,
    "tables": 0,
    "games": 1,
    "networks": 1,
    "players": 1.5,  # upon games, which say what there is to see
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
    "cli": 9,
}

MAY_IMPORT = {
    "arrays": set(),
    "compiler": set(),
    "configs": {"described"},
    "described": set(),
    "images": set(),
    "memory": set(),
    "printable": set(),
    "storage": {"compiler", "described", "memory"},
    "tables": {"printable"},
    "games": {"arrays", "configs", "images"},
    "networks": {"arrays"},
    "players": {"arrays", "games"},
    "oracles": {"arrays", "games", "memory", "players"},
    "encounters": {"arrays", "games", "players"},
    "partners": {"arrays", "games", "players"},
    "agents": {"arrays", "games", "players", "networks", "oracles"},
    "learning": {"arrays", "configs", "games", "encounters", "players", "partners", "networks"},
    "evaluation": {"arrays", "images", "printable", "tables", "games", "encounters", "players", "partners", "oracles"},
    "runs": {"arrays", "configs", "memory", "printable", "storage", "tables"},
}
"""What the lower floors are held to beyond their height. The upper ones may use all that is below them."""


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imports_of(path: Path, as_run: bool = False) -> set[str]:
    """The modules of ours that a file imports, as names below the package; or those alone that it needs to run."""
    names, tree = set(), ast.parse(path.read_text())
    for node in ast.walk(tree):
        if as_run and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
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
GRAPH_AS_RUN = {module_of(path): imports_of(path, as_run=True) for path in PATHS}


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
        for other in GRAPH_AS_RUN[module]:
            walk(other)
        finished.add(on_the_way.pop())

    for module in sorted(MODULES):
        walk(module)


KNOW_NO_GAME = ("pipeline", "runs", "agents", "learning", "evaluation", "networks")
GAMES_AND_TYPES = re.compile(
    r"\b(salesman|matrix[ _]game|gridworld|novice|intermediate|skilled|subgoals?)\b", re.IGNORECASE
)


@pytest.mark.parametrize("path", [path for path in PATHS if path.relative_to(SOURCE).parts[0] in KNOW_NO_GAME])
def test_what_serves_every_game_names_none(path):
    found = [line for line in path.read_text().splitlines() if GAMES_AND_TYPES.search(line)]
    assert not found, f"{module_of(path)} names a game or its types"
    assert not [other for other in GRAPH[module_of(path)] if GAMES_AND_TYPES.search(other.replace(".", " "))]


def test_experiments_are_a_small_part_of_the_house():
    lines = {path: len(path.read_text().splitlines()) for path in PATHS}
    experiments = sum(number for path, number in lines.items() if path.relative_to(SOURCE).parts[0] == "experiments")
    assert experiments < 0.15 * sum(lines.values())


def test_functions_fit_on_a_page():
    for path in PATHS:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                assert (node.end_lineno or node.lineno) - node.lineno < 60, f"{module_of(path)}.{node.name}"
