"""The salesman's oracles against brute force with the game itself, and against what theory guarantees."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.encounters import rollout, start_episode
from coadapt.evaluation.episodes import episode_scores
from coadapt.experiments.salesman.oracle import following
from coadapt.games.game import MAIN, StartsAt
from coadapt.games.salesman.layouts import Layout, layout_of, place, start_on, states_of, table_shape
from coadapt.games.salesman.rules import MOVES, Salesman
from coadapt.oracles.salesman import at_random, best_response, check_fits, joint_optimum, outlook_of
from coadapt.oracles.salesman_plans import best_plans
from coadapt.partners.dirichlet import Stationary

TINY = Salesman(size=3, subgoals=2, max_steps=4)
SMALL = Salesman(size=5, subgoals=2, max_steps=14)


def layouts(game, number, seed=0):
    return [layout_of(game.reset(key)) for key in jax.random.split(jax.random.key(seed), number)]


def some_behaviour(game, seed):
    logits = 2 * jax.random.normal(jax.random.key(seed), (len(MOVES), *table_shape(game)))
    return jax.nn.softmax(logits, axis=0)


def following_states(game, layout):
    """By the game's own rules, for every state and both actions: the number of the next state, the reward, the end."""
    states = states_of(game, layout)
    shape = table_shape(game)

    def step(state, a, b):
        after, outcome = game.step(state, (a, b))
        where = jnp.ravel_multi_index(place(after.agents[0], after.agents[1], after.collected), shape, mode="clip")
        return where, outcome.reward, outcome.terminated

    over_partner = jax.vmap(step, (None, None, 0))
    over_both = jax.vmap(over_partner, (None, 0, None))
    numbers = jnp.arange(len(MOVES))
    return map(np.asarray, jax.jit(jax.vmap(over_both, (0, None, None)))(states, numbers, numbers))


def by_brute_force(game, layout, partner, main=None):
    """The return with all steps left: of the best response or, if there is a main agent, with that one."""
    after, reward, ended = following_states(game, layout)
    flat = lambda behaviour: np.asarray(behaviour).reshape(len(MOVES), -1).T
    value = np.zeros(len(after))
    for _ in range(game.max_steps):
        soon = reward + np.where(ended, 0, value[after])
        returns = np.einsum("sab,sb->sa", soon, flat(partner))
        value = returns.max(1) if main is None else (returns * flat(main)).sum(1)
    return value.reshape(table_shape(game))


@pytest.mark.parametrize("seed", range(3))
def test_the_best_response_is_that_of_brute_force(seed):
    layout, partner = layouts(TINY, 3)[seed], some_behaviour(TINY, seed)
    response = best_response(TINY, layout, partner)
    np.testing.assert_allclose(response.outlook.total, by_brute_force(TINY, layout, partner), atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_what_two_players_come_to_is_that_of_brute_force(seed):
    layout, main, partner = layouts(TINY, 3)[seed], some_behaviour(TINY, seed), some_behaviour(TINY, 10 + seed)
    outlook = outlook_of(TINY, layout, main, partner)
    np.testing.assert_allclose(outlook.total, by_brute_force(TINY, layout, partner, main), atol=1e-6)


def test_the_fewest_steps_are_those_of_a_search_from_the_end():
    for layout in layouts(TINY, 5):
        after, _, ended = following_states(TINY, layout)
        steps = np.full(len(after), np.inf)
        for _ in range(30):
            steps = (1 + np.where(ended, 0, steps[after])).min((1, 2))
        assert np.isfinite(steps).all()
        np.testing.assert_array_equal(joint_optimum(TINY, layout).ravel(), steps)


def test_who_may_wait_is_at_least_as_fast_and_rarely_faster():
    """From all starts with nothing collected: a plan that may wait is a lower bound, met in most places."""
    layout = layouts(SMALL, 1)[0]
    states = jax.tree.map(np.asarray, states_of(SMALL, layout))
    nothing = ~states.collected.any(axis=1)
    plans = best_plans(states.agents[nothing], states.subgoals[nothing], states.goal[nothing])
    fewest = np.asarray(joint_optimum(SMALL, layout)).ravel()[nothing]
    # A state in which somebody stands on an open subgoal is no start: the plan has it for nothing, the game does not.
    places = np.concatenate([states.subgoals, states.goal[:, None]], axis=1)[nothing]
    start = ~(states.agents[nothing][:, :, None] == places[:, None]).all(-1).any((1, 2))
    assert start.sum() > 400
    assert (plans.joint <= fewest)[start].all()
    assert np.mean((plans.joint == fewest)[start]) > 0.7
    assert (plans.joint <= plans.alone.min(axis=1)).all()


def test_a_layout_solved_by_hand():
    """On one row a subgoal, two cells on the goal; the main agent beside the subgoal, its partner beside the goal.

    Together: the main agent takes the subgoal, and its partner the goal in the same step. Alone, with a partner that
    walks away for ever: to the subgoal and back over two cells, three steps.
    """
    game = Salesman(size=4, subgoals=1, max_steps=6)
    layout = Layout(jnp.array([[0, 0]]), jnp.array([0, 2]))
    here = place(jnp.array([0, 1]), jnp.array([0, 3]), jnp.array([False]))
    assert joint_optimum(game, layout)[here] == 1
    down = jnp.zeros((len(MOVES), *table_shape(game))).at[1].set(1)
    alone = best_response(game, layout, down).outlook
    assert alone.length[here] == 3
    assert alone.total[here] == pytest.approx(2 * 0.05 - 3 * 0.01)
    assert alone.finished[here] == 1
    assert best_response(game, layout, down).actions[:3][(slice(None), *here)][0] == 2  # left, onto the subgoal


def test_what_is_best_depends_on_the_time():
    """To the subgoal it takes two steps, and three more to the goal. So with six or five left one goes, and with two.

    In the last step all is as bad. With four or three there is time to spare, and waiting is as good.
    """
    game = Salesman(size=4, subgoals=1, max_steps=6)
    away = jnp.zeros((len(MOVES), *table_shape(game))).at[1].set(1)
    actions = best_response(game, Layout(jnp.array([[0, 0]]), jnp.array([0, 3])), away).actions
    here = place(jnp.array([0, 2]), jnp.array([3, 3]), jnp.array([False]))
    assert [int(actions[(6 - left, *here)]) for left in (6, 5, 2, 1)] == [2, 2, 2, 0]


def test_plans_counted_by_hand():
    """One row: an agent at 0, a subgoal at 2, the goal at 4, a subgoal at 5 and the other agent at 7.

    Together: two steps to the left one; two to the right one and one on to the goal. Alone: five to the last subgoal
    and one back; from the other end five to the last and two back.
    """
    row = lambda *columns: np.array([[[0, column] for column in columns]])
    plans = best_plans(row(0, 7), row(2, 5), row(4)[:, 0])
    assert plans.joint.tolist() == [3]
    assert plans.alone.tolist() == [[6, 7]]


def test_no_memoryless_player_beats_the_best_response_and_no_pair_the_joint_optimum():
    for seed, layout in enumerate(layouts(SMALL, 4)):
        partner = some_behaviour(SMALL, seed)
        best, fewest = best_response(SMALL, layout, partner).outlook, joint_optimum(SMALL, layout)
        most = (SMALL.subgoals + 1) * SMALL.goal_reward + SMALL.step_reward * fewest
        starts = (..., 0)  # with nothing collected: more would have paid already
        in_time = fewest[starts] <= SMALL.max_steps
        assert in_time.all()
        for main in (some_behaviour(SMALL, 20 + seed), at_random(SMALL), jnp.swapaxes(partner, 1, 3).swapaxes(2, 4)):
            value = outlook_of(SMALL, layout, main, partner)
            assert (value.total <= best.total + 1e-5).all()
            assert (value.total[starts] <= most[starts] + 1e-5).all()
            assert (value.length >= jnp.minimum(fewest, SMALL.max_steps) - 1e-4).all()
        assert (best.total[starts] <= most[starts] + 1e-5).all()


def test_a_partner_that_knows_the_best_plan_makes_its_best_response_the_joint_optimum():
    """If the partner takes its part in a best joint plan, wherever it is, the main agent can take the other."""
    layout = layouts(SMALL, 1)[0]
    fewest = joint_optimum(SMALL, layout)
    after, _, ended = following_states(SMALL, layout)
    soon = np.where(ended, 0, np.asarray(fewest).ravel()[after])
    partners_part = soon.min(1).argmin(1)
    partner = jnp.asarray(np.eye(len(MOVES))[partners_part].T.reshape(len(MOVES), *table_shape(SMALL)), jnp.float32)
    response = best_response(SMALL, layout, partner).outlook
    np.testing.assert_allclose(response.length, fewest, atol=1e-5)


def test_the_best_response_played_earns_its_value(key):
    """Its table, followed by a player against a partner that walks at random, over many starts of one layout."""
    layout = layouts(SMALL, 1, seed=3)[0]
    response = best_response(SMALL, layout, at_random(SMALL))
    players = following(response.actions), Stationary(jnp.zeros(len(MOVES)))

    def run(key):
        for_start, for_play = jax.random.split(key)
        game = StartsAt(SMALL, start_on(for_start, SMALL, layout))
        return rollout(start_episode(for_play, game, players), game, players, SMALL.max_steps)[1]

    transitions = jax.jit(jax.vmap(run))(jax.random.split(key, 20_000))
    scores = episode_scores(transitions)
    first = jax.tree.map(lambda leaf: leaf[:, 0], transitions.seen[MAIN].observation)
    at = jax.vmap(place)(first.own, first.other, first.collected)
    for name, table in response.outlook._asdict().items():
        played = getattr(scores, name)
        difference = np.asarray(played - table[at], np.float64)
        assert abs(difference.mean()) < 4 * difference.std() / len(difference) ** 0.5 + 1e-6


def test_places_and_states_agree():
    layout = layouts(TINY, 1)[0]
    states = states_of(TINY, layout)
    shape = table_shape(TINY)
    at = jax.vmap(lambda state: jnp.stack(place(state.agents[0], state.agents[1], state.collected)))(states)
    np.testing.assert_array_equal(np.ravel_multi_index(np.asarray(at).T, shape), np.arange(np.prod(shape)))


def test_a_game_on_a_layout_starts_on_free_cells_all_alike(key):
    """Nine cells, three taken: the two agents have 30 starts, each of 6,000 games about 200 times."""
    layout = layouts(TINY, 1)[0]
    states = jax.vmap(lambda key: start_on(key, TINY, layout))(jax.random.split(key, 6_000))
    taken = {tuple(cell) for cell in (*layout.subgoals.tolist(), layout.goal.tolist())}
    free = [cell for cell in itertools.product(range(3), repeat=2) if cell not in taken]
    starts = [tuple(map(tuple, agents)) for agents in states.agents.tolist()]
    counts = [starts.count(pair) for pair in itertools.permutations(free, 2)]
    assert sum(counts) == 6_000
    assert all(abs(count - 200) < 4.5 * 200**0.5 for count in counts)


def test_tables_too_large_for_memory_are_refused():
    with pytest.raises(ValueError, match="GB"):
        check_fits(Salesman(size=200, subgoals=10))
