"""Agents that are held against best responses play from given starts: each on its own, with every partner."""

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.evaluation.starts import from_starts, with_each
from coadapt.games.salesman.rules import Salesman, SalesmanState
from coadapt.partners.dirichlet import Stationary
from coadapt.partners.population import Partners

GAME = Salesman(size=4, subgoals=1, max_steps=6)
UP, DOWN, LEFT, RIGHT = 99 * jnp.eye(4)
"""As good as certain."""


def start(main, partner, row):
    """On the row are a subgoal at its left end and the goal, two cells on."""
    agents, subgoals, goal = (jnp.array(cells, jnp.int32) for cells in ([main, partner], [[row, 0]], [row, 2]))
    return SalesmanState(jnp.int32(0), agents, subgoals, goal, jnp.array([False]))


STARTS = [
    [start([0, 1], [0, 3], 0), start([0, 1], [1, 3], 0), start([2, 1], [2, 3], 0)],
    [start([3, 2], [3, 3], 3), start([3, 1], [3, 3], 3), start([3, 1], [3, 0], 3)],
]
"""By layout."""


def stacked(starts):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *starts)


def test_every_partner_is_met_from_every_start_by_who_is_told_its_label(key):
    """A step costs 0.01, the subgoal and the goal pay 0.05 each, and six steps are the most.

    With the first partner both go left. Where the agent is beside the subgoal and its partner beside the goal, that is
    all there is to do; from all other starts but one, where nobody is on that row, the subgoal is collected and nobody
    is on the goal after that. The second goes down and the agent right, which is good for the last start alone: the
    partner stays on the subgoal, and the agent gets to the goal.
    """
    partners = Partners(Stationary(jnp.stack([LEFT, DOWN])), jnp.eye(2), jnp.arange(2))
    as_player = lambda label: Stationary(label[0] * LEFT + label[1] * RIGHT)
    starts = stacked([stacked(row) for row in STARTS])
    played = with_each(key, GAME, starts, (2, 3), partners, as_player, partners.labels)
    assert played.length.tolist() == [[[1, 6, 6], [6, 1, 6]], [[6, 6, 6], [6, 6, 1]]]
    first, second = [[0.09, -0.01, -0.06], [-0.01, 0.09, -0.01]], [[-0.06, -0.06, -0.06], [-0.06, -0.06, 0.09]]
    np.testing.assert_allclose(played.total, [first, second], atol=1e-6)


def test_the_starts_of_one_layout_have_no_axis_for_it(key):
    partners = Partners(Stationary(LEFT[None]), jnp.eye(1), jnp.arange(1))
    played = with_each(key, GAME, stacked(STARTS[0]), (3,), partners, lambda label: Stationary(LEFT), partners.labels)
    assert played.length.tolist() == [[1, 6, 6]]


def test_the_greedy_agent_takes_its_likeliest_action_and_its_partner_does_not(key):
    """Of 400 games in which the partner hardly likes to go left, it does so at once in about a quarter."""
    starts = jax.tree.map(lambda leaf: jnp.repeat(leaf[None], 400, axis=0), STARTS[0][0])
    hardly = Stationary(LEFT / 99_000)
    greedy, not_greedy = (from_starts(key, GAME, starts, 400, hardly, hardly, so) for so in (True, False))
    share = lambda scores: float(jnp.mean(scores.length == 1))
    assert abs(share(greedy) - 1 / 4) < 4 * (3 / 16 / 400) ** 0.5
    assert abs(share(not_greedy) - 1 / 16) < 4 * (15 / 256 / 400) ** 0.5
