"""How much is measured: all of it, or so little that a person sees something at once."""

from dataclasses import dataclass, field, replace

from coadapt.experiments.salesman.presets import FAST
from coadapt.experiments.salesman.world import World
from coadapt.learning.ppo import PPOConfig


@dataclass(frozen=True)
class Amounts:
    """The sizes of everything that is measured."""

    world: World = field(default_factory=World)
    self_play: PPOConfig = FAST.clones
    lstm: PPOConfig = FAST.lstm_clones
    iterations: int = 5  # of ours in a measurement; of those that are slower, one is enough
    repetitions: int = 5
    stepping_games: int = 2_000
    stepping_steps: int = 500
    decisions: int = 10_000
    matrix_size: int = 2_048


FULL = Amounts()
QUICK = replace(
    FULL,
    self_play=replace(FAST.clones, games=80),
    lstm=replace(FAST.lstm_clones, games=80),
    iterations=2,
    repetitions=3,
    stepping_games=1_000,
    stepping_steps=200,
    decisions=2_000,
    matrix_size=1_024,
)
