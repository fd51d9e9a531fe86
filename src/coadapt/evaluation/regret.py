"""How far agents are from the best there is: on the same layouts, from the same starts, with the same partners."""

from typing import Any

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Float, Key, Scalar
from coadapt.encounters import Greedy, rollout, start_episode
from coadapt.evaluation.episodes import EpisodeScores, episode_scores
from coadapt.games.salesman.layouts import Layout, StartsAt, layout_of, place, start_on
from coadapt.games.salesman.rules import Salesman, SalesmanState
from coadapt.oracles.salesman import Table
from coadapt.players import Player


def starts_on_a_layout(key: Key, game: Salesman, number: int) -> SalesmanState:
    """Games that differ in nothing but where the agents start."""
    for_layout, for_starts = jax.random.split(key)
    layout = layout_of(game.reset(for_layout))
    return jax.vmap(lambda key: start_on(key, game, layout))(jax.random.split(for_starts, number))


def shared_layout(starts: SalesmanState) -> Layout:
    """The layout that all these starts are on."""
    return jax.tree.map(lambda leaf: leaf[0], layout_of(starts))


def from_table(starts: SalesmanState, table: Table) -> Float[Array, "starts"]:
    """What a table of their layout has for each start."""
    at = jax.vmap(lambda state: place(state.agents[0], state.agents[1], state.collected))(starts)
    return table[at]


def over_all_starts(game: Salesman, layout: Layout, table: Table) -> Scalar:
    """The mean of a table over everything that an episode on this layout may start with."""
    free = jnp.ones((game.size, game.size)).at[layout.subgoals[:, 0], layout.subgoals[:, 1]].set(0)
    free = free.at[layout.goal[0], layout.goal[1]].set(0).ravel()
    each_on_its_own = free[:, None] * free[None] * (1 - jnp.eye(game.size**2))
    return jnp.average(table[..., 0].reshape(each_on_its_own.shape), weights=each_on_its_own)


def from_starts(
    key: Key, game: Salesman, starts: SalesmanState, player: Player, partner: Any, greedy: Greedy = False
) -> EpisodeScores:
    """An episode from each start."""
    players = player, partner

    def one(key: Key, start: SalesmanState):
        here = StartsAt(game, start)
        return rollout(start_episode(key, here, players), here, players, game.max_steps, greedy)[1]

    return episode_scores(jax.vmap(one)(jax.random.split(key, len(starts.step)), starts))
