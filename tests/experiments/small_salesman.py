"""The salesman's experiment so small that compiling it takes longer than running it."""

from dataclasses import replace

from coadapt.experiments.salesman import FAST
from coadapt.experiments.salesman.config import Measures
from coadapt.experiments.salesman.world import Sizes, World
from coadapt.games.salesman.rules import Salesman

_PPO = replace(FAST.clones, iterations=4, num_envs=12, num_steps=8, epochs=1, minibatches=2)

SMALL = replace(
    FAST,
    world=World(
        Salesman(size=4, subgoals=1, max_steps=8),
        Sizes((8, 8), (8,), (8,), lstm_units=4, predictor_hidden=(4,)),
        FAST.world.pairs,
    ),
    clones=_PPO,
    policy=_PPO,
    predictor=replace(FAST.predictor, iterations=4, num_envs=12, num_steps=8, minibatches=2),
    lstm_clones=_PPO,
    lstm=_PPO,
    seeds=(3,),
    companions=(3, 0),
    references=(100,),
    intermediate_length=(5.0, 7.0),
    curve_points=2,
    episodes=60,
    rehearsal_episodes=40,
    batch=20,
    measures=Measures(layouts=10, starts=10, bound_layouts=5, episodes=40, exchange_after=3),
)
