"""The command as a person meets it: in a process of its own."""

import os
import subprocess
import sys

import pytest

from coadapt.cli import main
from coadapt.cli.answers import answered
from coadapt.configs.data import plain
from coadapt.experiments import matrix_game
from coadapt.pipeline.sources.self_play import SelfPlay
from coadapt.storage import runs

MATRIX_GAME = ("reproduce", "matrix-game")


def coadapt(*arguments, folder, **settings):
    command = [sys.executable, "-c", "from coadapt.cli import main; main()", *arguments]
    return subprocess.run(command, cwd=folder, env=os.environ | settings, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--help",), "matrix-game"),
        (("reproduce", "--help"), "matrix-game"),
        ((*MATRIX_GAME, "--help"), "Ctrl-C"),
        (("resume", "--help"), "coadapt resume matrix_game"),
        (("runs", "--help"), "compare"),
    ],
)
def test_help_teaches(tmp_path, arguments, word):
    answer = coadapt(*arguments, folder=tmp_path)
    assert answer.returncode == 0
    assert word in " ".join(answer.stdout.replace("│", " ").split())


def test_tables_that_do_not_fit_in_memory_are_refused_in_a_sentence(tmp_path):
    """Of a grid of 60 by 60: 16 sets of subgoals, 60**4 places for both agents, a kilobyte for each."""
    settings = ('methods=["label_blind"]', "task.game.size=60", "task.sizes.before_sum=[2]", "seeds=[0]")
    answer = coadapt("reproduce", "salesman", "--quiet", "--set", *settings, folder=tmp_path)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr.startswith("coadapt: about ")
    assert " are needed for the exact tables of a 60x60 grid with 4 subgoals, more than the " in answer.stderr
    assert answer.stderr.endswith("; make game.size, game.subgoals or game.max_steps smaller.\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            ("predictor.num_envs=2000000000",),
            "predictor.num_envs must be a whole number from 1 to 10000000, not 2000000000",
        ),
        (("predictor.num_envs=10000000",), "for a chunk of predictor, more than the "),
        (("sizes.predictor_units=2000000000",), "sizes.predictor_units must be a whole number from 1 to 100000, not "),
        (("sizes.predictor_units=100000",), "for the state of predictor, more than the "),
    ],
)
def test_sizes_that_cannot_be_are_refused_before_anything_is_written(tmp_path, settings, sentence):
    answer = coadapt(*MATRIX_GAME, "--quiet", "--set", *settings, folder=tmp_path)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr.startswith("coadapt: ")
    assert sentence in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("resume", "nothing"), "there is no run in runs/nothing: it has no run.json."),
        (("runs", "show", "nothing"), "there is no run in runs/nothing: it has no run.json."),
        (("runs", "compare", "a", "b"), "there is no run in runs/a: it has no run.json."),
    ],
)
def test_a_run_that_is_not_there_is_a_mistake(tmp_path, arguments, sentence):
    answer = coadapt(*arguments, folder=tmp_path)
    assert (answer.returncode, answer.stdout, answer.stderr) == (2, "", f"coadapt: {sentence}\n")
    assert list(tmp_path.iterdir()) == []


def test_without_runs_the_list_says_how_to_start_one(tmp_path):
    answer = coadapt("runs", folder=tmp_path)
    assert answer.stdout == "There are no runs in runs yet. Start one with: coadapt reproduce matrix-game\n"


@pytest.mark.parametrize(
    ("settings", "held_out"),
    [((), None), (("--set", 'held_out={"seeds": [100]}'), SelfPlay((100,)))],
)
def test_one_agent_is_trained_alone_unless_somebody_is_asked_for(monkeypatch, settings, held_out):
    """With its training partners, and nobody else has to be trained first."""
    asked = []
    monkeypatch.setattr("coadapt.cli.experiments.run_to_end", lambda experiment, config, *_: asked.append(config))
    main(["train", "salesman", "--seed", "3", "--quiet", *settings])
    (study,) = asked
    assert (study.seeds, study.methods, study.held_out) == ((3,), ("behaviour_conditioned",), held_out)


WHEN_JAX_IS_LOADED = """
import sys

class Gate:
    def find_spec(self, name, *_):
        if name == "jax":
            sys.exit("JAX")

sys.meta_path.insert(0, Gate())
from coadapt.cli import main
main()
"""


@pytest.mark.parametrize(
    ("arguments", "sign"),
    [
        (("reproduce", "matrix-game"), "The matrix game"),
        (("reproduce", "salesman"), "The travelling-salesman gridworld"),
        (("train", "salesman", "--seed", "3"), "Training for the travelling-salesman gridworld, seed 3"),
        (("evaluate",), "Evaluating salesman/behaviour-conditioned"),
        (("watch",), "Watching salesman/behaviour-conditioned"),
        (("evaluate", "--quiet"), ""),
    ],
)
def test_the_first_sign_of_life_comes_before_jax_is_loaded(tmp_path, arguments, sign):
    command = [sys.executable, "-c", WHEN_JAX_IS_LOADED, *arguments]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert answer.stderr == (f"{sign}: loading JAX\nJAX\n" if sign else "JAX\n")


def test_version_names_what_numbers_depend_on(tmp_path):
    answer = coadapt("version", folder=tmp_path)
    assert {line.split()[0] for line in answer.stdout.splitlines()} >= {"coadapt", "jax", "numpy"}


TABLES = {
    "nan.json": "[[1.0, NaN]]",
    "ragged.json": "[[1, 2], [3]]",
    "words.json": "not a table",
}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--set", "alphas=[0]"), "alphas must hold numbers from 1e-06 to 1e+06, not 0.0."),
        (("--set", "alphas=[-1]"), "alphas must hold numbers from 1e-06 to 1e+06, not -1.0."),
        (("--set", "alphas=[NaN]"), "alphas must be a number, not nan."),
        (("--seeds", "0"), "seeds must be a whole number from 1 to 1000, not 0."),
        (("--seeds", "-3"), "seeds must be a whole number from 1 to 1000, not -3."),
        (("--seeds", "1000000000"), "seeds must be a whole number from 1 to 1000, not 1000000000."),
        (("--preset", "slow"), "preset must be one of fast, paper, quick, not 'slow'."),
        (("--set", "payoff=[[1.0, NaN]]"), "payoff must be a number, not nan."),
        (("--set", f"payoff=[[1{'0' * 400}]]"), "payoff must be a number, not a number of far too many digits."),
        (("--set", "payoff=[[1, 2], [3]]"), "payoff must have rows of one length, not [2, 1]."),
        (("--config", "missing.json"), "missing.json is missing."),
        (("--config", "nan.json"), "nan.json is not readable as JSON: NaN is no number."),
        (("--run", "file/below"), "there can be no run in file/below: Not a directory."),
        (("--set", "policy.discount=7"), "policy.discount must be a number from 0 to 1, not 7.0."),
        (("--config", "words.json"), "words.json is not readable as JSON: Expecting value: line 1 column 1 (char 0)."),
        (("--config", "ragged.json"), "the configuration must be an object with named fields, not [[1, 2], [3]]."),
        (
            ("--run", "artefacts"),
            "a run cannot be called artefacts: there runs keep what is finished.",
        ),
        (("--publish", "."), ". holds file, which was not published by coadapt; choose another folder."),
        (
            ("--publish", "runs/artefacts"),
            "nothing can be published in runs/artefacts: this is where runs keep what is finished.",
        ),
        (("--publish", "file/below"), "nothing can be published in file/below: Not a directory."),
        (("--checkpoint-every", "-1"), "checkpoint-every must be a number from 0 to 1e+06, not -1.0."),
        (("--track", "paper"), "there is no tracker 'paper'; choose one of: tensorboard, wandb."),
        (("--init-from", "lost/policy-000001"), "lost/policy-000001.json is missing."),
        (
            ("--fresh", "--init-from", "policy-000001"),
            "--fresh makes everything again and --init-from goes on from a checkpoint; choose one.",
        ),
    ],
)
def test_a_mistake_gets_one_sentence_and_nothing_is_written(tmp_path, arguments, sentence):
    for name, text in TABLES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "file").touch()
    before = sorted(tmp_path.rglob("*"))
    answer = coadapt(*MATRIX_GAME, *arguments, "--quiet", folder=tmp_path)
    assert (answer.returncode, answer.stdout, answer.stderr) == (2, "", f"coadapt: {sentence}\n")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("arguments", [("--seeds", "many"), ("--bogus", "1")])
def test_an_argument_that_cannot_be_read_is_named(tmp_path, arguments):
    answer = coadapt(*MATRIX_GAME, *arguments, folder=tmp_path)
    assert answer.returncode == 2
    assert arguments[0] in answer.stderr
    assert "Traceback" not in answer.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&- >&- 2>&-"])
def test_whatever_is_closed_the_exit_status_is_right(tmp_path, closed):
    """Also at the very end, when Python finds that something is left to be written."""
    ask = "from coadapt.cli import main; main()"
    for words, status in {"runs": 0, "runs show nothing": 2}.items():
        command = ["sh", "-c", f"exec {sys.executable} -c '{ask}' {words} {closed}"]
        assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == status


def test_a_refusal_leaves_no_folder_to_publish_in_behind(tmp_path):
    """The place is looked at before the run is opened, which then refuses another configuration than its own."""
    runs.begin(tmp_path / "runs" / "mine", matrix_game.EXPERIMENT.name, plain(matrix_game.FAST))
    changed = ("--set", "policy.learning_rate=0.5", "--publish", "new/place", "--quiet")
    answer = coadapt(*MATRIX_GAME, "--run", "mine", *changed, folder=tmp_path)
    assert answer.returncode == 2
    assert "policy.learning_rate was 0.03 and is 0.5" in answer.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (MemoryError(), "the memory is not enough (it is used up); what was stored before is whole."),
        (
            RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 9 bytes\nand so on"),
            "the memory is not enough (RESOURCE_EXHAUSTED: Out of memory allocating 9 bytes); what was stored before is"
            " whole.",
        ),
    ],
)
def test_memory_that_is_used_up_is_told(problem, sentence, capsys):
    with pytest.raises(SystemExit) as leaving, answered():
        raise problem
    assert (leaving.value.code, capsys.readouterr().err) == (1, f"coadapt: {sentence}\n")


def test_any_other_failure_is_ours_and_seen_whole():
    with pytest.raises(RuntimeError, match="a mistake of ours"), answered():
        raise RuntimeError("a mistake of ours")


def test_a_device_that_is_not_there_gets_a_sentence(tmp_path):
    answer = coadapt(*MATRIX_GAME, "--quiet", folder=tmp_path, JAX_PLATFORMS="cuda")
    assert (answer.returncode, answer.stdout, answer.stderr.count("\n")) == (2, "", 1)
    assert answer.stderr.startswith("coadapt: JAX cannot compute on JAX_PLATFORMS=cuda (")
    assert answer.stderr.endswith("); unset it, or mend that.\n")
    assert list(tmp_path.iterdir()) == []
