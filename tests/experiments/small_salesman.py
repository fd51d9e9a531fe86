"""The salesman's study so small that compiling it takes longer than running it."""

from dataclasses import replace

from coadapt.experiments.salesman import FAST
from coadapt.experiments.salesman.task import SalesmanTask, Sizes
from coadapt.games.salesman.rules import Salesman
from coadapt.pipeline.sources.self_play import SelfPlay
from coadapt.pipeline.study import Measures

SMALL_PPO = replace(FAST.policy, iterations=4, num_envs=12, num_steps=8, epochs=1, minibatches=2)

SMALL = replace(
    FAST,
    task=SalesmanTask(
        Salesman(size=4, subgoals=1, max_steps=8),
        Sizes((8, 8), (8,), (8,), lstm_units=4, predictor_hidden=(4,)),
        FAST.task.pairs,
    ),
    clones=SMALL_PPO,
    policy=SMALL_PPO,
    predictor=replace(FAST.predictor, iterations=4, num_envs=12, num_steps=8, minibatches=2),
    lstm_clones=SMALL_PPO,
    lstm=SMALL_PPO,
    seeds=(3,),
    partners=SelfPlay((3, 0), own=True),
    held_out=SelfPlay((100,)),
    levels=((5.0, 7.0),),
    curve_points=2,
    episodes=60,
    validation_episodes=40,
    batch=20,
    measures=Measures(layouts=10, starts=10, joint_layouts=5, episodes=40, switch_after=3),
)
