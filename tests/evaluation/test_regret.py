"""Regret is what it says: nothing for the best response, and never less than nothing."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.agents.best_response import FollowsTable
from coadapt.evaluation.regret import from_starts, from_table, over_all_starts, shared_layout, starts_on_a_layout
from coadapt.games.salesman.layouts import Layout, layout_of
from coadapt.games.salesman.rules import MOVES, Salesman
from coadapt.oracles.salesman import at_random, best_response
from coadapt.partners.behaviour import behaviour_of
from coadapt.partners.dirichlet import Stationary
from coadapt.players import Decision

GAME = Salesman(size=4, subgoals=2, max_steps=12)
PARTNER = Stationary(jnp.zeros(len(MOVES)))


def test_starts_share_a_layout_and_nothing_else(key):
    starts = starts_on_a_layout(key, GAME, 50)
    for leaf in layout_of(starts):
        assert (leaf == leaf[:1]).all()
    assert len({str(agents) for agents in starts.agents.tolist()}) > 30


def test_the_best_response_has_no_regret_and_walking_at_random_has(key):
    """The same 4,000 starts; a pooled paired test at four standard errors."""
    starts = starts_on_a_layout(key, GAME, 4_000)
    best = best_response(GAME, shared_layout(starts), at_random(GAME))
    respond, most = FollowsTable(best.actions), from_table(starts, best.outlook.total)
    regret = lambda player: np.asarray(most - from_starts(key, GAME, starts, player, PARTNER).total, np.float64)
    error = lambda values: values.std() / len(values) ** 0.5
    none, some = regret(respond), regret(PARTNER)
    assert abs(none.mean()) < 4 * error(none)
    assert some.mean() > 4 * error(some)


def test_a_player_becomes_the_table_of_what_it_does():
    layout = layout_of(GAME.reset(jax.random.key(0)))
    shares = jnp.array([0.1, 0.2, 0.3, 0.4])
    table = behaviour_of(Stationary(jnp.log(shares)), GAME, layout)
    assert table.shape == (4, 4, 4, 4, 4, 4)
    np.testing.assert_allclose(table[:, 1, 2, 3, 0, 2], shares, atol=1e-6)


class Steady(NamedTuple):
    """It goes right in the upper half of the grid, and down in the lower."""

    def start(self, key):
        return ()

    def decide(self, observation, memory):
        return Decision(99 * jax.nn.one_hot(jnp.where(observation.own[0] < 2, 3, 1), len(MOVES)), memory, {})


def test_a_partners_table_is_by_where_the_partner_is():
    """The first two axes are the main agent's cell."""
    table = behaviour_of(Steady(), GAME, layout_of(GAME.reset(jax.random.key(0))))
    main_above, partner_above = (slice(None), 0, 2, 3, 1, 0), (slice(None), 3, 1, 0, 2, 0)
    np.testing.assert_allclose(table[main_above], [0, 1, 0, 0], atol=1e-6)
    np.testing.assert_allclose(table[partner_above], [0, 0, 0, 1], atol=1e-6)


def test_a_player_that_remembers_has_no_table():
    layout = layout_of(GAME.reset(jax.random.key(0)))
    counts_steps = FollowsTable(best_response(GAME, layout, at_random(GAME)).actions)
    with pytest.raises(ValueError, match="remembers"):
        behaviour_of(counts_steps, GAME, layout)


def test_all_starts_of_a_grid_of_four_cells():
    """Two cells are taken, so there are two starts: one agent on each of the others. A place is told by its square."""
    game, layout = Salesman(size=2, subgoals=1), Layout(jnp.array([[0, 0]]), jnp.array([1, 1]))
    table = jnp.arange(32.0).reshape(2, 2, 2, 2, 2) ** 2
    assert over_all_starts(game, layout, table) == (table[0, 1, 1, 0, 0] + table[1, 0, 0, 1, 0]) / 2


def test_the_mean_over_all_starts_is_that_of_many_that_are_drawn(key):
    """A table of the main agent's row times the partner's column; four standard errors, and none on a taken cell."""
    starts = starts_on_a_layout(key, GAME, 10_000)
    row, column = jnp.arange(4.0)[:, None, None, None, None], jnp.arange(4.0)[None, None, None, :, None]
    table = jnp.broadcast_to(row * column, (4, 4, 4, 4, 4))
    drawn = np.asarray(from_table(starts, table), np.float64)
    assert abs(drawn.mean() - over_all_starts(GAME, shared_layout(starts), table)) < 4 * drawn.std() / 100
