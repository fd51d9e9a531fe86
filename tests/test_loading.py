"""Who needs no arrays waits for none: names are loaded when they are first used, and so is JAX."""

import subprocess
import sys
from pathlib import Path

import pytest

import coadapt
from coadapt.storage import runs
from tests.windows import LACKING

HEAVY = {"jax", "jaxlib", "numpy", "scipy", "matplotlib", "equinox", "optax"}


@pytest.mark.parametrize("name", coadapt.__all__)
def test_every_name_is_there(name):
    assert name in dir(coadapt)
    assert getattr(coadapt, name) is not None
    assert name in vars(coadapt), "found once, it need not be looked for again"


def test_a_name_that_is_not_there_is_missed_as_usual():
    with pytest.raises(AttributeError, match="module 'coadapt' has no attribute 'nobody'"):
        _ = coadapt.nobody


def loaded_after(program: str, folder: Path, among: set[str] = HEAVY) -> set[str]:
    """Which of some packages, the heavy ones, a process has loaded when it has run the program."""
    program += "\nimport sys; print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    answer = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True)
    return among.intersection(answer.stderr.split())


def test_the_package_alone_loads_nothing_heavy_and_nothing_that_windows_lacks(tmp_path):
    assert loaded_after("import coadapt", tmp_path, HEAVY | LACKING) == set()
    assert "jax" in loaded_after("import coadapt; coadapt.MatrixGame", tmp_path)


@pytest.fixture
def folder(tmp_path):
    """A folder with two runs, one of which came to something."""
    for name, rate in (("one", 0.1), ("two", 0.2)):
        run = runs.begin(tmp_path / "runs" / name, "matrix_game", {"rate": rate})
        run.set_metrics("policy", b'{"done": 1, "iteration": 5, "loss": [0.5]}\n')
        run.set_state("finished", headline={"reward": rate})
    run.results.mkdir()
    (run.results / "summary.json").write_text('{"experiment": "matrix_game"}')
    (run.results / "provenance.json").write_text('{"stages": {"policy": {"seconds": 2.0}}}')
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["reproduce", "--help"],
        ["reproduce", "matrix-game", "--help"],
        ["runs"],
        ["runs", "show", "one"],
        ["runs", "compare", "one", "two"],
        ["version"],
        ["report", "two"],
    ],
    ids=" ".join,
)
def test_commands_that_compute_nothing_load_nothing_heavy(folder, arguments):
    program = (
        f"from contextlib import suppress\nfrom coadapt.cli import main\nwith suppress(SystemExit): main({arguments})"
    )
    assert loaded_after(program, folder) == set()
