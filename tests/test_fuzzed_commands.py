"""Two thousand calls of the command that nobody in his right mind would make, and many that somebody would.

Whatever is asked: no traceback, an exit status that means something, no work begun by mistake, and a refusal leaves
nothing behind. Work itself is stopped where it would begin.
"""

import json
import os
import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from coadapt.cli import main
from coadapt.configs.data import plain
from coadapt.experiments import matrix_game, salesman
from coadapt.storage import runs
from coadapt.storage.lock import FILE as LOCK

CALLS = 2_400

NUMBERS = ["0", "-1", "1", "3", "0.1", "-0.5", "1e-9", "2147483648", "1e999", "nan", "-inf", "1" + "0" * 400, "0x10"]
ODD = ["１２", "true", "None", "é", "日本", "\udcff", "\x1b[31m", "\x07", "a\nb", "-", "--", "=", "a=b", "{}", "[", " "]
NAMES = ["good", "finished", "broken", "artefacts", "new", "runs/good", ".", "..", "../..", "n" * 300, "", "file"]
PATHS = [*NAMES, "results", "good.json", "wrong.json", "list.json", "deep.json", "latin.json", "nan.json", "pipe"]
PATHS += ["missing.json", "file/below", "/dev/null", "/dev/full", "/proc/nothing/here", "/proc/self/mem", "empty"]
AGENTS = ["salesman/behaviour-conditioned", "salesman/behaviour-conditioned/3", "salesman/partners/100-skilled"]
FIELDS = ["policy.learning_rate", "seeds", "alphas", "payoff", "rl2.num_envs", "policy", "task.game.size", "episodes"]
FIELDS += [
    "experiment.predictor.iterations",
    "methods",
    "sizes.rl2_units",
    "held_out",
    "held_out.seeds",
    "partners.seeds",
    "levels",
    "shares",
    "nothing",
    "policy.nothing",
    "",
    ".",
    "a.b.c",
]
VALUES = [*NUMBERS, *ODD, "[]", "[0,1]", '["policy"]', "null", "{}", '"text"', "[[1,2],[3,4]]", "[" * 5000, "1e400", ""]

number, odd, path = NUMBERS, ODD, PATHS
anything = [*NUMBERS, *ODD, *PATHS]
setting = [f"{field}={value}" for field in FIELDS for value in VALUES] + ODD

OPTIONS = {
    "--publish": path,
    "--init-from": path,
    "--checkpoint-every": number,
    "--track": ["tensorboard", "wandb", "paper"],
    "--quiet": [],
    "--fresh": [],
}
EXPERIMENT = OPTIONS | {"--set": setting, "--run": path}
CONFIGURED = EXPERIMENT | {"--preset": ["fast", "paper", "quick", "slow"], "--config": path}
GRAMMAR = {
    ("reproduce", "matrix-game"): CONFIGURED | {"--seeds": number},
    ("reproduce", "salesman"): CONFIGURED | {"--pretrained": [], "--seeds": number},
    ("train", "salesman"): CONFIGURED | {"--seed": number},
    ("resume",): OPTIONS | {"": path},
    ("evaluate",): {"": [*AGENTS, *path], "--partners": AGENTS, "--episodes": number, "--greedy": [], "--seed": number},
    ("watch",): {"": [*AGENTS, *path], "--partner": AGENTS, "--seed": number, "--to": [*path, "x.gif", "x.png"]},
    ("report",): {"": path, "--to": path},
    ("runs",): {"--root": path},
    ("runs", "list"): {"--root": path},
    ("runs", "show"): {"": path},
    ("runs", "compare"): {"": path},
    ("doctor",): {"--prune": ["cache", "artefacts", "runs"], "--root": path},
    ("version",): {},
    (): {},
    ("reproduce",): {},
    ("nothing",): {},
}
"""What may be said after each command, and with which values; what needs no option before it is under ''."""


def call(chance: random.Random) -> list[str]:
    """One call: mostly with the right kind of value, now and then with any; options of others, and some twice."""
    command, options = chance.choice(list(GRAMMAR.items()))
    words = list(command)
    for _ in range(chance.choice((0, 1, 1, 2, 3, 5))):
        known = options if options and chance.random() < 0.95 else CONFIGURED
        option, values = chance.choice(list(known.items()))
        words += [option] if option else []
        values = values if chance.random() < 0.85 else anything
        how_many = 0 if not values else chance.choice((1, 1, 1, 1, 2)) if chance.random() < 0.95 else 0
        words += chance.choices(values, k=how_many) if how_many else []
    if chance.random() < 0.05:
        words.insert(chance.randrange(len(words) + 1), chance.choice(["--help", "-h", "--nothing", *anything]))
    return words


def furnish(place: Path) -> None:
    """Somebody's folder: runs that are whole and damaged, results, and files of all kinds."""
    here = place / "somebody" / "work"
    here.mkdir(parents=True)
    config = plain(matrix_game.FAST)
    runs.begin(here / "runs" / "good", matrix_game.EXPERIMENT.name, config).log("policy: finished as policy-0a")
    finished = runs.begin(here / "runs" / "finished", salesman.EXPERIMENT.name, plain(salesman.PRESETS["fast"]))
    finished.set_state("finished", progress=1.0, headline={"return": 0.5})
    finished.results.mkdir()
    (finished.results / "summary.json").write_text('{"experiment": "salesman"}')
    broken = runs.begin(here / "runs" / "broken", "nothing", {})
    (broken.folder / "run.json").write_text("{")
    for run in (here / "runs").iterdir():
        (run / LOCK).touch()
    for name in ("policy-0a", "policy-0b"):
        (here / "runs" / "artefacts" / name).mkdir(parents=True)
    (here / "results").mkdir()
    (here / "results" / "summary.json").write_text('{"experiment": "matrix_game"}')
    texts = {"good": json.dumps(config), "wrong": '{"policy": 1}', "list": "[[1, 2], [3, 4]]", "deep": "[" * 100_000}
    for name, text in texts.items():
        (here / f"{name}.json").write_text(text)
    (here / "nan.json").write_text("[[NaN, 1e999]]")
    (here / "latin.json").write_bytes(b'{"caf\xe9": 1}')
    (here / "file").touch()
    os.mkfifo(here / "pipe")
    (here / "empty").mkdir()


def everything(place: Path) -> dict[str, int]:
    """All that lies there, and when files were last changed; whoever looks into a run takes its lock, and signs it."""
    found = sorted(place.rglob("*"))
    last_changed = lambda path: path.stat().st_mtime_ns if path.is_file() and path.name != LOCK else 0
    return {str(path): last_changed(path) for path in found}


class Begun(Exception):
    """Here work would begin."""


def begin(*_, **__):
    raise Begun


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Where it happens; whoever would begin to work is stopped."""
    monkeypatch.setattr("coadapt.runs.experiment.plan", lambda *_: [])  # which traces a program for every stage
    monkeypatch.setattr("coadapt.runs.launch.finish", begin)
    monkeypatch.setattr("coadapt.pipeline.trial.try_out", begin)
    monkeypatch.setattr("coadapt.evaluation.watching.record_episode", begin)
    monkeypatch.setattr("coadapt.storage.provenance.commit", lambda: None)  # asking git takes longer than all the rest
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    furnish(tmp_path / "place")
    shutil.copytree(tmp_path / "place", tmp_path / "pristine", copy_function=_copied)
    return tmp_path / "place"


def _copied(source, to):
    """A pipe is made anew: to read from it would take for ever."""
    if Path(source).is_fifo():
        os.mkfifo(to)
    else:
        shutil.copy2(source, to)


def status_of(arguments: list[str]) -> int | str:
    """How the call ended."""
    try:
        main(arguments)
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 0 if left.code is None else str(left.code)
    except Begun:
        return "begun"
    except Exception as problem:  # this is what must not happen
        return f"{type(problem).__name__}: {problem}"[:300]
    return 0


@pytest.mark.slow
def test_whatever_is_asked_is_answered(place, monkeypatch, capfd):
    chance = random.Random(19)
    ends, wrong = Counter(), []
    monkeypatch.chdir(place / "somebody" / "work")
    before = everything(place)
    for _ in range(CALLS):
        arguments = call(chance)
        status = status_of(arguments)
        said = capfd.readouterr().err
        ends[status] += 1
        after = everything(place)
        if status not in (0, 1, 2, "begun") or "Traceback" in said:
            wrong.append((arguments, status, said[-500:]))
        if status == 1 and not said.rpartition("\n")[0].rpartition("\n")[2].startswith("coadapt: "):
            wrong.append((arguments, status, said))
        if status == 2 and (not said or after != before):
            wrong.append((arguments, "left behind", sorted(set(after) ^ set(before)), said[-500:]))
        if after != before:
            monkeypatch.chdir(place.parent)
            shutil.rmtree(place)
            shutil.copytree(place.parent / "pristine", place, copy_function=_copied)
            monkeypatch.chdir(place / "somebody" / "work")
            before = everything(place)
    assert not wrong, "\n".join(map(repr, wrong))
    assert sum(ends.values()) >= 2_000
    for status in (0, 2, "begun"):
        assert ends[status] >= 50, ends
