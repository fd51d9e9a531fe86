"""The three presets of the salesman's experiment."""

from dataclasses import replace

from coadapt.experiments.salesman.config import Measures, SalesmanConfig
from coadapt.experiments.salesman.world import World
from coadapt.learning.ppo import PPOConfig
from coadapt.learning.supervised import SupervisedConfig

PAPER = SalesmanConfig(
    # What the paper states: the layers, the iterations of 4000 time steps, absolute coordinates, a population of the
    # run's own older versions, and Adam at 5e-4 with a falling rate. All else is our choice. Eighty games of fifty
    # steps are the 4000; three partners share out 81.
    clones=PPOConfig(iterations=3_000, games=80, steps=50),
    policy=PPOConfig(iterations=1_000, games=81, steps=50),
    predictor=SupervisedConfig(iterations=5_000, games=81, steps=50),
    lstm_clones=PPOConfig(iterations=3_000, games=80, steps=50),
    lstm=PPOConfig(iterations=1_000, games=81, steps=50),
    world=World(pairs="absolute"),
    companions=(),
)

_SELF_PLAY = PPOConfig(
    iterations=80,
    games=640,
    steps=50,
    epochs=3,
    minibatches=4,
    optimiser="muon",
    learning_rate=5e-3,
    warm_up=10,
    discount=0.995,
    trace_decay=0.8,
    entropy_bonus=0.005,
)
_CO_OP = replace(_SELF_PLAY, iterations=160, games=600)

FAST = SalesmanConfig(
    clones=_SELF_PLAY,
    policy=_CO_OP,
    predictor=SupervisedConfig(
        iterations=300, games=300, steps=50, minibatches=10, optimiser="muon", learning_rate=5e-3
    ),
    lstm_clones=replace(_SELF_PLAY, learning_rate=3e-3),
    lstm=_CO_OP,
    world=World(pairs="turned"),
    episodes=2_000,
    rehearsal_episodes=2_000,
    batch=500,
    measures=Measures(layouts=20, bound_layouts=20, episodes=500),
)

QUICK = replace(
    # From nothing to an agent in a few minutes: one seed, whose partners are what its own clones have left behind, in a
    # fifth of the training. It is tried with the partners that come with the package, which it has never met.
    FAST,
    clones=replace(FAST.clones, iterations=50, games=320),
    policy=replace(FAST.policy, iterations=60, games=300),
    predictor=replace(FAST.predictor, iterations=60),
    methods=("behaviour_conditioned",),
    seeds=(0,),
    companions=(),
    pretrained_references=True,
    episodes=500,
    rehearsal_episodes=500,
    measures=Measures(closer=(), layouts=10, bound_layouts=10, episodes=500),
)

PRESETS = {"fast": FAST, "paper": PAPER, "quick": QUICK}
