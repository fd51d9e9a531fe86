"""Any saved agent with any saved partners, as often as one likes."""

from collections.abc import Callable, Sequence
from functools import partial

import jax
import jax.numpy as jnp

from coadapt.evaluation.returns import Cell, Means, cells_of, play_with_all, side_by_side
from coadapt.partners.population import Partners
from coadapt.pipeline.saved import Saved
from coadapt.pipeline.sources.mixture import together

BATCH = 2_000
"""So many episodes with each partner at a time; what is left comes last."""


def try_out(
    agent: Saved,
    partners: Sequence[Saved],
    episodes: int,
    greedy: bool,
    seed: int,
    advance: Callable[[int], None] = lambda done: None,
) -> list[Cell]:
    """What an agent comes to in so many episodes with each partner; `advance` hears of every batch played."""
    players = together([jax.tree.map(lambda leaf: leaf[None], partner.player()) for partner in partners])
    everyone = Partners(players, jnp.zeros((len(partners), 0)), jnp.arange(len(partners)))
    ours = agent.player()

    @partial(jax.jit, static_argnames="batch")
    def play(key, player, everyone, batch) -> Means:
        told = jnp.zeros((len(partners) * side_by_side(batch), 0))
        return play_with_all(key, agent.task.game, everyone, lambda _: player, told, batch, greedy).means

    sizes = [min(BATCH, episodes - done) for done in range(0, episodes, BATCH)]
    parts = []
    for key, size in zip(jax.random.split(jax.random.key(seed), len(sizes)), sizes, strict=True):
        parts.append(jax.block_until_ready(play(key, ours, everyone, size)))
        advance(size)
    return cells_of(jax.tree.map(lambda *leaves: jnp.stack(leaves), *parts), sizes)
