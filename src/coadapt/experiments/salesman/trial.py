"""Any saved agent with any saved partners, as often as one likes."""

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp

from coadapt.evaluation.returns import Means, play_with_all, side_by_side
from coadapt.experiments.salesman.scores import Cell, cells_of
from coadapt.experiments.salesman.weights import Saved
from coadapt.partners.population import Partners

LARGEST_BATCH = 2_000


def try_out(
    agent: Saved,
    partners: Sequence[Saved],
    episodes: int,
    greedy: bool,
    seed: int,
    advance: Callable[[int], None] = lambda done: None,
) -> list[Cell]:
    """What an agent comes to in so many episodes with each partner; `advance` hears of every batch played."""
    batch = _largest_divisor(episodes, LARGEST_BATCH)
    players = jax.tree.map(lambda *leaves: jnp.stack(leaves), *(partner.player() for partner in partners))
    everyone = Partners(players, jnp.zeros((len(partners), 0)), jnp.arange(len(partners)))
    told = jnp.zeros((len(partners) * side_by_side(batch), 0))
    ours = agent.player()

    @jax.jit
    def play(key, player, everyone) -> Means:
        return play_with_all(key, agent.world.game, everyone, lambda _: player, told, batch, greedy)[0]

    parts = []
    for key in jax.random.split(jax.random.key(seed), episodes // batch):
        parts.append(jax.block_until_ready(play(key, ours, everyone)))
        advance(batch)
    return cells_of(jax.tree.map(lambda *leaves: jnp.stack(leaves), *parts))


def _largest_divisor(number: int, most: int) -> int:
    return max(size for size in range(1, min(number, most) + 1) if number % size == 0)
