"""The salesman's oracle: its starts, its tables, and best responses, which have no regret."""

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.evaluation.starts import from_starts
from coadapt.experiments.salesman.oracle import SalesmanOracle, following, from_table, over_all_starts
from coadapt.games.salesman.layouts import Layout, layout_of
from coadapt.games.salesman.rules import MOVES, Salesman
from coadapt.oracles.salesman import at_random, best_response
from coadapt.oracles.tabular import on_average
from coadapt.partners.dirichlet import Stationary

GAME = Salesman(size=4, subgoals=2, max_steps=12)
ORACLE = SalesmanOracle(GAME)
PARTNER = Stationary(jnp.zeros(len(MOVES)))


def shared_layout(starts):
    """The layout that all these starts are on."""
    return layout_of(jax.tree.map(lambda leaf: leaf[0], starts))


def test_starts_share_a_layout_and_nothing_else(key):
    starts = ORACLE.starts(key, 50)
    for leaf in layout_of(starts):
        assert (leaf == leaf[:1]).all()
    assert len({str(agents) for agents in starts.agents.tolist()}) > 30


def test_the_best_response_has_no_regret_and_walking_at_random_has(key):
    """The same 4,000 starts; a pooled paired test at four standard errors."""
    starts = ORACLE.starts(key, 4_000)
    best = best_response(GAME, shared_layout(starts), at_random(GAME))
    respond, most = following(best.actions), from_table(starts, best.outlook.total)
    regret = lambda player: np.asarray(most - from_starts(key, GAME, starts, 4_000, player, PARTNER).total, np.float64)
    error = lambda values: values.std() / len(values) ** 0.5
    none, some = regret(respond), regret(PARTNER)
    assert abs(none.mean()) < 4 * error(none)
    assert some.mean() > 4 * error(some)


def test_all_starts_of_a_grid_of_four_cells():
    """Two cells are taken, so there are two starts: one agent on each of the others. A place is told by its square."""
    game, layout = Salesman(size=2, subgoals=1), Layout(jnp.array([[0, 0]]), jnp.array([1, 1]))
    table = jnp.arange(32.0).reshape(2, 2, 2, 2, 2) ** 2
    assert over_all_starts(game, layout, table) == (table[0, 1, 1, 0, 0] + table[1, 0, 0, 1, 0]) / 2


def test_the_mean_over_all_starts_is_that_of_many_that_are_drawn(key):
    """A table of the main agent's row times the partner's column; four standard errors, and none on a taken cell."""
    starts = ORACLE.starts(key, 10_000)
    row, column = jnp.arange(4.0)[:, None, None, None, None], jnp.arange(4.0)[None, None, None, :, None]
    table = jnp.broadcast_to(row * column, (4, 4, 4, 4, 4))
    drawn = np.asarray(from_table(starts, table), np.float64)
    assert abs(drawn.mean() - over_all_starts(GAME, shared_layout(starts), table)) < 4 * drawn.std() / 100


def test_partners_of_a_type_are_averaged_over_populations():
    """Two populations of three types: the first and the fourth are alike, and so on."""
    behaviours = jnp.array([0.0, 10, 20, 2, 14, 26])[:, None]
    average = on_average(behaviours, jnp.tile(jnp.eye(3), (2, 1)))
    np.testing.assert_allclose(average, [[1], [12], [23]])


def test_a_type_of_which_there_are_more_is_averaged_over_all_of_them():
    behaviours, types = jnp.array([0.0, 10, 6, 3])[:, None], jnp.array([0, 1, 0, 0])
    np.testing.assert_allclose(on_average(behaviours, jnp.eye(2)[types]), [[3], [10]], rtol=1e-6)
