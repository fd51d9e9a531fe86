"""Rows 2 and 3: environment steps a second in training, learning included, with and without an LSTM.

Everybody has the paper's relation network, the same games, batch, epochs and minibatches, and learns from both seats.
"""

from dataclasses import replace
from typing import Any

import jax
import numpy as np

from benchmarks.client import PeerFailed, Process
from benchmarks.contenders import Check, Contenders, thread_settings
from benchmarks.measuring import Contender, Entry, Quantity, side_by_side, turns
from benchmarks.ours import arranged, training_request
from benchmarks.sizes import Sizes
from coadapt.configs.data import plain
from coadapt.experiments.salesman.task import SalesmanTask
from coadapt.games.game import MAIN
from coadapt.games.salesman.pairs import RelativePairs
from coadapt.learning.ppo import PPOConfig
from coadapt.runs.progress import Progress

RATE = Quantity("training", "environment steps/s")

TRAINING, RECURRENT = "training", "recurrent"
TABULATED, PAIRWISE = "coadapt, tabulated", "coadapt, pair by pair"
STABLE_BASELINES, RECURRENT_PPO = "Stable-Baselines3 PPO", "sb3-contrib RecurrentPPO"
FEW_TURNS = 2
"""Enough to see whether a setting is the better one."""


def self_play(sizes: Sizes, contenders: Contenders, progress: Progress) -> list[Entry]:
    """Row 2: our two arrangements of the same network, and Stable-Baselines3."""
    task, training = sizes.task, sizes.self_play
    tabulated = training_request("self-play", arranged(task, True), training, sizes.iterations)
    pairwise = training_request("self-play", arranged(task, False), training, 1)
    return _measured(
        TRAINING,
        [
            contenders.ours(TABULATED, tabulated, RATE),
            contenders.ours(PAIRWISE, pairwise, RATE, "the same function, and the same code but for the arrangement"),
            *_torch(STABLE_BASELINES, contenders, task, training, lstm_units=0),
        ],
        sizes,
        progress,
    )


def recurrent(sizes: Sizes, contenders: Contenders, progress: Progress) -> list[Entry]:
    """Row 3: our LSTM baseline, and sb3-contrib's.

    Twice: as training begins, when nobody finds the goal, and with episodes as short as they are from its middle on.
    Those fit a batch less well, and RecurrentPPO fills the gaps up.
    """
    game = sizes.task.game
    shorter = replace(sizes.task, game=replace(game, max_steps=min(game.max_steps, sizes.short_episode)))
    entries: list[Entry] = []
    for task in (sizes.task, shorter):
        entries += _recurrent(sizes, task, f"episodes of {task.game.max_steps}", contenders, progress)
        contenders.dismiss()  # their memory is needed for those who come next
    return entries


def _recurrent(sizes: Sizes, task: SalesmanTask, which: str, contenders: Contenders, progress: Progress) -> list[Entry]:
    request = training_request("lstm", arranged(task, True), sizes.lstm, sizes.iterations)
    lstm_units = task.sizes.lstm_units
    return _measured(
        RECURRENT,
        [
            contenders.ours(f"coadapt, LSTM baseline, {which}", request, RATE),
            *_torch(f"{RECURRENT_PPO}, {which}", contenders, task, sizes.lstm, lstm_units),
        ],
        sizes,
        progress,
    )


def _measured(row: str, taking_part: list[Contender], sizes: Sizes, progress: Progress) -> list[Entry]:
    with progress.stage(row, turns(taking_part, sizes.repetitions)) as advance:
        return side_by_side(row, taking_part, sizes.repetitions, advance)


def _torch(
    name: str, contenders: Contenders, task: SalesmanTask, training: PPOConfig, lstm_units: int
) -> list[Contender]:
    """The peer at every setting of its threads: the best of them is what we are held against.

    All but the last, which has all threads and so is likely to be the best, take a few turns only.
    """
    request = {"training": torch_training(task, training, lstm_units), "iterations": 1}
    *_, last = settings_of = thread_settings()
    note = "on a vectorised NumPy game"
    return [
        contender
        for threads, settings in settings_of.items()
        for contender in contenders.peer(
            f"{name}, {threads}",
            "torch",
            "stable_baselines",
            request,
            RATE,
            note,
            settings,
            most=None if threads == last else FEW_TURNS,
            check=sees_as_ours(task),
        )
    ]


def torch_training(task: SalesmanTask, training: PPOConfig, lstm_units: int) -> dict[str, Any]:
    """The same training as `benchmarks/peers/stable_baselines.py` takes it."""
    asked = plain(training)
    shared = ("num_envs", "num_steps", "epochs", "minibatches", "learning_rate", "discount", "gae_lambda", "clip")
    return {
        **{name: asked[name] for name in (*shared, "entropy_coefficient", "max_gradient_norm")},
        "before_sum": list(task.sizes.before_sum),
        "after_sum": list(task.sizes.after_sum),
        "policy_hidden": list(task.sizes.policy_hidden),
        "lstm_units": lstm_units,
        "rules": plain(task.learning_game),
    }


OBSERVATIONS, LONGEST_LOOK = 16, 60.0
"""How many observations a peer is shown, and the seconds it may look at them."""


def sees_as_ours(task: SalesmanTask) -> Check:
    """Whoever makes other features of an observation than we do is not to be compared with us."""

    def check(process: Process) -> None:
        rows, features = _seen_by_ours(task)
        request = {"look_at": rows.tolist(), "size": task.game.size, "subgoals": task.game.subgoals}
        seen = process.ask(request, LONGEST_LOOK)
        for name, ours in features.items():
            theirs = np.array(seen.get(name))
            if theirs.shape != ours.shape or not np.allclose(theirs, ours, atol=1e-6):
                raise PeerFailed(f"{process.name} does not see what ours sees: other {name}")

    return check


def _seen_by_ours(task: SalesmanTask) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Some observations as rows of numbers, and what we make of them."""
    view = RelativePairs(task.game.size)

    def example(key):
        for_state, for_collected = jax.random.split(key)
        state = task.game.reset(for_state)
        collected = jax.random.bernoulli(for_collected, shape=state.collected.shape)
        return task.game.observe(state._replace(collected=collected), MAIN)

    observations = jax.vmap(example)(jax.random.split(jax.random.key(0), OBSERVATIONS))
    rows = np.concatenate([np.asarray(part).reshape(OBSERVATIONS, -1) for part in observations], axis=1)
    indices, rest = map(np.asarray, jax.vmap(view)(observations))
    return rows, {"pairs": view.table()[indices], "rest": rest}
