"""The command as a person meets it: in a process of its own."""

import subprocess
import sys

import pytest

MATRIX_GAME = ("reproduce", "matrix-game")


def coadapt(*arguments, folder):
    command = [sys.executable, "-c", "from coadapt.cli import main; main()", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("arguments", [("--help",), ("reproduce", "--help"), (*MATRIX_GAME, "--help")])
def test_help_teaches(tmp_path, arguments):
    answer = coadapt(*arguments, folder=tmp_path)
    assert answer.returncode == 0
    assert "matrix-game" in answer.stdout


def test_version_names_what_numbers_depend_on(tmp_path):
    answer = coadapt("version", folder=tmp_path)
    assert {line.split()[0] for line in answer.stdout.splitlines()} >= {"coadapt", "jax", "numpy"}


TABLES = {
    "nan.json": "[[1.0, NaN]]",
    "huge.json": f"[[1{'0' * 400}]]",
    "ragged.json": "[[1, 2], [3]]",
    "words.json": "not a table",
}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--alphas", "0"), "alpha must be a number from 1e-06 to 1e+06, not 0.0."),
        (("--alphas", "-1"), "alpha must be a number from 1e-06 to 1e+06, not -1.0."),
        (("--alphas", "nan"), "alpha must be a number from 1e-06 to 1e+06, not nan."),
        (("--seeds", "0"), "at least one seed is needed."),
        (("--seeds", "-3"), "at least one seed is needed."),
        (("--seeds", "1000000000"), "at most 1000 seeds fit into one program, not 1000000000."),
        (("--preset", "slow"), "there is no preset 'slow'; choose one of: fast, paper."),
        (("--payoff", "nan.json"), "the payoff table must hold finite numbers only."),
        (("--payoff", "huge.json"), "the payoff table must hold finite numbers only."),
        (("--payoff", "ragged.json"), "the payoff table's rows must be of one length, not [2, 1]."),
        (("--payoff", "words.json"), "words.json is not JSON: Expecting value: line 1 column 1 (char 0)."),
        (("--payoff", "missing.json"), "cannot read missing.json: No such file or directory."),
        (("--out", "file/below"), "cannot write to the output folder file/below: Not a directory."),
    ],
)
def test_a_mistake_gets_one_sentence_and_nothing_is_written(tmp_path, arguments, sentence):
    for name, text in TABLES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "file").touch()
    before = sorted(tmp_path.rglob("*"))
    answer = coadapt(*MATRIX_GAME, *arguments, folder=tmp_path)
    assert (answer.returncode, answer.stdout, answer.stderr) == (2, "", f"coadapt: {sentence}\n")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--methods",), "name at least one method of: predictor, policy, rl2."),
        (("--methods", "sarsa"), "there is no method 'sarsa'; choose one of: predictor, policy, rl2."),
    ],
)
def test_a_search_for_nothing_is_a_mistake(tmp_path, arguments, sentence):
    answer = coadapt("tune", "matrix-game", *arguments, folder=tmp_path)
    assert (answer.returncode, answer.stderr) == (2, f"coadapt: {sentence}\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [("--seeds", "many"), ("--bogus", "1")])
def test_an_argument_that_cannot_be_read_is_named(tmp_path, arguments):
    answer = coadapt(*MATRIX_GAME, *arguments, folder=tmp_path)
    assert answer.returncode == 2
    assert arguments[0] in answer.stderr
    assert "Traceback" not in answer.stderr
    assert list(tmp_path.iterdir()) == []
