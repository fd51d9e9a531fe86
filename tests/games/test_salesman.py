"""The rules, on layouts small enough to follow by hand; and the placement, against what is known of thousands."""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.games.game import MAIN, PARTNER
from coadapt.games.salesman.pairs import KINDS, AbsolutePairs, RelativePairs, TurnedPairs, together
from coadapt.games.salesman.rules import MOVES, Salesman, SalesmanState, distinct
from coadapt.games.salesman.symmetry import Turn, home, turned, turned_moves
from coadapt.oracles.salesman_plans import best_plans

UP, DOWN, LEFT, RIGHT = range(4)
GAME = Salesman(size=4, subgoals=2, max_steps=5)


def layout(agents, subgoals, goal, collected=(False, False), step=0):
    cells = [jnp.array(each, jnp.int32) for each in (agents, subgoals, goal)]
    return SalesmanState(jnp.int32(step), cells[0], cells[1], cells[2], jnp.array(collected))


def move(state, main, partner, game=GAME):
    return game.step(state, (jnp.int32(main), jnp.int32(partner)))


def test_both_move_at_once_walls_hold_and_cells_are_shared():
    state, outcome = move(layout([[0, 0], [0, 2]], [[3, 3], [3, 0]], [2, 2]), UP, LEFT)
    assert state.agents.tolist() == [[0, 0], [0, 1]]
    state, _ = move(state, RIGHT, LEFT)
    assert state.agents.tolist() == [[0, 1], [0, 0]]
    state, _ = move(state, LEFT, DOWN)
    assert state.agents.tolist() == [[0, 0], [1, 0]]
    state, outcome = move(state, DOWN, RIGHT)
    assert state.agents.tolist() == [[1, 0], [1, 1]]
    state, _ = move(state, RIGHT, UP)
    state, _ = move(state, UP, UP)
    assert state.agents.tolist() == [[0, 1], [0, 1]]
    assert float(outcome.reward) == pytest.approx(-0.01)


def test_goals_pay_once_whoever_comes():
    state, outcome = move(layout([[0, 0], [3, 3]], [[0, 1], [3, 2]], [2, 2]), RIGHT, LEFT)
    assert state.collected.tolist() == [True, True]
    assert float(outcome.reward) == pytest.approx(-0.01 + 2 * 0.05)
    assert not outcome.terminated
    _, outcome = move(state, RIGHT, RIGHT)
    assert float(outcome.reward) == pytest.approx(-0.01)


@pytest.mark.parametrize("collected", [(False, False), (True, False)])
def test_the_goal_counts_only_when_all_subgoals_are_taken(collected):
    state, outcome = move(layout([[2, 1], [0, 0]], [[3, 3], [3, 2]], [2, 2], collected), RIGHT, UP)
    assert state.agents[MAIN].tolist() == [2, 2]
    assert not outcome.terminated
    assert float(outcome.reward) == pytest.approx(-0.01)


def test_the_goal_may_be_taken_in_the_step_that_takes_the_last_subgoal():
    """One agent steps onto the last subgoal, the other onto the goal, or stands there already, held by a wall."""
    for agents in ([[3, 1], [2, 3]], [[3, 1], [3, 3]]):
        state = layout(agents, [[3, 2], [0, 0]], [3, 3], collected=(False, True))
        _, outcome = move(state, RIGHT, DOWN)
        assert outcome.terminated
        assert not outcome.truncated
        assert float(outcome.reward) == pytest.approx(-0.01 + 2 * 0.05)


def test_the_step_limit_cuts_off_unless_the_goal_is_reached():
    state = layout([[0, 0], [0, 1]], [[3, 3], [3, 2]], [2, 2], step=4)
    _, outcome = move(state, UP, UP)
    assert (bool(outcome.terminated), bool(outcome.truncated)) == (False, True)
    last = layout([[2, 1], [0, 1]], [[3, 3], [3, 2]], [2, 2], collected=(True, True), step=4)
    _, outcome = move(last, RIGHT, UP)
    assert (bool(outcome.terminated), bool(outcome.truncated)) == (True, False)


def test_each_seat_sees_itself_first_and_no_time():
    state = layout([[0, 0], [0, 2]], [[3, 3], [3, 0]], [2, 2])
    main, partner = (GAME.observe(state, seat) for seat in (MAIN, PARTNER))
    assert (main.own.tolist(), main.other.tolist()) == ([0, 0], [0, 2])
    assert (partner.own.tolist(), partner.other.tolist()) == ([0, 2], [0, 0])
    assert main._fields == ("own", "other", "subgoals", "goal", "collected")


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({"size": 2, "subgoals": 2}, "size must leave room for 2 subgoals, a goal and two agents"),
        ({"size": 1}, "size must be a whole number from 2 to 200, not 1"),
        ({"size": 1000}, "size must be a whole number from 2 to 200, not 1000"),
        ({"subgoals": 31}, "subgoals must be a whole number from 1 to 30, not 31"),
        ({"subgoals": 0}, "subgoals must be a whole number from 1"),
        ({"max_steps": 0}, "max_steps must be a whole number from 1"),
        ({"step_reward": float("nan")}, "step_reward must be a number"),
    ],
)
def test_a_game_that_cannot_be_is_refused(sizes, words):
    with pytest.raises(ValueError, match=words):
        Salesman(**sizes)


def layouts(number):
    states = jax.vmap(Salesman().reset)(jax.random.split(jax.random.key(0), number))
    return np.asarray(states.agents), np.asarray(states.subgoals), np.asarray(states.goal)


def test_placement_and_rules_give_the_known_lengths_of_the_best_plans():
    """With waiting allowed the best joint plan takes 12.89 +- 0.01 steps on average, one agent alone 26.32 +- 0.03."""
    number = 10_000
    best, alone = best_plans(*layouts(number))
    for lengths, known, error in ((best, 12.89, 0.01), (alone[:, 0], 26.32, 0.03)):
        assert abs(lengths.mean() - known) < 3 * np.hypot(lengths.std() / number**0.5, error)


def test_everything_starts_on_a_cell_of_its_own():
    agents, subgoals, goal = layouts(1_000)
    places = np.concatenate([agents, subgoals, goal[:, None]], axis=1) @ np.array([11, 1])
    assert all(len(set(row)) == 7 for row in places)
    assert set(places.ravel()) == set(range(121))


@pytest.mark.parametrize("view", [RelativePairs(4), AbsolutePairs(4)], ids=["relative", "absolute"])
def test_a_pairs_row_of_the_table_says_what_the_pair_is(view):
    observation = GAME.observe(layout([[0, 1], [3, 2]], [[2, 2], [0, 0]], [1, 3], collected=(True, False)), MAIN)
    rows = view.table()[np.asarray(view(observation).indices)]
    pairs = together(observation)
    assert len(rows) == 2 * (2 + 2)
    assert rows[:, :2].argmax(1).tolist() == pairs.roles.tolist() == [0] * 4 + [1] * 4
    kinds = ["collected subgoal", "open subgoal", "goal", "agent"] * 2
    assert [KINDS[kind] for kind in rows[:, 2:6].argmax(1)] == kinds
    if isinstance(view, RelativePairs):
        gone = [0, 0]  # a subgoal, when it is collected
        steps = [gone, [0, -1], [1, 2], [3, 1], gone, [-3, -2], [-2, 1], [-3, -1]]
        np.testing.assert_allclose(rows[:, 6:] * 3, steps, atol=1e-6)
    else:
        own, other = [0, 1], [3, 2]
        others = [[2, 2], [0, 0], [1, 3]]
        places = [[*own, *cell] for cell in (*others, other)] + [[*other, *cell] for cell in (*others, own)]
        np.testing.assert_allclose((rows[:, 6:] + 1) / 2 * 3, places, atol=1e-6)


def test_what_comes_after_the_sum():
    observation = GAME.observe(layout([[0, 3], [3, 0]], [[2, 2], [0, 0]], [1, 3]), MAIN)
    np.testing.assert_allclose(RelativePairs(4)(observation).rest, [-1, 1, 1, -1, 1, -1], atol=1e-6)
    assert AbsolutePairs(4)(observation).rest.size == 0
    assert RelativePairs(11).rows == len(RelativePairs(11).table()) == 2 * (3 * 21 * 21 + 1)
    assert AbsolutePairs(3).rows == len(AbsolutePairs(3).table())


TURNS = [Turn(jnp.array([up, left]), jnp.array(swap)) for up, left, swap in product([False, True], repeat=3)]


@pytest.fixture
def states():
    return jax.vmap(GAME.reset)(jax.random.split(jax.random.key(5), 200))


@pytest.mark.parametrize("turn", TURNS, ids=str)
def test_a_turned_grid_has_the_same_rules(states, turn):
    """To turn it and to move is the same as to move, by another name, and to turn it."""
    moves = jax.random.randint(jax.random.key(6), (2, 200), 0, len(MOVES))
    see = jax.vmap(lambda state: turned(GAME.observe(state, MAIN), GAME.size, turn))
    own, other, subgoals, goal, collected = see(states)
    there = SalesmanState(states.step, jnp.stack([own, other], axis=1), subgoals, goal, collected)
    (after, outcome), (after_there, outcome_there) = (
        jax.vmap(GAME.step)(state, tuple(played))
        for state, played in ((states, moves), (there, turned_moves(turn)[moves]))
    )
    seen_there = jax.vmap(lambda state: GAME.observe(state, MAIN))(after_there)
    for one, same in zip((*see(after), *outcome), (*seen_there, *outcome_there), strict=True):
        np.testing.assert_array_equal(one, same)


@pytest.mark.parametrize("size", [4, 5, 11])
def test_all_eight_boards_come_home_to_one(size):
    """Here to the upper left, on or above the diagonal; but for those with both agents on one line between eighths."""
    game = Salesman(size=size, subgoals=2)
    boards = jax.vmap(lambda key: game.observe(game.reset(key), MAIN))(jax.random.split(jax.random.key(5), 300))
    come_home = lambda board: turned(board, size, home(board, size))
    at_home = jax.vmap(come_home)(boards)
    row, column = at_home.own.T
    assert np.all((row <= column) & (column <= (size - 1) // 2))
    rows, columns = (np.abs(2 * np.stack([boards.own, boards.other]) - (size - 1))[..., n] for n in range(2))
    lines = np.stack([rows == 0, columns == 0, rows == columns])  # the middle row and column, and the diagonals
    clear = ~np.any(lines.all(axis=1), axis=0)
    assert 150 < clear.sum() < 300
    for turn in TURNS:
        from_there = jax.vmap(lambda board, turn=turn: come_home(turned(board, size, turn)))(boards)
        for one, same in zip(at_home, from_there, strict=True):
            np.testing.assert_array_equal(one[clear], same[clear])


def test_who_looks_from_home_sees_the_turned_board_and_calls_moves_by_their_names_there():
    """The agent is near the lower right corner, by the right wall: at home its up is right, and its left is down."""
    observation = GAME.observe(layout([[2, 3], [0, 0]], [[2, 2], [0, 0]], [1, 3]), MAIN)
    assert turned(observation, 4, home(observation, 4)).own.tolist() == [0, 1]
    view = TurnedPairs(4)
    assert view.permutation(observation).tolist() == [RIGHT, LEFT, DOWN, UP]
    assert RelativePairs(4).permutation(observation).tolist() == [UP, DOWN, LEFT, RIGHT]
    np.testing.assert_array_equal(view.table(), RelativePairs(4).table())
    np.testing.assert_allclose((view(observation).rest[:2] + 1) / 2 * 3, [0, 1], atol=1e-6)


def test_three_different_numbers_below_four_come_in_all_24_orders_alike(key):
    """Each is one of 4 * 3 * 2 draws: a thousand of 24,000, give or take 31."""
    drawn = np.asarray(jax.vmap(lambda key: distinct(key, 4, 3))(jax.random.split(key, 24_000)))
    orders, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(orders) == 24
    assert all(len(set(order)) == 3 and max(order) < 4 for order in orders.tolist())
    assert np.all(np.abs(counts - 1_000) < 4 * 31)


def test_all_numbers_below_a_limit_are_an_order_of_them(key):
    assert sorted(distinct(key, 9, 9).tolist()) == list(range(9))
