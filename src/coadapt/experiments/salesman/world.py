"""Where the salesman's experiment takes place: the game, how it is seen, and the size of all networks."""

from dataclasses import dataclass, field, replace

import jax.numpy as jnp

from coadapt.agents.relational import RelationSizes
from coadapt.configs.checks import MOST_UNITS, each_whole, one_of, positive, whole
from coadapt.games.salesman.pairs import AbsolutePairs, RelativePairs, TurnedPairs
from coadapt.games.salesman.rules import Salesman
from coadapt.learning.ppo import PPOConfig
from coadapt.learning.supervised import SupervisedConfig
from coadapt.memory import check_memory
from coadapt.networks.relation import worth_tabulating
from coadapt.players import PairView

KINDS = ("novice", "intermediate", "skilled")
"""Of what kind a partner can be: its label is one of these, as one-hot."""

NO_LABEL = jnp.zeros(len(KINDS))
"""What a policy is told that is told nothing."""

BYTES_A_ROW = 200
"""What it takes to make a row of the table of pairs: eight features, and what they are made of, in double precision."""

VIEWS = {"relative": RelativePairs, "turned": TurnedPairs, "absolute": AbsolutePairs}


@dataclass(frozen=True)
class Sizes:
    """The paper's layers: those of the relation network, and what is on top of it.

    How large the hidden layers on top of it are, the paper does not say.
    """

    before_sum: tuple[int, ...] = (128,) * 7
    after_sum: tuple[int, ...] = (64, 64)
    policy_hidden: tuple[int, ...] = (128, 128)  # of memoryless policies and of all critics
    lstm_units: int = 64
    predictor_hidden: tuple[int, ...] = (64, 64)

    def __post_init__(self):
        for name in ("before_sum", "after_sum", "policy_hidden", "predictor_hidden"):
            each_whole(name, getattr(self, name), most=MOST_UNITS)
        for name in ("before_sum", "after_sum"):
            if not getattr(self, name):
                raise ValueError(f"{name} must have at least one layer")
        whole("lstm_units", self.lstm_units, most=MOST_UNITS)


@dataclass(frozen=True)
class World:
    """What every stage depends on."""

    game: Salesman = field(default_factory=Salesman)
    sizes: Sizes = field(default_factory=Sizes)
    pairs: str = "relative"  # how places are seen: relative, turned (the same from home) or absolute
    reward_scale: float = 10.0  # of rewards in training, so that values are of the order of one

    def __post_init__(self):
        one_of("pairs", self.pairs, VIEWS)
        positive("reward_scale", self.reward_scale)

    @property
    def training_game(self) -> Salesman:
        """The game with the rewards that networks learn from."""
        scaled = {name: self.reward_scale * getattr(self.game, name) for name in ("step_reward", "goal_reward")}
        return replace(self.game, **scaled)

    def relation_sizes(self, training: PPOConfig | SupervisedConfig) -> RelationSizes:
        """The relation network of all minds, arranged for the minibatches of a training."""
        view = VIEWS[self.pairs](self.game.size)
        self.check_table(view.rows)
        minibatches = training.minibatches if isinstance(training, PPOConfig) else 1
        pairs = training.steps_per_iteration // minibatches * 2 * (self.game.subgoals + 2)
        return self.looking_through(view, worth_tabulating(view.rows, pairs))

    def check_table(self, rows: int) -> None:
        """Refuse a grid on which a pair can be so many things that a table of them does not fit into memory."""
        grid = f"{self.game.size}x{self.game.size} grid, seen as {self.pairs}"
        remedy = "make world.game.size smaller" + (", or see pairs as relative" if self.pairs == "absolute" else "")
        check_memory(f"the table of all pairs of a {grid}", rows * BYTES_A_ROW, remedy)

    def looking_through(self, view: PairView, tabulated: bool) -> RelationSizes:
        """The relation network of all minds, arranged as is said."""
        sizes = self.sizes
        return RelationSizes(view, sizes.before_sum, sizes.after_sum, sizes.policy_hidden, tabulated)

    def check_training(self, name: str, training: PPOConfig | SupervisedConfig, points: int) -> None:
        """Whether a training fits the game, and is looked at after whole numbers of iterations."""
        if training.steps < self.game.max_steps:
            raise ValueError(f"{name}.steps must cover an episode ({self.game.max_steps}), not {training.steps}")
        if training.iterations % points:
            raise ValueError(f"{name}.iterations ({training.iterations}) must be a multiple of curve_points ({points})")
