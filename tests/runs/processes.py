"""The command as a process of its own, on a matrix game so small that starting it takes longer than running it."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from coadapt.configs.data import plain
from coadapt.experiments.matrix_game import FAST
from coadapt.learning.ppo import PPOConfig
from coadapt.learning.supervised import SupervisedConfig
from tests.quickly import compiled_quickly

SMALL = replace(
    FAST,
    alphas=(0.1, 1.0),
    seeds=(3,),
    payoff=((1.0, 0.0, 0.3), (0.0, 1.0, 0.3)),  # not the paper's, and not as many actions in one seat as in the other
    max_steps=3,
    sizes=replace(FAST.sizes, predictor_units=4, rl2_units=4, rl2_critic_units=4),
    predictor=SupervisedConfig(iterations=160, num_envs=4, num_steps=3, learning_rate=1e-2),
    policy=PPOConfig(iterations=160, num_envs=4, num_steps=3, epochs=1, learning_rate=1e-2),
    rl2=PPOConfig(iterations=160, num_envs=4, num_steps=3, epochs=1, learning_rate=1e-2),
    curve_points=8,
    curve_episodes=10,
    episodes=80,
    greedy_episodes=60,
    batch=10,
)
STAGES = ("predictor", "policy", "rl2", "evaluation", "greedy_evaluation", "curves")
CHUNKS = 8 * 3 + 8 + 6 + 8

COMMAND = ("reproduce", "matrix-game", "--config", "small.json", "--checkpoint-every", "0")

# A job in the background ignores Ctrl-C, and so would whatever these tests start when they are one.
HEAR = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
START = f"{HEAR}; from coadapt.cli import main; main()"


def prepare(folder: Path) -> Path:
    """A folder to work in, with the configuration file that the command wants."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "small.json").write_text(json.dumps(plain(SMALL)))
    return folder


def environment(cache: Path) -> dict[str, str]:
    """The processes share what they compile, and leave the user's own cache alone.

    Their numbers matter only in that they are always the same, so they are compiled quickly.
    """
    return os.environ | compiled_quickly() | {"XDG_CACHE_HOME": str(cache), "PYTHONWARNINGS": "error"}


def compiled_once(cache: Path) -> dict[str, str]:
    """The same for processes that are not the command, and whose programs are too small to be kept by default."""
    keep_all = {"MIN_COMPILE_TIME_SECS": "0", "MIN_ENTRY_SIZE_BYTES": "-1"}
    keep_all = {f"JAX_PERSISTENT_CACHE_{name}": value for name, value in keep_all.items()}
    return os.environ | {"JAX_COMPILATION_CACHE_DIR": str(cache / "small"), **keep_all}


def begin(*arguments: str, folder: Path, cache: Path, before: str = "") -> subprocess.Popen:
    """Start the command; `before` is Python to run first, such as an accident that is waiting to happen."""
    return process("-c", before + "\n" + START, *arguments, cwd=folder, env=environment(cache))


def process(*arguments: str, **where: Any) -> subprocess.Popen:
    """Python in a process of its own."""
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, *arguments], **where, **pipes)


def run(*arguments: str, folder: Path, cache: Path, before: str = "") -> subprocess.CompletedProcess:
    """The same, and wait for it."""
    process = begin(*arguments, folder=folder, cache=cache, before=before)
    out, err = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def stage_of(run: Path) -> str:
    """The stage that it was in when it was last heard of."""
    return json.loads((run / "state.json").read_text())["stage"]


SUDDEN = """
import os, signal, sys
from coadapt.runs.executor import Worker

calls, last, record = 0, None, Worker._record

def count(*_):
    global calls
    calls += 1
    if last is not None and calls >= last:
        os.kill(os.getpid(), signal.SIGKILL)

def counting(worker, stage, *chunk):
    global last
    record(worker, stage, *chunk)
    if {stage!r} in (stage.name, "any"):
        last = last or (1 + {moment}) * calls or None
        sys.setprofile(count)

Worker._record = counting
"""
"""An accident: from the first chunk to the second calls are counted, and after a part of as many again it is killed.

How far it is then does not depend on how fast the machine is.
"""
