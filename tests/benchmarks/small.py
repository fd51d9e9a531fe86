"""A benchmark so small that it measures nothing but whether it works."""

from dataclasses import replace

from benchmarks.sizes import QUICK
from coadapt.experiments.salesman.task import SalesmanTask, Sizes
from coadapt.games.salesman.rules import Salesman

_LAYERS = Sizes((8, 8), (8,), (8,), lstm_units=4, predictor_hidden=(4,))
_SELF_PLAY = replace(QUICK.self_play, iterations=4, num_envs=12, num_steps=8, epochs=1, minibatches=2)
_CLONES = replace(QUICK.quality.clones, iterations=4, num_envs=6, num_steps=50, epochs=1, minibatches=1)

TINY = replace(
    QUICK,
    task=SalesmanTask(Salesman(size=4, subgoals=1, max_steps=8), _LAYERS, pairs="turned"),
    self_play=_SELF_PLAY,
    lstm=_SELF_PLAY,
    iterations=1,
    repetitions=2,
    stepping_games=10,
    stepping_steps=20,
    alone_steps=20,
    decisions=50,
    matrix_size=64,
    multiplying=0.02,
    # The pretrained partners know no other game, so only the networks can be small.
    quality=replace(
        QUICK.quality,
        task=SalesmanTask(sizes=_LAYERS),
        clones=_CLONES,
        policy=_CLONES,
        predictor=replace(QUICK.quality.predictor, iterations=4, num_envs=6, num_steps=50, minibatches=1),
    ),
    goals={"length": 50.0, "returns": {"skilled": -1.0, "novice": -1.0}, "evaluate_every": 2, "episodes": 4},
    scaling_games=(),
    scaling_seeds=(1, 2),
)
