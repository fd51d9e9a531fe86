"""How far the salesman's agents are from the best there is.

Each reference partner has an exact best response. What that is worth, from many starts on many layouts, is worked out
once; then every agent plays from the same starts. Beside the best response, which knows whom it plays with, stand two
players that have to find out and do so exactly: one is the conditioned policy, the other does what is best with the
likeliest partner, or with the likeliest kind. A third is told the kind and does what is best with a partner that is, at
every step, another one of its kind. So it can be told apart what the agent loses by acting, at most by not knowing
which one of its kind it plays with, by what nobody could have known so soon, and by its predictor.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.agents.best_response import FollowsTable, RespondsToLikeliest
from coadapt.arrays import Array, Count, Float, Key, Scalar
from coadapt.encounters import Greedy
from coadapt.evaluation.regret import from_starts, from_table, over_all_starts, shared_layout, starts_on_a_layout
from coadapt.experiments.salesman.clones import stage_name
from coadapt.experiments.salesman.config import LAYOUTS_AT_ONCE, SalesmanConfig
from coadapt.experiments.salesman.seats import (
    THIS_RUN,
    Seat,
    Source,
    display_of,
    in_each_mode,
    posterior_of,
    seats_of,
    taken_by,
    told_labels,
)
from coadapt.experiments.salesman.training import acting_on
from coadapt.experiments.salesman.world import KINDS
from coadapt.games.salesman.layouts import layout_of
from coadapt.games.salesman.rules import SalesmanState
from coadapt.oracles.salesman import Actions, Behaviour, Outlook, at_random, best_response, check_fits, joint_optimum
from coadapt.partners.behaviour import behaviour_of
from coadapt.partners.population import Partners
from coadapt.pipeline.stages import key_for, measuring_stage
from coadapt.runs.stage import Info, Inputs, Stage


class Bounds(NamedTuple):
    """What can be had in this game at best, on average over all starts on a layout."""

    together: Scalar  # the fewest steps that two players need
    with_a_random_walker: Outlook  # what the best response to one comes to


def bounds_of(config: SalesmanConfig) -> Stage:
    """The stage that works out the bounds of the game itself, a layout at a time."""
    game = config.world.game

    def measure(inputs: Inputs, key: Key, number: Count) -> tuple[Bounds, Info]:
        del inputs
        layout = layout_of(game.reset(jax.random.fold_in(key, number)))
        mean = lambda table: over_all_starts(game, layout, table)
        beside = jax.tree.map(mean, best_response(game, layout, at_random(game)).outlook)
        return Bounds(mean(joint_optimum(game, layout)), beside), {"return": beside.total[None]}

    layouts = config.measures.bound_layouts
    settings = {"world": config.world, "layouts": layouts}
    display = {"replicates": ("a random walker",), "shown": ("return",)}
    display |= {"larger_by": ("measures.bound_layouts", "world.game.size")}
    return measuring_stage("bounds", __name__, settings, measure, key_for(0, "bounds"), layouts, (), **display)


LARGER_BY = "measures.layouts or measures.starts", "measures.starts"


class Played(NamedTuple):
    """What a player came to with each partner, from each start on each layout."""

    total: Float[Array, "partners *layouts starts"]
    length: Float[Array, "partners *layouts starts"]


class Ceilings(NamedTuple):
    """What can be had with each reference partner, from each start on a layout."""

    best: Played  # by its best response, on average
    responding: Played  # by the best response to whoever it most likely is
    responding_to_kind: Played  # by the best response to what those of the likeliest kind do on average
    told_the_kind: Played  # by the best response to what those of its kind do on average


def ceilings_of(config: SalesmanConfig, source: Source = THIS_RUN) -> Stage:
    """The stage that works out the best response to every reference partner, a layout at a time."""
    game = config.world.game

    def measure(inputs: Inputs, key: Key, number: Count) -> tuple[Ceilings, Info]:
        check_fits(game, responses=len(KINDS) * (len(config.references) + 1))
        partners, starts = source.partners(config, inputs), _starts(config, number)
        layout = shared_layout(starts)

        def respond(behaviour: Behaviour) -> tuple[Played, Actions]:
            best = best_response(game, layout, behaviour)
            return Played(*(from_table(starts, table) for table in best.outlook[:2])), best.actions

        behaviours = jax.lax.map(lambda partner: behaviour_of(partner, game, layout), partners.players)
        best, to_each = jax.lax.map(respond, behaviours)
        _, to_kind = jax.lax.map(respond, _on_average(behaviours, partners.labels))
        by_name = partners._replace(labels=jnp.eye(len(partners.ids)))
        finding_out = [
            taken_by(RespondsToLikeliest(posterior_of(config, known), tables), partners.labels)
            for known, tables in ((by_name, to_each), (partners, to_kind))
        ]
        told = Seat(lambda label: FollowsTable(to_kind[jnp.argmax(label)]), partners.labels)
        for_play = jax.random.fold_in(key, number)
        played = (_with_each(for_play, config, starts, partners, seat, greedy=True) for seat in (*finding_out, told))
        return Ceilings(best, *played), {"return": jnp.mean(best.total)[None]}

    needs, key = source.needs(config.references), key_for(0, "responding")
    settings, layouts = _settings(config), config.measures.layouts
    display = {"replicates": ("all partners",), "shown": ("return",), "larger_by": LARGER_BY}
    return measuring_stage("ceilings", __name__, settings, measure, key, layouts, needs, **display)


def _on_average(
    behaviours: Float[Array, "partner *table"], labels: Float[Array, "partner kind"]
) -> Float[Array, "kind *table"]:
    """What the partners of each kind do on average, wherever they may be."""
    shares = labels / jnp.sum(labels, axis=0, keepdims=True)
    return jnp.tensordot(shares.T, behaviours, axes=1)


def regret_of(config: SalesmanConfig, seed: int, source: Source = THIS_RUN) -> Stage:
    """The stage that lets the agents of one seed play from all starts, with every reference partner."""

    def measure(inputs: Inputs, key: Key, part: Count) -> tuple[dict[str, dict[str, Played]], Info]:
        partners, networks = source.partners(config, inputs), source.networks(inputs, seed)
        layouts = part * LAYOUTS_AT_ONCE + jnp.arange(LAYOUTS_AT_ONCE)
        starts = jax.vmap(lambda layout: _starts(config, layout))(layouts)
        for_play = jax.random.fold_in(key, part)
        play = lambda seat, greedy: _with_each(for_play, config, starts, partners, seat, greedy)
        seats = _regretting(config, networks, partners)
        found = {method: in_each_mode(partial(play, seat), source.modes) for method, seat in seats.items()}
        return found, {method: jnp.mean(of[source.modes[-1]].total)[None] for method, of in found.items()}

    needs = source.needs(config.references, seed, config.trainings)
    name, parts = stage_name("regret", seed), config.measures.layouts // LAYOUTS_AT_ONCE
    settings = _settings(config) | {"seed": seed, "feed": config.feed, "methods": config.methods, "modes": source.modes}
    display = display_of(seed, *config.methods[:2]) | {"larger_by": LARGER_BY}
    return measuring_stage(name, __name__, settings, measure, key_for(seed, "regret"), parts, needs, **display)


def _regretting(config: SalesmanConfig, networks: Callable[[str], Any], partners: Partners) -> dict[str, Seat]:
    """Whose regret is measured: all methods', and the policy's when it knows more than it could."""
    labels = partners.labels
    seats = seats_of(config, networks, labels)
    if "behaviour_conditioned" in seats:
        policy = networks("policy")
        seats["true_label"] = told_labels(policy, labels)
        seats["exact_posterior"] = taken_by(acting_on(posterior_of(config, partners), policy, config.feed), labels)
    return seats


def _starts(config: SalesmanConfig, layout: Count) -> SalesmanState:
    """The starts on one layout. Which they are depends on its number alone: they are the same for everyone."""
    key = jax.random.fold_in(key_for(0, "layouts"), layout)
    return starts_on_a_layout(key, config.world.game, config.measures.starts)


def _with_each(
    key: Key, config: SalesmanConfig, starts: SalesmanState, partners: Partners, seat: Seat, greedy: Greedy
) -> Played:
    """An episode from each start with every partner; the seat is told something for each of them."""
    flat = jax.tree.map(lambda leaf, step=starts.step: leaf.reshape(-1, *leaf.shape[step.ndim :]), starts)

    def with_one(row) -> Played:
        partner, told = row
        scores = from_starts(key, config.world.game, flat, seat.as_player(told), partner, greedy)
        return Played(scores.total.reshape(starts.step.shape), scores.length.reshape(starts.step.shape))

    return jax.lax.map(with_one, (partners.players, seat.told))


def _settings(config: SalesmanConfig) -> dict[str, Any]:
    measures = config.measures
    return {
        "world": config.world,
        "references": config.references,
        "layouts": measures.layouts,
        "starts": measures.starts,
    }


class Regret(NamedTuple):
    """How much less than the best response a player came to with one partner."""

    best_total: float  # the best response's return
    best_length: float
    lost: np.ndarray  # by layout: so much less the player's return is
    longer: np.ndarray  # by layout: so many more steps it takes


def regrets_of(best: Played, played: Played) -> list[Regret]:
    """With each partner; all is by layout, partner and start."""
    (most, fewest), (total, length) = ([np.asarray(values, np.float64) for values in of] for of in (best, played))
    best_total, best_length = (table.mean(axis=(0, 2)) for table in (most, fewest))
    lost, longer = ((more - less).mean(axis=2) for more, less in ((most, total), (length, fewest)))
    return [Regret(float(best_total[n]), float(best_length[n]), lost[:, n], longer[:, n]) for n in range(lost.shape[1])]


def by_layout(played: Played) -> Played:
    """What was played in parts (part, partner, layout, start) as layout, partner, start."""
    moved = (np.moveaxis(np.asarray(values), 1, 2) for values in played)
    return Played(*(values.reshape(-1, *values.shape[2:]) for values in moved))  # pyright: ignore[reportArgumentType] (NumPy's)
