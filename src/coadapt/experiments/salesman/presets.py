"""The salesman's study as data, and its three presets."""

from dataclasses import dataclass, field, replace

from coadapt.experiments.salesman.showing import SHOWING
from coadapt.experiments.salesman.task import SalesmanTask
from coadapt.learning.ppo import PPOConfig
from coadapt.learning.supervised import SupervisedConfig
from coadapt.pipeline.experiment import Suite
from coadapt.pipeline.methods import METHODS, methods_of
from coadapt.pipeline.pretrained import Package, PretrainedStudy
from coadapt.pipeline.sources.pretrained import Pretrained
from coadapt.pipeline.sources.self_play import SelfPlay
from coadapt.pipeline.study import Measures, Study

PACKAGE = Package("salesman", SalesmanTask)
"""The agents and partners that come with coadapt."""


TRAINED_WITH, NEVER_MET = SelfPlay((0, 1, 2, 3, 4), own=True), SelfPlay((100, 101, 102))


@dataclass(frozen=True)
class SalesmanStudy(Study):
    """The whole experiment."""

    task: SalesmanTask = field(default_factory=SalesmanTask)
    partners: SelfPlay = TRAINED_WITH
    held_out: SelfPlay | Pretrained | None = NEVER_MET
    levels: tuple[tuple[float, ...], ...] = ((30.0, 36.0),)

    def __post_init__(self) -> None:
        super().__post_init__()
        methods_of(self)  # which refuses those that are not there


PAPER = SalesmanStudy(
    # What the paper states: the layers, the iterations of 4000 time steps, absolute coordinates, a population of the
    # run's own older versions, and Adam at 5e-4 with a falling rate. All else is our choice. Eighty games of fifty
    # steps are the 4000; three partners share out 81.
    clones=PPOConfig(iterations=3_000, num_envs=80, num_steps=50),
    policy=PPOConfig(iterations=1_000, num_envs=81, num_steps=50),
    predictor=SupervisedConfig(iterations=5_000, num_envs=81, num_steps=50),
    lstm_clones=PPOConfig(iterations=3_000, num_envs=80, num_steps=50),
    lstm=PPOConfig(iterations=1_000, num_envs=81, num_steps=50),
    task=SalesmanTask(pairs="absolute"),
    partners=SelfPlay(own=True),
    episodes=20_000,
    validation_episodes=4_000,
    batch=1_000,
    measures=Measures(),
)

_SELF_PLAY = PPOConfig(
    iterations=80,
    num_envs=640,
    num_steps=50,
    epochs=3,
    minibatches=4,
    optimiser="muon",
    learning_rate=5e-3,
    warm_up=10,
    discount=0.995,
    gae_lambda=0.8,
    entropy_coefficient=0.005,
)
_CO_OP = replace(_SELF_PLAY, iterations=160, num_envs=600)

FAST = SalesmanStudy(
    clones=_SELF_PLAY,
    policy=_CO_OP,
    predictor=SupervisedConfig(
        iterations=300, num_envs=300, num_steps=50, minibatches=10, optimiser="muon", learning_rate=5e-3
    ),
    lstm_clones=replace(_SELF_PLAY, learning_rate=3e-3),
    lstm=_CO_OP,
    task=SalesmanTask(pairs="turned"),
    episodes=2_000,
    validation_episodes=2_000,
    batch=500,
    measures=Measures(layouts=20, joint_layouts=20, episodes=500),
)

QUICK = replace(
    # From nothing to an agent in a few minutes: one seed, whose partners are what its own clones have left behind, in a
    # fifth of the training. It is tried with the partners that come with the package, which it has never met.
    FAST,
    clones=replace(_SELF_PLAY, iterations=50, num_envs=320),
    policy=replace(FAST.policy, iterations=60, num_envs=300),
    predictor=replace(FAST.predictor, iterations=60),
    methods=("behaviour_conditioned",),
    seeds=(0,),
    partners=SelfPlay(own=True),
    held_out=PACKAGE.partners((100, 101, 102), FAST.task.types),
    episodes=500,
    validation_episodes=500,
    measures=Measures(closer=(), layouts=10, joint_layouts=10, episodes=500),
)

PRESETS = {"fast": FAST, "paper": PAPER, "quick": QUICK}


@dataclass(frozen=True)
class PretrainedSalesman(PretrainedStudy):
    """Whom of the package's agents to let play, and how often."""

    seeds: tuple[int, ...] = field(default_factory=lambda: PACKAGE.seeds(METHODS["behaviour_conditioned"]))
    episodes: int = FAST.episodes  # of a method with a partner
    batch: int = FAST.batch  # of these at a time
    measures: Measures = FAST.measures


PRETRAINED_PRESETS = {
    "fast": PretrainedSalesman(),
    "quick": PretrainedSalesman(episodes=QUICK.episodes, measures=QUICK.measures, both_modes=False),
}
SUITE = Suite(PACKAGE, SHOWING, SalesmanStudy, PretrainedSalesman)
