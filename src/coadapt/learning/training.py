"""What every learner does alike: for how long it learns and by which steps, and whom it plays with meanwhile."""

from collections.abc import Callable
from dataclasses import dataclass

import jax

from coadapt.arrays import Array, Float, Key, Vector
from coadapt.configs.checks import MOST_GAMES, MOST_STEPS, one_of, positive, whole
from coadapt.encounters import Transition, rollouts_with_each
from coadapt.games.game import Game
from coadapt.learning.optimiser import OPTIMISERS
from coadapt.partners.population import Population, check_partners, check_population, label_by_game
from coadapt.players import Player


@dataclass(frozen=True)
class TrainingConfig:
    """How anything learns. The learning rate falls linearly to zero over training."""

    iterations: int
    num_envs: int = 50  # shared out among the partners that are drawn
    num_steps: int = 10  # played in each game in one iteration
    minibatches: int = 1  # of whole games, a step of learning each
    optimiser: str = "adam"  # or muon, see `optimiser`
    learning_rate: float = 5e-4
    max_gradient_norm: float = 0.5

    def __post_init__(self) -> None:
        for name in ("iterations", "minibatches"):
            whole(name, getattr(self, name))
        whole("num_envs", self.num_envs, most=MOST_GAMES)
        whole("num_steps", self.num_steps, most=MOST_STEPS)
        if self.num_envs % self.minibatches:
            raise ValueError(f"num_envs ({self.num_envs}) must be a multiple of minibatches ({self.minibatches})")
        one_of("optimiser", self.optimiser, OPTIMISERS)
        for name in ("learning_rate", "max_gradient_norm"):
            positive(name, getattr(self, name))

    @property
    def steps_per_iteration(self) -> int:
        """Environment steps consumed by one iteration."""
        return self.num_envs * self.num_steps


def play_with_partners(
    for_partners: Key,
    for_games: Key,
    game: Game,
    population: Population,
    as_player: Callable[[Vector], Player],
    config: TrainingConfig,
) -> tuple[Transition, Float[Array, "games label"]]:
    """Games with partners newly met: the transitions by game and time, and the partners' labels by game.

    `as_player(label)` is who plays with a partner of this label.
    """
    partners = check_partners(check_population(population).draw(for_partners, config.num_envs))
    keys = jax.random.split(for_games, (len(partners.ids), config.num_envs // len(partners.ids)))  # its share for each
    labels = label_by_game(config.num_envs, partners)
    return rollouts_with_each(keys, game, partners.players, as_player, labels, config.num_steps), labels
