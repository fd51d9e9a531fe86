"""Rows 2 and 3: environment steps a second in training, learning included, with and without an LSTM.

Everybody has the paper's relation network, the same games, batch, epochs and minibatches, and learns from both seats.
"""

from dataclasses import replace
from typing import Any

import jax
import numpy as np

from coadapt.benchmarks.amounts import Amounts
from coadapt.benchmarks.asking import PeerFailed, Process
from coadapt.benchmarks.contenders import Check, Contenders, thread_settings
from coadapt.benchmarks.measuring import Contender, Entry, Quantity, side_by_side, turns
from coadapt.benchmarks.ours import arranged, training_request
from coadapt.configs.data import plain
from coadapt.experiments.salesman.world import World
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


def self_play(amounts: Amounts, contenders: Contenders, progress: Progress) -> list[Entry]:
    """Row 2: our two arrangements of the same network, and Stable-Baselines3."""
    world, training = amounts.world, amounts.self_play
    tabulated = training_request("self-play", arranged(world, True), training, amounts.iterations)
    pairwise = training_request("self-play", arranged(world, False), training, 1)
    return _measured(
        TRAINING,
        [
            contenders.ours(TABULATED, tabulated, RATE),
            contenders.ours(PAIRWISE, pairwise, RATE, "the same function, and the same code but for the arrangement"),
            *_torch(STABLE_BASELINES, contenders, world, training, lstm_units=0),
        ],
        amounts,
        progress,
    )


def recurrent(amounts: Amounts, contenders: Contenders, progress: Progress) -> list[Entry]:
    """Row 3: our LSTM baseline, and sb3-contrib's.

    Twice: as training begins, when nobody finds the goal, and with episodes as short as they are from its middle on.
    Those fit a batch less well, and RecurrentPPO fills the gaps up.
    """
    game = amounts.world.game
    shorter = replace(amounts.world, game=replace(game, max_steps=min(game.max_steps, amounts.short_episode)))
    entries: list[Entry] = []
    for world in (amounts.world, shorter):
        entries += _recurrent(amounts, world, f"episodes of {world.game.max_steps}", contenders, progress)
        contenders.dismiss()  # their memory is needed for those who come next
    return entries


def _recurrent(amounts: Amounts, world: World, which: str, contenders: Contenders, progress: Progress) -> list[Entry]:
    request = training_request("lstm", arranged(world, True), amounts.lstm, amounts.iterations)
    lstm_units = world.sizes.lstm_units
    return _measured(
        RECURRENT,
        [
            contenders.ours(f"coadapt, LSTM baseline, {which}", request, RATE),
            *_torch(f"{RECURRENT_PPO}, {which}", contenders, world, amounts.lstm, lstm_units),
        ],
        amounts,
        progress,
    )


def _measured(row: str, taking_part: list[Contender], amounts: Amounts, progress: Progress) -> list[Entry]:
    with progress.stage(row, turns(taking_part, amounts.repetitions)) as advance:
        return side_by_side(row, taking_part, amounts.repetitions, advance)


def _torch(name: str, contenders: Contenders, world: World, training: PPOConfig, lstm_units: int) -> list[Contender]:
    """The peer at every setting of its threads: the best of them is what we are held against.

    All but the last, which has all threads and so is likely to be the best, take a few turns only.
    """
    request = {"training": torch_training(world, training, lstm_units), "iterations": 1}
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
            check=sees_as_ours(world),
        )
    ]


def torch_training(world: World, training: PPOConfig, lstm_units: int) -> dict[str, Any]:
    """The same training as `benchmarks/peers/stable_baselines.py` takes it."""
    asked = plain(training)
    shared = ("games", "steps", "epochs", "minibatches", "learning_rate", "discount", "trace_decay", "clip")
    return {
        **{name: asked[name] for name in (*shared, "entropy_bonus", "max_gradient_norm")},
        "before_sum": list(world.sizes.before_sum),
        "after_sum": list(world.sizes.after_sum),
        "policy_hidden": list(world.sizes.policy_hidden),
        "lstm_units": lstm_units,
        "rules": plain(world.training_game),
    }


OBSERVATIONS, LONGEST_LOOK = 16, 60.0
"""How many observations a peer is shown, and the seconds it may look at them."""


def sees_as_ours(world: World) -> Check:
    """Whoever makes other features of an observation than we do is not to be compared with us."""

    def check(process: Process) -> None:
        rows, features = _seen_by_ours(world)
        request = {"look_at": rows.tolist(), "size": world.game.size, "subgoals": world.game.subgoals}
        seen = process.ask(request, LONGEST_LOOK)
        for name, ours in features.items():
            theirs = np.array(seen.get(name))
            if theirs.shape != ours.shape or not np.allclose(theirs, ours, atol=1e-6):
                raise PeerFailed(f"{process.name} does not see what ours sees: other {name}")

    return check


def _seen_by_ours(world: World) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Some observations as rows of numbers, and what we make of them."""
    view = RelativePairs(world.game.size)

    def example(key):
        for_state, for_collected = jax.random.split(key)
        state = world.game.reset(for_state)
        collected = jax.random.bernoulli(for_collected, shape=state.collected.shape)
        return world.game.observe(state._replace(collected=collected), MAIN)

    observations = jax.vmap(example)(jax.random.split(jax.random.key(0), OBSERVATIONS))
    rows = np.concatenate([np.asarray(part).reshape(OBSERVATIONS, -1) for part in observations], axis=1)
    indices, rest = map(np.asarray, jax.vmap(view)(observations))
    return rows, {"pairs": view.table()[indices], "rest": rest}
