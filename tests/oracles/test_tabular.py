"""Exact truths by tables: numbers counted by hand, the salesman's own oracle, and what theory guarantees."""

from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.games.game import MAIN
from coadapt.games.matrix import MatrixGame
from coadapt.games.salesman.layouts import place, table_shape
from coadapt.games.salesman.rules import MOVES, Salesman
from coadapt.oracles import salesman
from coadapt.oracles.enumeration import check_enumerable, enumerate_states
from coadapt.oracles.tabular import behaviour_of, best_response, joint_optimum, outlook_of
from coadapt.partners.dirichlet import Stationary
from coadapt.players import Decision
from tests.games.enumerable import PUSH, Door, Forbidden, Lake, OnLayout

LAKE, DOOR, FORBIDDEN = Lake(), Door(), Forbidden()
GRID = OnLayout(Salesman(size=3, subgoals=2, max_steps=6), ((0, 0), (2, 1)), (1, 2))
TABLES = cache(enumerate_states)
GAMES = [LAKE, DOOR, FORBIDDEN, GRID]


def always(game, tables, action):
    """The partner that takes this action everywhere."""
    return jax.nn.one_hot(jnp.full(len(tables.following.states), action), game.num_actions[1])


def somebody(key, tables, seat):
    """Who takes legal actions by chance."""
    legal = tables.legal[seat]
    return jax.nn.softmax(jnp.where(legal, 2 * jax.random.normal(key, legal.shape), -jnp.inf))


def gaps(tables):
    """Of the lake's starts, how far the partner is ahead of the main agent."""
    places = tables.states[1][tables.starts]
    return (places[:, 1] - places[:, 0]) % 5


def test_the_lakes_states_are_counted():
    """Two on five places, before each of eight steps. From each there are nine ways on, but for the last step."""
    tables = TABLES(LAKE)
    assert tables.following.states.shape == (5 * 5 * 8, 3, 3, 1)
    assert tables.layers.shape == (8, 25)
    np.testing.assert_array_equal(np.sort(tables.layers.ravel()), np.arange(200))
    steps = tables.states[0]
    assert not steps[tables.starts].any()
    np.testing.assert_array_equal(tables.following.goes_on.all(axis=(1, 2, 3)), steps < 7)
    np.testing.assert_array_equal(
        steps[tables.following.states][steps < 7],
        np.broadcast_to(1 + steps[steps < 7][:, None, None, None], (175, 3, 3, 1)),
    )


@pytest.mark.parametrize(("action", "at_once"), [(2, (0, 3, 4)), (0, (0, 1, 2))])
def test_who_knows_the_friends_way_around_the_lake(action, at_once):
    """A friend that goes on changes the gap by 0, 1 or 2, as the main agent goes on, stays or goes back.

    So three gaps are closed in the first step and the others, which become one of these, in the second: 8 or 7. A
    friend that goes back is its mirror image. On average that is 7.6.
    """
    tables = TABLES(LAKE)
    outlook, actions = best_response(tables, always(LAKE, tables, action))
    np.testing.assert_allclose(outlook.total[tables.starts], np.where(np.isin(gaps(tables), at_once), 8, 7), atol=1e-5)
    assert outlook.total[tables.starts].mean() == pytest.approx(7.6)
    assert (outlook.length[tables.starts] == 8).all()
    together = tables.starts[gaps(tables) == 0]
    assert (actions[together] == action).all()  # who is side by side does as the friend does


def test_two_who_know_all_of_each_other_meet_at_once():
    """Together they change the gap by anything from -2 to 2."""
    tables = TABLES(LAKE)
    assert (joint_optimum(tables).outlook.total[tables.starts] == 8).all()


def test_a_door_that_opens_by_chance():
    """The partner pushes six times in ten, so pushing opens in one step of .6 / 2 + .4 / 4 = 0.4, waiting of 0.15.

    In two steps that is .4 + .6 * .4 = 0.64 with a second step in 0.6 of the episodes, or 0.2775 with one in 0.85.
    """
    tables = TABLES(DOOR)
    assert len(tables.following.states) == 2
    partner = jnp.array([[0.4, 0.6]] * 2)
    outlook, actions = best_response(tables, partner)
    np.testing.assert_allclose(outlook.total, [0.64, 0.4], atol=1e-6)
    np.testing.assert_allclose(outlook.length, [1.6, 1], atol=1e-6)
    assert actions.tolist() == [PUSH, PUSH]
    waits = outlook_of(tables, jnp.array([[1.0, 0.0]] * 2), partner)
    np.testing.assert_allclose((waits.total[0], waits.length[0]), [0.2775, 1.85], atol=1e-6)
    together = joint_optimum(tables)
    np.testing.assert_allclose((together.outlook.total[0], together.outlook.length[0]), [0.75, 1.5], atol=1e-6)
    assert together.actions.tolist() == [[PUSH, PUSH]] * 2


def test_what_is_illegal_is_done_in_neither_seat():
    """The partner takes its two legal actions half of the time each: -7.5 or -7 in the first round, -1 in the second.

    Together: -5, and -1. Were nothing illegal, it would be -2 in either case.
    """
    tables = TABLES(FORBIDDEN)
    assert tables.states.tolist() == [0, 1]
    partner = behaviour_of(Stationary(jnp.zeros(3)), FORBIDDEN, tables.states)
    np.testing.assert_allclose(partner, [[0, 0.5, 0.5]] * 2, atol=1e-6)
    outlook, actions = best_response(tables, partner)
    np.testing.assert_allclose(outlook.total, [-8, -1], atol=1e-5)
    assert actions.tolist() == [1, 2]
    together = joint_optimum(tables)
    np.testing.assert_allclose(together.outlook.total, [-6, -1], atol=1e-5)
    assert together.actions[0].tolist() == [1, 1]


def test_on_a_grid_it_is_what_the_salesmans_own_oracle_says(key):
    tables = TABLES(GRID)
    at = jax.vmap(lambda state: place(state.agents[0], state.agents[1], state.collected))(tables.states)
    by_place = [
        jax.nn.softmax(2 * jax.random.normal(key, (len(MOVES), *table_shape(GRID.game))), axis=0)
        for key in jax.random.split(key)
    ]
    main, partner = (table[(slice(None), *at)].T for table in by_place)
    starts = tables.starts
    theirs = salesman.best_response(GRID.game, GRID.layout, by_place[1]).outlook
    ours = best_response(tables, partner).outlook
    np.testing.assert_allclose(ours.total[starts], theirs.total[at][starts], atol=1e-5)
    np.testing.assert_allclose(ours.length[starts], theirs.length[at][starts], atol=1e-5)
    theirs = salesman.outlook_of(GRID.game, GRID.layout, *by_place)
    ours = outlook_of(tables, main, partner)
    np.testing.assert_allclose(ours.total[starts], theirs.total[at][starts], atol=1e-5)
    np.testing.assert_allclose(ours.length[starts], theirs.length[at][starts], atol=1e-5)
    fewest = salesman.joint_optimum(GRID.game, GRID.layout)[at][starts]
    assert fewest.max() <= GRID.max_steps  # so the step limit is in nobody's way
    together = joint_optimum(tables).outlook
    np.testing.assert_allclose(together.length[starts], fewest, atol=1e-5)
    np.testing.assert_allclose(together.total[starts], 3 * 0.05 - 0.01 * fewest, atol=1e-5)


class Late(Door):
    """The same, with its starts in another order: in the last step, or in the first."""

    def starts(self):
        return jnp.array([1, 0]), jnp.full(2, 0.5)


def test_nothing_follows_an_end_whichever_state_has_the_first_number():
    tables = TABLES(Late())
    assert tables.states.tolist() == [1, 0]
    np.testing.assert_allclose(best_response(tables, jnp.array([[0.4, 0.6]] * 2)).outlook.total, [0.4, 0.64], atol=1e-6)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: type(game).__name__)
def test_nobody_beats_the_best_response_nor_that_the_joint_optimum(game, key):
    """Five pairs of players, each in every state; and who does as the best response says comes to what it says."""
    tables = TABLES(game)

    def play(key):
        main, partner = (somebody(key, tables, seat) for seat, key in enumerate(jax.random.split(key)))
        best = best_response(tables, partner)
        doing_so = outlook_of(tables, jax.nn.one_hot(best.actions, game.num_actions[0]), partner)
        return outlook_of(tables, main, partner).total, best.outlook, doing_so

    together = joint_optimum(tables).outlook.total
    some, best, doing_so = jax.jit(jax.vmap(play))(jax.random.split(key, 5))
    assert (some <= best.total + 1e-5).all()
    assert (best.total <= together[None] + 1e-5).all()
    np.testing.assert_allclose(doing_so, best, atol=1e-5)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: type(game).__name__)
def test_responding_to_its_part_of_the_joint_optimum_is_the_joint_optimum(game):
    tables = TABLES(game)
    together = joint_optimum(tables)
    response = best_response(tables, jax.nn.one_hot(together.actions[:, 1], game.num_actions[1]))
    np.testing.assert_allclose(response.outlook.total, together.outlook.total, atol=1e-5)


class Follows(NamedTuple):
    """It goes on if the other is just ahead, and else stays; more or less certainly."""

    certainty: float

    def start(self, key):
        return ()

    def decide(self, seen, memory):
        is_ahead = seen.observation["gap"] == 1
        return Decision(self.certainty * jax.nn.one_hot(jnp.where(is_ahead, 2, 1), 3), memory, {})


def test_a_partner_is_asked_what_it_does_in_its_own_seat():
    """At half of the certainty, e^2 to 1 to 1."""
    tables = TABLES(LAKE)
    behaviour = jax.jit(lambda player: behaviour_of(player, LAKE, tables.states))(Follows(2.0))
    likely, unlikely = np.exp(2) / (np.exp(2) + 2), 1 / (np.exp(2) + 2)
    ahead = gaps(tables) == 4  # seen from the main agent, which is one place ahead
    np.testing.assert_allclose(behaviour[tables.starts][ahead], [[unlikely, unlikely, likely]] * 5, rtol=1e-5)
    np.testing.assert_allclose(behaviour[tables.starts][~ahead], [[unlikely, likely, unlikely]] * 20, rtol=1e-5)
    as_main = behaviour_of(Follows(2.0), LAKE, tables.states, MAIN)[tables.starts]
    np.testing.assert_array_equal(as_main[:, 2] > 0.5, gaps(tables) == 1)


class Shown(Follows):
    """It looks at the state itself, as scripted partners may."""

    def decide(self, seen, memory):
        return Decision(99 * jax.nn.one_hot(seen.privileged[0] % 3, 3), memory, {})


def test_a_scripted_partner_may_look_at_the_state():
    tables = TABLES(LAKE)
    behaviour = behaviour_of(Shown(1.0), LAKE, tables.states)
    np.testing.assert_array_equal(behaviour.argmax(1), tables.states[0] % 3)


class Remembers(Follows):
    def start(self, key):
        return jnp.int32(0)


class LooksBack(Follows):
    def decide(self, seen, memory):
        return Decision(jax.nn.one_hot(seen.last_action, 3), memory, {})


@pytest.mark.parametrize(("player", "sentence"), [(Remembers(1.0), "remembers"), (LooksBack(1.0), "last action")])
def test_who_is_not_memoryless_has_no_table(player, sentence):
    with pytest.raises(ValueError, match=f"{sentence}.*memoryless partners alone"):
        behaviour_of(player, LAKE, enumerate_states(LAKE).states)


def test_the_tables_are_no_part_of_a_program_that_is_traced():
    number = jax.jit(lambda: jnp.asarray(best_response(enumerate_states(DOOR), jnp.ones((2, 2)) / 2).outlook.total))
    np.testing.assert_allclose(number(), [0.375 + 0.625 * 0.375, 0.375], atol=1e-6)


def test_ten_thousand_states_are_soon_listed():
    assert len(enumerate_states(Lake(places=35)).following.states) == 35 * 35 * 8


@dataclass(frozen=True)
class Other(Door):
    """A door that lists its chances in a wrong way."""

    wrong: str = ""

    def outcomes(self, state, actions):
        states, outcome, probabilities = super().outcomes(state, actions)
        if self.wrong in ("endless", "circular"):
            states = states if self.wrong == "endless" else jnp.zeros(2, jnp.int32)
            return states, outcome._replace(truncated=jnp.zeros(2, bool)), probabilities
        if self.wrong == "kind":
            return states.astype(jnp.float32), outcome, probabilities
        return states, outcome, probabilities + jnp.array([1.0, -1.0])

    def starts(self):
        return (jnp.int32(0), jnp.ones(1)) if self.wrong == "starts" else super().starts()

    def legal(self, state, seat):
        return jnp.arange(2) < (0 if self.wrong == "legal" else 2)


@pytest.mark.parametrize(
    ("game", "most", "sentence"),
    [
        (LAKE, 100, "Lake has more than 100 states.*make it smaller"),
        (replace(DOOR, certainty=0.9), 100, "Door .* can follow a step sum to 0.9"),
        (Other(), 100, "is -0.5, less than nothing"),
        (Other(wrong="endless"), 100, r"can go on after its 2 steps \(max_steps\)"),
        (Other(wrong="circular"), 100, r"can go on after its 2 steps \(max_steps\)"),
        (Other(wrong="kind"), 100, "of the same shapes and kinds"),
        (Other(wrong="starts"), 100, "stacked along a first axis"),
        (Other(wrong="legal"), 100, "no legal action"),
    ],
)
def test_a_game_without_tables_says_why(game, most, sentence):
    with pytest.raises(ValueError, match=sentence):
        enumerate_states(game, most)


def test_a_game_must_list_its_chances():
    with pytest.raises(ValueError, match=r"MatrixGame does not list what can happen: give it the methods starts\(\)"):
        check_enumerable(MatrixGame(jnp.eye(2), max_steps=3))
