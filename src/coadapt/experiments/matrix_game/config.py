"""The matrix-game experiment as data, and its three presets."""

from dataclasses import dataclass, field, replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from coadapt.configs.checks import MOST_UNITS, distinct, each_between, each_whole, in_batches, shown, whole
from coadapt.games.matrix import PAPER_PAYOFF, MatrixGame, check_payoff
from coadapt.learning.ppo import PPOConfig
from coadapt.learning.supervised import SupervisedConfig
from coadapt.oracles.dirichlet import check_enumerable

ALPHA_RANGE = (1e-6, 1e6)
"""Beyond these a Dirichlet distribution is one action for certain, or all actions alike, as far as floats can tell."""

MOST_STEPS, MOST_SEEDS = 1_000, 1_000
"""In a longer game nothing is left to find out; more seeds would not fit into one program."""


@dataclass(frozen=True)
class Sizes:
    """The paper's layers: units of the recurrent ones, and of the hidden layers after them."""

    predictor_units: int = 32
    predictor_hidden: tuple[int, ...] = (16,)
    policy_hidden: tuple[int, ...] = (6, 16)
    rl2_units: int = 32
    rl2_critic_units: int = 16
    rl2_hidden: tuple[int, ...] = (16,)

    def __post_init__(self) -> None:
        for name in ("predictor_units", "rl2_units", "rl2_critic_units"):
            whole(name, getattr(self, name), most=MOST_UNITS)
        for name in ("predictor_hidden", "policy_hidden", "rl2_hidden"):
            each_whole(name, getattr(self, name), most=MOST_UNITS)


@dataclass(frozen=True)
class MatrixGameConfig:
    """The whole experiment."""

    predictor: SupervisedConfig
    policy: PPOConfig
    rl2: PPOConfig
    sizes: Sizes = field(default_factory=Sizes)
    alphas: tuple[float, ...] = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # the paper names the first two of its six
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    payoff: tuple[tuple[float, ...], ...] = PAPER_PAYOFF
    max_steps: int = 10
    curve_points: int = 20  # how often learning is looked at
    curve_episodes: int = 5_000  # a replicate, each time
    episodes: int = 200_000  # a replicate, at the end, with sampled actions
    greedy_episodes: int = 100_000  # the same with greedy ones
    batch: int = 5_000  # episodes evaluated at a time

    def __post_init__(self) -> None:
        whole("max_steps", self.max_steps, most=MOST_STEPS)
        for name in ("curve_points", "curve_episodes", "episodes", "greedy_episodes", "batch"):
            whole(name, getattr(self, name))
        distinct("alphas", self.alphas)
        each_between("alphas", self.alphas, *ALPHA_RANGE)
        if len({np.float32(alpha) for alpha in self.alphas}) < len(self.alphas):
            raise ValueError(f"alphas must differ by more than single precision can tell, not {shown(self.alphas)}")
        distinct("seeds", self.seeds)
        each_whole("seeds", self.seeds, least=0, most=2**32 - 1)
        if len(self.seeds) > MOST_SEEDS:
            raise ValueError(f"seeds must be at most {MOST_SEEDS} (of one program), not {len(self.seeds)}")
        check_payoff(self.payoff)
        check_enumerable(self.max_steps - 1, len(self.payoff))
        for name in ("episodes", "greedy_episodes"):
            in_batches(name, getattr(self, name), self.batch)
        for name in ("predictor", "policy", "rl2"):
            training = getattr(self, name)
            if training.num_steps != self.max_steps:
                raise ValueError(f"{name}.num_steps must be max_steps ({self.max_steps}), not {training.num_steps}")
            in_batches(f"{name}.iterations", training.iterations, self.curve_points, "curve_points")

    def episodes_of(self, mode: str) -> int:
        """How many episodes a replicate is evaluated on in this mode."""
        return self.episodes if mode == "sample" else self.greedy_episodes

    @property
    def shared_settings(self) -> dict[str, Any]:
        """What every stage depends on: the game, whom it is played with, and the seeds."""
        return {name: getattr(self, name) for name in ("payoff", "max_steps", "alphas", "seeds")}

    @property
    def game(self) -> MatrixGame:
        return MatrixGame(jnp.array(self.payoff, jnp.float32), self.max_steps)


PAPER = MatrixGameConfig(
    # What the paper states is the layers, 50 partners an iteration, ten steps an episode and, if its appendix speaks
    # of both experiments, Adam at 5e-4 with a falling rate. All else is our choice.
    predictor=SupervisedConfig(iterations=4_000),
    policy=PPOConfig(iterations=4_000),
    rl2=PPOConfig(iterations=8_000),
)

_RL2 = PPOConfig(
    iterations=1_500,
    num_envs=200,
    minibatches=5,
    learning_rate=3e-3,
    discount=0.9,
    entropy_coefficient=0.3,
    entropy_span=0.5,
)
FAST = MatrixGameConfig(
    predictor=SupervisedConfig(iterations=2_000, learning_rate=3.2e-2),
    policy=replace(_RL2, iterations=1_000, learning_rate=3e-2, discount=0.0),
    rl2=_RL2,
)

QUICK = replace(
    # The fast preset in a fifth of its steps and of its episodes: what one sees after a few minutes. The predictor gets
    # along with half as many games an iteration; RL2 has as many steps as predictor and policy together.
    FAST,
    predictor=replace(FAST.predictor, iterations=1_000, num_envs=25),
    policy=replace(FAST.policy, iterations=200),
    rl2=replace(FAST.rl2, iterations=325),
    curve_points=5,
    curve_episodes=2_000,
    episodes=40_000,
    greedy_episodes=10_000,
    batch=2_000,
)

PRESETS = {"fast": FAST, "paper": PAPER, "quick": QUICK}
