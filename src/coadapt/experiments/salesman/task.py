"""The salesman's task: the game, how networks see it, and their sizes."""

from dataclasses import dataclass, field, replace

from coadapt.agents.encoders import RelationSpec
from coadapt.configs.checks import MOST_UNITS, each_whole, one_of, positive, whole
from coadapt.experiments.salesman.oracle import SalesmanOracle
from coadapt.games.salesman.pairs import AbsolutePairs, RelativePairs, TurnedPairs
from coadapt.games.salesman.rules import Salesman
from coadapt.memory import check_memory
from coadapt.pipeline.task import Heads

TYPES = ("novice", "intermediate", "skilled")
"""Everything that is stored or comes with the package has them in this order."""

BYTES_A_ROW = 200
"""What it takes to make a row of the table of pairs: eight features, and what they are made of, in double precision."""

VIEWS: dict[str, type[RelativePairs | TurnedPairs | AbsolutePairs]] = {
    "relative": RelativePairs,
    "turned": TurnedPairs,
    "absolute": AbsolutePairs,
}

MEMORYLESS = ("policy", "critic")
"""The roles of networks that are told a label, which joins the sum over pairs."""


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

    def __post_init__(self) -> None:
        for name in ("before_sum", "after_sum", "policy_hidden", "predictor_hidden"):
            each_whole(name, getattr(self, name), most=MOST_UNITS)
        for name in ("before_sum", "after_sum"):
            if not getattr(self, name):
                raise ValueError(f"{name} must have at least one layer")
        whole("lstm_units", self.lstm_units, most=MOST_UNITS)


@dataclass(frozen=True)
class SalesmanTask:
    """What every stage depends on."""

    game: Salesman = field(default_factory=Salesman)
    sizes: Sizes = field(default_factory=Sizes)
    pairs: str = "relative"  # how places are seen: relative, turned (the same from home) or absolute
    reward_scale: float = 10.0  # of rewards in training, so that values are of the order of one

    def __post_init__(self) -> None:
        one_of("pairs", self.pairs, VIEWS)
        positive("reward_scale", self.reward_scale)

    @property
    def name(self) -> str:
        return "salesman"

    @property
    def types(self) -> tuple[str, ...]:
        return TYPES

    @property
    def learning_game(self) -> Salesman:
        scaled = {name: self.reward_scale * getattr(self.game, name) for name in ("step_reward", "goal_reward")}
        return replace(self.game, **scaled)

    @property
    def heads(self) -> Heads:
        sizes = self.sizes
        return Heads((*sizes.after_sum, *sizes.policy_hidden), sizes.lstm_units, sizes.predictor_hidden)

    def encoder(self, role: str) -> RelationSpec:
        view = VIEWS[self.pairs](self.game.size)
        self.check_table(view.rows)
        return RelationSpec(view, self.sizes.before_sum, () if role in MEMORYLESS else self.sizes.after_sum)

    @property
    def oracle(self) -> SalesmanOracle:
        return SalesmanOracle(self.game)

    def check_table(self, rows: int) -> None:
        """Refuse a grid on which a pair can be so many things that a table of them does not fit into memory."""
        grid = f"{self.game.size}x{self.game.size} grid, seen as {self.pairs}"
        remedy = "make task.game.size smaller" + (", or see pairs as relative" if self.pairs == "absolute" else "")
        check_memory(f"the table of all pairs of a {grid}", rows * BYTES_A_ROW, remedy)
