"""A benchmark so small that it measures nothing but whether it works."""

from dataclasses import replace

from coadapt.benchmarks.amounts import QUICK
from coadapt.experiments.salesman.world import Sizes, World
from tests.experiments.small_salesman import SMALL

_SIZES = Sizes((8, 8), (8,), (8,), lstm_units=4, predictor_hidden=(4,))
_TRAINING = replace(SMALL.clones, games=6, steps=50, minibatches=1)

TINY = replace(
    QUICK,
    world=SMALL.world,
    self_play=SMALL.clones,
    lstm=SMALL.lstm_clones,
    iterations=1,
    repetitions=2,
    stepping_games=10,
    stepping_steps=20,
    alone_steps=20,
    decisions=50,
    matrix_size=64,
    multiplying=0.02,
    # The published partners know no other game, so only the networks can be small.
    quality=replace(
        QUICK.quality,
        world=World(sizes=_SIZES),
        clones=_TRAINING,
        policy=_TRAINING,
        predictor=replace(SMALL.predictor, games=6, steps=50, minibatches=1),
        curve_points=1,
    ),
    goals={"length": 50.0, "returns": {"skilled": -1.0, "novice": -1.0}, "look_every": 2, "episodes": 4},
    growth_games=(),
    growth_seeds=(1, 2),
)
