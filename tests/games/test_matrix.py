import jax
import jax.numpy as jnp
import pytest

from coadapt.games.game import MAIN, PARTNER
from coadapt.games.matrix import (
    MatrixGame,
    check_payoff,
    clock,
    full_view,
    partner_action,
    partner_watch,
)


def actions(main, partner):
    return jnp.int32(main), jnp.int32(partner)


@pytest.mark.parametrize(
    ("main", "partner", "reward"), [(0, 0, 1.0), (0, 1, -1.0), (1, 0, -0.7), (3, 2, -0.1), (4, 4, 0.2), (4, 0, 0.0)]
)
def test_the_papers_table_pays(key, main, partner, reward):
    game = MatrixGame()
    _, outcome = game.step(game.reset(key), actions(main, partner))
    assert outcome.reward == jnp.float32(reward)


def test_the_last_step_terminates_and_no_other(key):
    game = MatrixGame(max_steps=3)
    state = game.reset(key)
    ends = []
    for _ in range(3):
        state, outcome = game.step(state, actions(0, 0))
        ends.append((bool(outcome.terminated), bool(outcome.truncated)))
    assert ends == [(False, False), (False, False), (True, False)]


def test_any_rectangular_table_works_under_jit(key):
    game = MatrixGame(jnp.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), max_steps=2)
    assert game.num_actions == (3, 2)
    _, outcome = jax.jit(lambda g, s: g.step(s, actions(2, 1)))(game, game.reset(key))
    assert outcome.reward == 6


def test_each_seat_sees_itself_and_the_other(key):
    game = MatrixGame(jnp.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), max_steps=4)
    state, _ = game.step(game.reset(key), actions(2, 0))
    seen = game.observe(state, MAIN)
    assert seen.own_action.tolist() == [0, 0, 1]
    assert seen.other_action.tolist() == [1, 0]
    assert (seen.progress, seen.reward) == (0.25, 3)
    assert game.observe(state, PARTNER).own_action.tolist() == [1, 0]
    assert game.observe(state, PARTNER).other_action.tolist() == [0, 0, 1]


def test_before_the_first_step_no_action_is_seen(key):
    game = MatrixGame()
    seen = game.observe(game.reset(key), MAIN)
    assert seen.own_action.tolist() == seen.other_action.tolist() == [0] * 5


def test_what_each_network_may_look_at(key):
    game = MatrixGame(max_steps=10)
    state, _ = game.step(game.reset(key), actions(1, 3))
    seen = game.observe(state, MAIN)
    now, own, other = [jnp.float32(0.1)], [0, 1, 0, 0, 0], [0, 0, 0, 1, 0]
    assert clock(seen).tolist() == now
    assert partner_action(seen).tolist() == other
    assert partner_watch(seen).tolist() == now + other
    assert full_view(seen).tolist() == [*now, *own, *other, jnp.float32(-0.7)]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([], "list of rows"),
        ([[]], "list of rows"),
        ([1, 2], "list of rows"),
        ({"a": 1}, "list of rows"),
        ([[1, 2], [3]], "one length"),
        ([[1, float("nan")]], "finite"),
        ([[1, float("inf")]], "finite"),
        ([[1, "x"]], "finite"),
    ],
)
def test_a_bad_table_is_refused_with_a_sentence(table, words):
    with pytest.raises(ValueError, match=words):
        check_payoff(table)
