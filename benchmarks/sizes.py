"""How much is measured: all of it, or so little that a person sees something at once."""

from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.from_scratch import FromScratchConfig
from coadapt.experiments.salesman import FAST
from coadapt.experiments.salesman.showing import PAPER_ROWS
from coadapt.experiments.salesman.task import TYPES, SalesmanTask
from coadapt.learning.ppo import PPOConfig

assert FAST.clones is not None
assert FAST.lstm_clones is not None

SHORT = FromScratchConfig(
    task=FAST.task,
    clones=replace(FAST.clones, num_envs=320),
    policy=replace(FAST.policy, iterations=100, num_envs=300),
    predictor=replace(FAST.predictor, iterations=100),
    levels=FAST.levels,
    conditioning=FAST.conditioning,
)
"""From nothing to an agent as quickly as we can. It has longer than the quick preset, for here it may stop as soon as
it is good enough."""

SELF_PLAY = replace(FAST.clones, optimiser="adam", learning_rate=2e-3, warm_up=1)
LSTM = replace(FAST.lstm_clones, optimiser="adam", learning_rate=1e-3, warm_up=1)
"""What is measured beside peers is trained by Adam, as theirs is."""


def the_papers() -> dict[str, Any]:
    """What the paper prints of its agent, and how closely ours is evaluated on the way there."""
    returns = {name: PAPER_ROWS["behaviour_conditioned", name].total for name in TYPES}
    return {"length": 16.9, "returns": returns, "evaluate_every": 5, "episodes": 500}


@dataclass(frozen=True)
class Sizes:
    """The sizes of everything that is measured."""

    task: SalesmanTask = field(default_factory=SalesmanTask)
    self_play: PPOConfig = SELF_PLAY
    lstm: PPOConfig = LSTM
    short_episode: int = 17  # as long as one takes two who have learnt to play: the paper's skilled row
    iterations: int = 5  # of ours in a measurement; of those that are slower, one is enough
    repetitions: int = 5
    longest: float = 1_200.0  # seconds an answer may take, on a machine that is not busy
    stepping_games: int = 2_000
    stepping_steps: int = 500
    alone_steps: int = 100_000  # of one game that is stepped by itself
    decisions: int = 10_000
    matrix_size: int = 2_048
    multiplying: float = 2.0  # seconds of it, to find the peak
    quality: FromScratchConfig = SHORT
    quality_seeds: tuple[int, ...] = (0, 1, 2)
    goals: dict[str, Any] = field(default_factory=the_papers)
    scaling_games: tuple[int, ...] = (80, 160, 320, 640, 1_280)
    scaling_sizes: tuple[int, ...] = (7, 11, 15, 21)
    scaling_subgoals: tuple[int, ...] = (2, 4, 6, 8)
    scaling_seeds: tuple[int, ...] = (1, 2, 4)


FULL = Sizes()
QUICK = replace(
    FULL,
    self_play=replace(FULL.self_play, num_envs=80),
    lstm=replace(FULL.lstm, num_envs=80),
    iterations=2,
    repetitions=3,
    longest=120.0,
    stepping_games=1_000,
    stepping_steps=200,
    alone_steps=20_000,
    decisions=2_000,
    matrix_size=1_024,
    multiplying=1.0,
    quality_seeds=(0,),
    scaling_games=(40, 160),
    scaling_sizes=(),
    scaling_subgoals=(),
    scaling_seeds=(1, 2),
)
