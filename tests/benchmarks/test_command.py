"""The command `python -m benchmarks`: what it says before it measures anything."""

import subprocess
import sys

import pytest

from benchmarks.__main__ import main
from benchmarks.client import ROOT
from benchmarks.running import ROWS


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--rows", "speed"), f"there is no row 'speed'; choose some of: {', '.join(ROWS)}."),
        (
            ("--rows", "roofline", "roofline"),
            "rows must be a list with something in it and nothing twice, not ['roofline', 'roofline'].",
        ),
        (("--quick", "--peers", "."), "--quick goes without peers; leave out one of --quick and --peers."),
        (
            ("--peers", "nowhere"),
            "there is no folder nowhere with the peers' environments; make it with: make bench.",
        ),
        (("--to", ""), "one of the arguments is empty; leave it out, or say what you mean."),
        (("--to", "file/below"), "cannot write to the folder file/below: Not a directory."),
    ],
)
def test_a_mistake_gets_one_sentence(tmp_path, monkeypatch, capsys, arguments, sentence):
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main(arguments)
    answer = capsys.readouterr()
    assert (left.value.code, answer.out, answer.err) == (2, "", f"coadapt: {sentence}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_help_teaches(capsys):
    with pytest.raises(SystemExit) as left:
        main(["--help"])
    assert left.value.code == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "python -m benchmarks --quick --rows decision roofline" in shown


def test_help_names_every_row(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert all(row in shown for row in ROWS)


WHEN_JAX_IS_LOADED = """
import sys

class Gate:
    def find_spec(self, name, *_):
        if name == "jax":
            sys.exit("JAX")

sys.meta_path.insert(0, Gate())
from benchmarks.__main__ import main
main()
"""


def test_the_first_sign_of_life_comes_before_jax_is_loaded():
    command = [sys.executable, "-c", WHEN_JAX_IS_LOADED, "--quick"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert answer.stderr == "The benchmark: loading JAX\nJAX\n"
