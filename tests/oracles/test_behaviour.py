"""A memoryless player as the table of what it does."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.experiments.salesman.oracle import following
from coadapt.games.salesman.layouts import layout_of
from coadapt.games.salesman.rules import MOVES, Salesman
from coadapt.oracles.salesman import at_random, behaviour_of, best_response
from coadapt.partners.dirichlet import Stationary
from coadapt.players import Decision

GAME = Salesman(size=4, subgoals=2, max_steps=12)


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

    def decide(self, seen, memory):
        return Decision(99 * jax.nn.one_hot(jnp.where(seen.observation.own[0] < 2, 3, 1), len(MOVES)), memory, {})


def test_a_partners_table_is_by_where_the_partner_is():
    """The first two axes are the main agent's cell."""
    table = behaviour_of(Steady(), GAME, layout_of(GAME.reset(jax.random.key(0))))
    main_above, partner_above = (slice(None), 0, 2, 3, 1, 0), (slice(None), 3, 1, 0, 2, 0)
    np.testing.assert_allclose(table[main_above], [0, 1, 0, 0], atol=1e-6)
    np.testing.assert_allclose(table[partner_above], [0, 0, 0, 1], atol=1e-6)


def test_a_player_that_remembers_has_no_table():
    layout = layout_of(GAME.reset(jax.random.key(0)))
    counts_steps = following(best_response(GAME, layout, at_random(GAME)).actions)
    with pytest.raises(ValueError, match="remembers"):
        behaviour_of(counts_steps, GAME, layout)
