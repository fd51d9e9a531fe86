"""What can be had in the salesman's gridworld at best: exact tables, and players that read them.

Beside the best response, which knows whom it plays with, stand players that have to find out and do so exactly: one
does what is best with the likeliest partner, one with the likeliest type. A third is told the type and does what is
best with a partner that is, at every step, another one of its type. So it can be told apart what an agent loses by
acting, at most by not knowing which one of its type it plays with, by what nobody could have known so soon, and by its
predictor.
"""

from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp

from coadapt.agents.best_response import FollowsTable, RespondsToLikeliest
from coadapt.agents.posterior import PartnerEvidence, PartnerPosterior
from coadapt.arrays import Array, Bool, Float, Key, Scalar
from coadapt.evaluation.starts import Played, with_each
from coadapt.games.game import MAIN
from coadapt.games.salesman.layouts import Layout, layout_of, place, start_on
from coadapt.games.salesman.rules import MOVES, Salesman, SalesmanObservation, SalesmanState
from coadapt.oracles.salesman import (
    Behaviour,
    Table,
    at_random,
    behaviour_of,
    best_response,
    check_fits,
    joint_optimum,
)
from coadapt.oracles.tabular import on_average
from coadapt.partners.population import Partners
from coadapt.pipeline.oracle import Optima
from coadapt.players import prepared, shown_first

UNTRAINED = ("best_response_to_likeliest", "best_response_to_likeliest_type", "best_response_to_type")
"""The players that need no training."""


@dataclass(frozen=True)
class SalesmanOracle:
    """The exact truths of one game."""

    game: Salesman

    def posterior(self, partners: Partners) -> PartnerPosterior:
        known = len(partners.ids)
        return PartnerPosterior(evidence_in(self.game), partners.players, partners.labels, jnp.full(known, 1 / known))

    def starts(self, key: Key, number: int) -> SalesmanState:
        for_layout, for_starts = jax.random.split(key)
        layout = layout_of(self.game.reset(for_layout))
        return jax.vmap(lambda key: start_on(key, self.game, layout))(jax.random.split(for_starts, number))

    def optima(self, key: Key, partners: Partners, starts: SalesmanState) -> Optima:
        game, types = self.game, partners.labels.shape[1]
        check_fits(game, responses=len(partners.ids) + types)
        layout = jax.tree.map(lambda leaf: leaf[0], layout_of(starts))

        def respond(behaviour: Behaviour) -> tuple[Played, Any]:
            best = best_response(game, layout, behaviour)
            return Played(*(from_table(starts, table) for table in best.outlook[:2])), best.actions

        behaviours = jax.lax.map(lambda partner: behaviour_of(partner, game, layout), partners.players)
        best, to_each = jax.lax.map(respond, behaviours)
        _, to_type = jax.lax.map(respond, on_average(behaviours, partners.labels))
        by_name = partners._replace(labels=jnp.eye(len(partners.ids)))
        samples = len(partners.ids) * starts.step.size * game.max_steps
        likeliest, likeliest_type = (
            prepared(RespondsToLikeliest(self.posterior(known), following(tables)), samples)
            for known, tables in ((by_name, to_each), (partners, to_type))
        )
        players = (
            lambda label: likeliest,
            lambda label: likeliest_type,
            lambda label: following(to_type[jnp.argmax(label)]),
        )
        play = partial(with_each, key, game, starts, starts.step.shape, partners, told=partners.labels, greedy=True)
        played = (play(as_player=each) for each in players)
        return Optima(best, dict(zip(UNTRAINED, played, strict=True)))

    def joint_optimum(self, key: Key) -> dict[str, Scalar]:
        layout = layout_of(self.game.reset(key))
        mean = lambda table: over_all_starts(self.game, layout, table)
        walker = jax.tree.map(mean, best_response(self.game, layout, at_random(self.game)).outlook)
        named = {f"random_walker_{name}": value for name, value in walker._asdict().items()}
        return {"joint_optimum_length": mean(joint_optimum(self.game, layout)), **named}


def following(table: Any) -> FollowsTable:
    """Who does what a table says, or several stacked."""
    return FollowsTable(table, _place, len(MOVES))


def _place(observation: SalesmanObservation) -> Any:
    return place(observation.own, observation.other, observation.collected)


@cache
def evidence_in(game: Salesman) -> PartnerEvidence:
    """What is seen of a partner: its moves. One that stays has walked into a wall, in a corner into either."""
    observation = lambda: game.observe(game.reset(jax.random.key(0)), MAIN)
    across = lambda observation: observation._replace(own=observation.other, other=observation.own)
    as_partner = lambda observation: shown_first(across(observation))
    return PartnerEvidence(len(MOVES), observation, partial(led_to, game), as_partner)


def led_to(game: Salesman, before: SalesmanObservation, after: SalesmanObservation) -> Bool[Array, "actions"]:
    """Which actions can have brought the other agent from where it was to where it is."""
    reached = jnp.clip(before.other[None] + jnp.asarray(MOVES), 0, game.size - 1)
    return jnp.all(reached == after.other[None], axis=1)


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
