"""Any agent with any partners, as often as one likes."""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp

from coadapt.arrays import Key
from coadapt.evaluation.returns import Cell, Means, cells_of, play_with_all, side_by_side
from coadapt.games.game import Game
from coadapt.partners.population import Partners
from coadapt.pipeline.sources.mixture import together
from coadapt.players import Player

BATCH = 2_000
"""So many episodes with each partner at a time; what is left comes last."""


def try_out(
    game: Game,
    agent: Player,
    partners: Sequence[Player],
    episodes: int,
    greedy: bool,
    seed: int,
    advance: Callable[[int], None] = lambda done: None,
) -> list[Cell]:
    """What an agent comes to in so many episodes with each partner; `advance` hears of every batch played."""
    players = together([jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], partner) for partner in partners])
    everyone = Partners(players, jnp.zeros((len(partners), 0)), jnp.arange(len(partners)))
    sizes = [min(BATCH, episodes - done) for done in range(0, episodes, BATCH)]
    parts = []
    for key, size in zip(jax.random.split(jax.random.key(seed), len(sizes)), sizes, strict=True):
        parts.append(jax.block_until_ready(_play(key, game, agent, everyone, size, greedy)))
        advance(size)
    return cells_of(jax.tree.map(lambda *leaves: jnp.stack(leaves), *parts), sizes)


@eqx.filter_jit  # here, and not where it is called, for another agent not to compile it again
def _play(key: Key, game: Game, agent: Player, everyone: Partners, batch: int, greedy: bool) -> Means:
    told = jnp.zeros((len(everyone.ids) * side_by_side(batch), 0))
    return play_with_all(key, game, everyone, lambda _: agent, told, batch, greedy).means
