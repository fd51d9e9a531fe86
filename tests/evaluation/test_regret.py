"""Regret is what it says: nothing for the best response, and never less than nothing."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.agents.best_response import FollowsTable
from coadapt.evaluation.regret import from_starts, from_table, over_all_starts, shared_layout, starts_on_a_layout
from coadapt.games.salesman import MOVES, Salesman
from coadapt.games.salesman_layouts import layout_of
from coadapt.oracles.salesman import at_random, best_response
from coadapt.partners.behaviour import behaviour_of
from coadapt.partners.dirichlet import Stationary

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


def test_a_player_that_remembers_has_no_table():
    layout = layout_of(GAME.reset(jax.random.key(0)))
    counts_steps = FollowsTable(best_response(GAME, layout, at_random(GAME)).actions)
    with pytest.raises(ValueError, match="remembers"):
        behaviour_of(counts_steps, GAME, layout)


def test_the_mean_over_all_starts_is_that_of_many_that_are_drawn(key):
    """A table of the main agent's row times the partner's column; four standard errors, and none on a taken cell."""
    starts = starts_on_a_layout(key, GAME, 10_000)
    row, column = jnp.arange(4.0)[:, None, None, None, None], jnp.arange(4.0)[None, None, None, :, None]
    table = jnp.broadcast_to(row * column, (4, 4, 4, 4, 4))
    drawn = np.asarray(from_table(starts, table), np.float64)
    assert abs(drawn.mean() - over_all_starts(GAME, shared_layout(starts), table)) < 4 * drawn.std() / 100
