"""The same game from its other seat, or from either: everything goes to whoever sits there."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.encounters import rollout, start_episode
from coadapt.games.game import MAIN, PARTNER, Outcome, legal_actions
from coadapt.games.matrix import MatrixGame
from coadapt.games.seats import EitherSeat, OtherSeat, SeatedState
from coadapt.partners.dirichlet import Stationary
from tests.games.reporting import Reporting

SEATS = (MAIN, PARTNER)
UNLIKE = MatrixGame(jnp.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), max_steps=2)
"""Three actions for the main agent and two for the partner."""


class Sides:
    """A step pays ten times the action of the main seat and the action of the other; all the rest tells the seats."""

    num_actions, max_steps = (3, 3), 2

    def reset(self, key):
        return jnp.int32(0)

    def step(self, state, actions, key):
        main, partner = actions
        pays = (10 * main + partner).astype(jnp.float32)
        return state + 1, Outcome(pays, state + 1 >= self.max_steps, jnp.bool_(False), shaping=-pays)

    def observe(self, state, seat):
        return {"seat": jnp.int32(seat), "step": state}

    def legal(self, state, seat):
        return jnp.arange(3) != 2 * seat  # not the first for the main seat, not the last for the other

    def privileged(self, state, seat):
        return 100 + seat + state


def always(action, actions=3):
    return Stationary(jnp.where(jnp.arange(actions) == action, 0.0, -jnp.inf))


def played(game, players, steps, seed=0):
    return rollout(start_episode(jax.random.key(seed), game, players), game, players, steps)[1]


def same(one, other):
    assert jax.tree.structure(one) == jax.tree.structure(other)
    return all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True))


def test_in_the_other_seat_all_is_the_other_way_round(key):
    game, plain, state = OtherSeat(Sides()), Sides(), jnp.int32(1)
    assert game.max_steps == 2
    for here, there in (SEATS, SEATS[::-1]):
        assert game.observe(state, here) == plain.observe(state, there)
        assert np.asarray(legal_actions(game, state, here)).tolist() == plain.legal(state, there).tolist()
        assert game.privileged(state, here) == 101 + there
    after, came = game.step(state, (jnp.int32(2), jnp.int32(1)), key)
    assert (int(after), float(came.reward), float(came.shaping), bool(came.terminated)) == (2, 12, -12, True)


def test_the_other_seat_has_the_actions_of_the_other_seat():
    """The payoff of the second row and the third column is 6, and now the main agent chooses rows."""
    assert OtherSeat(UNLIKE).num_actions == (2, 3)
    transitions = played(OtherSeat(UNLIKE), (always(1, 2), always(2, 3)), 2)
    assert transitions.reward.tolist() == [6, 6]
    assert transitions.next_seen[MAIN].observation.own_action.tolist() == [[0, 1]] * 2
    assert transitions.next_seen[PARTNER].observation.own_action.tolist() == [[0, 0, 1]] * 2


@pytest.mark.parametrize("game", [Sides(), UNLIKE], ids=["sides", "unlike"])
def test_swapped_twice_it_is_the_same_game(game):
    twice, players = OtherSeat(OtherSeat(game)), tuple(Stationary(jnp.zeros(number)) for number in game.num_actions)
    assert twice.num_actions == game.num_actions
    assert same(played(twice, players, 4), played(game, players, 4))


def test_a_game_that_says_nothing_of_legal_actions_or_privileges_says_nothing_from_its_other_seat(key):
    state = UNLIKE.reset(key)
    assert OtherSeat(UNLIKE).legal(state, MAIN) is None
    assert OtherSeat(UNLIKE).privileged(state, MAIN) is state
    square = MatrixGame(jnp.eye(2))
    assert EitherSeat(square).legal(SeatedState(state, jnp.bool_(True)), MAIN) is None
    assert same(EitherSeat(square).privileged(SeatedState(state, jnp.bool_(True)), PARTNER), state)


@pytest.mark.parametrize("across", [False, True])
def test_in_either_seat_it_is_the_game_or_the_game_from_its_other_seat(key, across):
    game, state = EitherSeat(Sides()), SeatedState(jnp.int32(1), jnp.bool_(across))
    as_if, actions = OtherSeat(Sides()) if across else Sides(), (jnp.int32(2), jnp.int32(1))
    for seat in SEATS:
        assert same(game.observe(state, seat), as_if.observe(state.state, seat))
        assert same(game.legal(state, seat), as_if.legal(state.state, seat))
        assert same(game.privileged(state, seat), as_if.privileged(state.state, seat))
    after, came = game.step(state, actions, key)
    expected, brought = as_if.step(state.state, actions, key)
    assert same(after, SeatedState(expected, state.across))
    assert same(came, brought)
    assert came.reward == (12 if across else 21)


def test_the_main_agent_sits_in_each_seat_in_half_of_the_episodes_and_stays_there():
    """Of 400 episodes. It takes the second action, which pays 10 in its own seat and 1 in the other."""
    transitions = played(EitherSeat(Sides()), (always(1), Reporting(jnp.zeros(3))), 800)
    seat = np.asarray(transitions.seen[MAIN].observation["seat"]).reshape(400, 2)
    assert (seat[:, 0] == seat[:, 1]).all()
    assert abs(seat[:, 0].sum() - 200) < 4.5 * (400 / 4) ** 0.5
    across = seat.ravel() == PARTNER
    theirs = np.asarray(transitions.actions[PARTNER])
    assert np.array_equal(transitions.reward, np.where(across, 10 * theirs + 1, 10 + theirs))
    assert set(theirs[across].tolist()) == {1, 2}  # the partner has the main seat there, in which 0 is illegal
    assert set(theirs[~across].tolist()) == {0, 1}
    where = np.where(across, MAIN, PARTNER)  # the partner sits
    assert np.array_equal(transitions.seen[PARTNER].observation["seat"], where)
    assert np.array_equal(transitions.infos[PARTNER]["privileged"], 100 + where + np.arange(800) % 2)


def test_where_it_sits_does_not_hang_together_with_how_the_game_begins():
    """A game that begins with a coin: all four pairs of its side and the seat come up alike."""

    class Coin(Sides):
        def reset(self, key):
            return jax.random.bernoulli(key).astype(jnp.int32)

    states = jax.vmap(EitherSeat(Coin()).reset)(jax.random.split(jax.random.key(0), 400))
    counts = np.bincount(2 * np.asarray(states.state) + np.asarray(states.across), minlength=4)
    assert (np.abs(counts - 100) < 4.5 * (400 * 3 / 16) ** 0.5).all()


def test_games_from_other_seats_pass_through_compiled_functions(key):
    for game in (OtherSeat(MatrixGame(jnp.eye(2))), EitherSeat(MatrixGame(jnp.eye(2)))):
        step = jax.jit(lambda game, key: game.step(game.reset(key), (jnp.int32(1), jnp.int32(1)), key)[1].reward)
        assert step(game, key) == 1


def test_seats_with_unlike_actions_are_no_either():
    sentence = r"^whoever sits in either seat must have the same actions in both, not \[3, 2\]$"
    with pytest.raises(ValueError, match=sentence):
        EitherSeat(UNLIKE)
