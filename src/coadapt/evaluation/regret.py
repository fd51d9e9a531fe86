"""How far agents are from the best there is: on the same layouts, from the same starts, with the same partners."""

from typing import Any, NamedTuple

import jax

from coadapt.arrays import Array, Float, Key
from coadapt.encounters import meet, play
from coadapt.evaluation.episodes import EpisodeScores, episode_scores
from coadapt.games.salesman import Salesman, SalesmanState
from coadapt.games.salesman_layouts import StartsAt, layout_of, place, start_on
from coadapt.oracles.salesman import best_response
from coadapt.partners.behaviour import behaviour_of
from coadapt.players import Player


class Ceiling(NamedTuple):
    """What the best response to a partner comes to, for each start."""

    total: Float[Array, "starts"]
    length: Float[Array, "starts"]
    finished: Float[Array, "starts"]


def starts_on_a_layout(key: Key, game: Salesman, number: int) -> SalesmanState:
    """Games that differ in nothing but where the agents start."""
    for_layout, for_starts = jax.random.split(key)
    layout = layout_of(game.reset(for_layout))
    return jax.vmap(lambda key: start_on(key, game, layout))(jax.random.split(for_starts, number))


def ceiling(game: Salesman, starts: SalesmanState, partner: Player) -> Ceiling:
    """The exact value of the best response to a memoryless partner, for starts on one layout."""
    layout = jax.tree.map(lambda leaf: leaf[0], layout_of(starts))
    outlook = best_response(game, layout, behaviour_of(partner, game, layout)).outlook
    at = jax.vmap(lambda state: place(state.agents[0], state.agents[1], state.collected))(starts)
    return Ceiling(*(table[at] for table in outlook))


def from_starts(
    key: Key, game: Salesman, starts: SalesmanState, player: Player, partner: Any, greedy: bool = False
) -> EpisodeScores:
    """An episode from each start."""
    players = player, partner

    def one(key: Key, start: SalesmanState):
        here = StartsAt(game, start)
        return play(meet(key, here, players), here, players, game.max_steps, greedy)[1]

    return episode_scores(jax.vmap(one)(jax.random.split(key, len(starts.step)), starts))
