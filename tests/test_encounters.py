import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coadapt.encounters import (
    advance,
    choose,
    decide,
    outcome,
    rollout,
    rollouts_with_each,
    sample,
    start_episode,
    step,
)
from coadapt.games.game import MAIN, PARTNER, Outcome, StartsAt
from coadapt.games.matrix import MatrixGame
from coadapt.partners.dirichlet import Stationary
from coadapt.players import Decision
from tests.games.reporting import Reporting

CHOOSE = jax.jit(choose)


class Counter(NamedTuple):
    """Remembers how many observations it has had; always takes the action it is told."""

    action: int

    def start(self, key):
        return jnp.int32(0)

    def decide(self, seen, memory):
        return Decision(jnp.where(jnp.arange(5) == self.action, 0.0, -jnp.inf), memory + 1, {"seen": memory})


def always(action):
    return Stationary(jnp.where(jnp.arange(5) == action, 0.0, -jnp.inf))


def test_chance_falls_on_the_share_of_an_action():
    logits = jnp.log(jnp.array([0.25, 0.5, 0.25]))
    chances = [0.0, 0.24, 0.26, 0.74, 0.76, 0.9999999]
    assert [int(choose(jnp.float32(c), logits)) for c in chances] == [0, 0, 1, 1, 2, 2]


@settings(deadline=None)
@given(
    chance=st.floats(0, 1 - 2**-23, width=32),
    logits=st.lists(st.one_of(st.just(-math.inf), st.floats(-50, 50)), min_size=5, max_size=5),
)
def test_an_action_without_a_share_is_never_chosen(chance, logits):
    assume(max(logits) > -math.inf)
    assert logits[int(CHOOSE(jnp.float32(chance), jnp.array(logits, jnp.float32)))] > -math.inf


def test_choices_have_their_probabilities(key):
    shares = np.array([0.1, 0.2, 0.7])
    chances = jax.random.uniform(key, (100_000,))
    chosen = jax.vmap(choose, (0, None))(chances, jnp.log(jnp.array(shares, jnp.float32)))
    measured = np.bincount(np.asarray(chosen), minlength=3) / 100_000
    assert (np.abs(measured - shares) < 4.5 * np.sqrt(shares * (1 - shares) / 100_000)).all()


def test_an_episode_ends_a_new_one_begins_and_memories_with_it(key):
    game, players = MatrixGame(max_steps=3), (Counter(1), always(1))
    _, transitions = rollout(start_episode(key, game, players), game, players, 7)
    assert transitions.infos[MAIN]["seen"].tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert transitions.terminated.tolist() == [False, False, True] * 2 + [False]
    assert transitions.reward.tolist() == [jnp.float32(0.8)] * 7
    assert transitions.actions[PARTNER].tolist() == [1] * 7


def test_what_followed_is_told_as_it_was_before_the_reset(key):
    game, players = MatrixGame(max_steps=2), (always(0), always(0))
    _, transitions = rollout(start_episode(key, game, players), game, players, 4)
    assert transitions.seen[MAIN].observation.progress.tolist() == [0, 0.5, 0, 0.5]
    assert transitions.next_seen[MAIN].observation.progress.tolist() == [0.5, 1, 0.5, 1]


def test_two_halves_are_a_whole(key):
    game, players = MatrixGame(max_steps=3), (Counter(1), Stationary(jnp.zeros(5)))
    _, whole = rollout(start_episode(key, game, players), game, players, 8)
    half, first = rollout(start_episode(key, game, players), game, players, 4)
    _, second = rollout(half, game, players, 4)
    joined = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), first, second)
    assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), whole, joined))


def test_greedy_is_for_the_main_agent_only(key):
    game, players = MatrixGame(max_steps=200), (Stationary(jnp.zeros(5)), Stationary(jnp.zeros(5)))
    _, transitions = rollout(start_episode(key, game, players), game, players, 200, greedy=True)
    assert set(transitions.actions[MAIN].tolist()) == {0}
    assert set(transitions.actions[PARTNER].tolist()) == {0, 1, 2, 3, 4}


def test_each_seat_has_luck_of_its_own(key):
    """Two coins: all four pairs of sides come up, each about as often as any other."""
    game, players = MatrixGame(jnp.eye(2), max_steps=400), (Stationary(jnp.zeros(2)), Stationary(jnp.zeros(2)))
    _, transitions = rollout(start_episode(key, game, players), game, players, 400)
    counts = np.bincount(
        2 * np.asarray(transitions.actions[MAIN]) + np.asarray(transitions.actions[PARTNER]), minlength=4
    )
    assert (np.abs(counts - 100) < 4.5 * (400 * 3 / 16) ** 0.5).all()


def test_every_game_with_a_partner_is_told_its_own_row():
    """Two partners of two games each: rows and keys are those of the first partner, then those of the second."""
    game = MatrixGame(jnp.eye(4), max_steps=1)
    partners = Stationary(jnp.where(jnp.eye(4)[:2] == 1, 0.0, -jnp.inf))
    keys = jax.random.split(jax.random.key(0), (2, 2))
    as_told = lambda row: Stationary(99 * row)
    main, partner = jax.jit(lambda rows: rollouts_with_each(keys, game, partners, as_told, rows, 1).actions)(jnp.eye(4))
    assert main[:, 0].tolist() == [0, 1, 2, 3]
    assert partner[:, 0].tolist() == [0, 0, 1, 1]


def test_the_same_key_brings_the_same_partner_whoever_plays(key):
    game, partner = MatrixGame(), Stationary(jnp.zeros(5))
    acted = []
    for main in (always(0), Counter(3)):
        _, transitions = rollout(start_episode(key, game, (main, partner)), game, (main, partner), 10)
        acted.append(transitions.actions[PARTNER].tolist())
    assert acted[0] == acted[1]


def same(one, other):
    """Bit for bit."""
    is_key = lambda leaf: jnp.issubdtype(jnp.result_type(leaf), jax.dtypes.prng_key)
    bits = lambda leaf: jax.random.key_data(leaf) if is_key(leaf) else jnp.asarray(leaf)
    return jax.tree.all(jax.tree.map(lambda a, b: bool((bits(a) == bits(b)).all()), one, other))


class Doors:
    """Three doors. In step n of an episode the main agent finds one locked and the partner finds one open: the n-th."""

    num_actions, max_steps = (3, 3), 3

    def reset(self, key):
        return jnp.int32(0)

    def step(self, state, actions, key):
        return state + 1, Outcome(jnp.float32(1), state + 1 >= self.max_steps, jnp.bool_(False), shaping=0.5)

    def observe(self, state, seat):
        return jnp.ones(1)

    def legal(self, state, seat):
        is_this = jnp.arange(3) == state
        return ~is_this if seat == MAIN else is_this

    def privileged(self, state, seat):
        return 10 * state + seat


class Dice(Doors):
    """A roll at every step, which is what the step pays. Its state is the step and the last roll."""

    max_steps = 400
    legal = privileged = None  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]

    def reset(self, key):
        return jnp.int32(0), jnp.float32(0)

    def step(self, state, actions, key):
        roll, number = jax.random.uniform(key, (2,))[0], state[0] + 1
        return (number, roll), Outcome(roll, number >= self.max_steps, jnp.bool_(False))

    def observe(self, state, seat):
        return state[1]


def test_an_illegal_action_is_never_taken_by_anybody(key):
    """The main agent has two doors, each for half of the time; the partner has one."""
    game, players = Doors(), (Stationary(jnp.zeros(3)), Stationary(jnp.array([0.0, 5.0, -5.0])))
    _, transitions = rollout(start_episode(key, game, players), game, players, 600)
    doors, (main, partner) = np.arange(600) % 3, (np.asarray(actions) for actions in transitions.actions)
    assert (main != doors).all()
    assert (partner == doors).all()
    of_first_steps = np.bincount(main[doors == 0], minlength=3)
    assert of_first_steps[0] == 0
    assert abs(of_first_steps[1] - 100) < 4.5 * (200 / 4) ** 0.5


def test_a_greedy_agent_takes_the_likeliest_legal_action(key):
    game, players = Doors(), (Stationary(jnp.array([2.0, 1.0, 0.0])), Stationary(jnp.zeros(3)))
    _, transitions = rollout(start_episode(key, game, players), game, players, 6, greedy=True)
    assert transitions.actions[MAIN].tolist() == [1, 0, 0, 1, 0, 0]


def test_what_is_kept_of_a_decision_has_no_share_for_an_illegal_action(key):
    game, players = Doors(), (Stationary(jnp.array([2.0, 1.0, 0.0])), Stationary(jnp.zeros(3)))
    _, transitions = rollout(start_episode(key, game, players), game, players, 2)
    assert transitions.logits[MAIN].tolist() == [[-np.inf, 1, 0], [2, -np.inf, 0]]
    assert transitions.logits[PARTNER].tolist() == [[0, -np.inf, -np.inf], [-np.inf, 0, -np.inf]]
    assert np.asarray(transitions.seen[MAIN].legal).tolist() == [[False, True, True], [True, False, True]]
    assert np.asarray(transitions.next_seen[PARTNER].legal).tolist() == [[False, True, False], [False, False, True]]


def test_who_has_all_actions_is_told_of_none(key):
    game, players = MatrixGame(), (always(0), always(1))
    _, transitions = rollout(start_episode(key, game, players), game, players, 2)
    assert transitions.seen[MAIN].legal is transitions.next_seen[PARTNER].legal is None


def test_everybody_is_shown_what_came_of_its_own_last_step(key):
    """Main takes 1 against 0, which costs 0.7; nothing has come of anything when an episode begins."""
    game, players = MatrixGame(max_steps=2), (Reporting(always(1).logits), Reporting(always(0).logits))
    _, transitions = rollout(start_episode(key, game, players), game, players, 5)
    cost = float(jnp.float32(-0.7))
    for seat, action in ((MAIN, 1), (PARTNER, 0)):
        seen, after, told = transitions.seen[seat], transitions.next_seen[seat], transitions.infos[seat]
        assert seen.last_action.tolist() == [-1, action, -1, action, -1]
        assert seen.last_reward.tolist() == [0, cost, 0, cost, 0]
        assert seen.first.tolist() == [True, False, True, False, True]
        assert all((told[name] == getattr(seen, name)).all() for name in ("last_action", "last_reward", "first"))
        assert after.last_action.tolist() == [action] * 5
        assert after.last_reward.tolist() == [cost] * 5
        assert after.first.tolist() == [False] * 5


def test_a_hint_for_learning_is_shown_to_nobody(key):
    game, players = Doors(), (Stationary(jnp.zeros(3)), Stationary(jnp.zeros(3)))
    _, transitions = rollout(start_episode(key, game, players), game, players, 3)
    assert transitions.reward.tolist() == [1, 1, 1]
    assert transitions.shaping.tolist() == [0.5, 0.5, 0.5]
    assert transitions.seen[MAIN].last_reward.tolist() == transitions.seen[PARTNER].last_reward.tolist() == [0, 1, 1]


def test_the_partner_alone_looks_at_the_state_or_at_what_the_game_lets_it_and_nobody_keeps_it(key):
    step_of = lambda told: getattr(told, "step", told).tolist()
    for game, number, shown in ((MatrixGame(max_steps=3), 5, [0, 1, 2, 0]), (Doors(), 3, [1, 11, 21, 1])):
        players = Reporting(jnp.zeros(number)), Reporting(jnp.zeros(number))
        _, transitions = rollout(start_episode(key, game, players), game, players, 4)
        assert step_of(transitions.infos[PARTNER]["privileged"]) == shown
        assert "privileged" not in transitions.infos[MAIN]
        assert all(seen.privileged is None for seen in (*transitions.seen, *transitions.next_seen))


def test_a_game_with_chance_has_fresh_chance_in_every_step_and_the_same_with_the_same_key(key):
    game, players = Dice(), (Stationary(jnp.zeros(3)), Stationary(jnp.zeros(3)))
    _, transitions = rollout(start_episode(key, game, players), game, players, 400)
    _, again = rollout(start_episode(key, game, players), game, players, 400)
    _, other = rollout(start_episode(jax.random.key(1), game, players), game, players, 400)
    rolls = np.asarray(transitions.reward)
    assert same(transitions, again)
    assert len({*rolls.tolist(), *other.reward.tolist()}) == 800
    assert abs(rolls.mean() - 0.5) < 4.5 / (12 * 400) ** 0.5
    assert abs(np.corrcoef(rolls[1:], rolls[:-1])[0, 1]) < 4.5 / 399**0.5


def test_the_luck_of_the_game_is_not_that_of_the_players(key):
    """A player that takes either of two actions takes the first when the luck for it is below a half."""
    either = Stationary(jnp.array([0.0, 0.0, -jnp.inf]))
    game, players = Dice(), (either, either)
    _, transitions = rollout(start_episode(key, game, players), game, players, 400)
    high = np.asarray(transitions.reward) >= 0.5
    for actions in transitions.actions:
        assert abs((np.asarray(actions == 1) == high).sum() - 200) < 4.5 * (400 / 4) ** 0.5


def test_deciding_sampling_and_stepping_are_a_step(key):
    game, players = Dice(), (Stationary(jnp.array([1.0, 0.0, 2.0])), Stationary(jnp.zeros(3)))
    episode = start_episode(key, game, players)
    for greedy in (False, True, False):
        turn = decide(episode, game, players)
        actions = sample(episode, turn, greedy)
        after = step(episode, game, players, turn, actions)
        assert same(after, advance(episode, game, players, greedy))
        episode = after[0]


def test_somebody_from_outside_may_act_in_either_seat(key):
    """The table pays what was really done, the players see it, and the partner's choice stays its own."""
    game, players = MatrixGame(max_steps=3), (Counter(0), Counter(1))
    episode = start_episode(key, game, players)
    turn = decide(episode, game, players)
    main, partner = sample(episode, turn)
    assert (int(main), int(partner)) == (0, 1)
    after, transition = step(episode, game, players, turn, (jnp.int32(4), partner))
    assert [int(action) for action in transition.actions] == [4, 1]
    assert transition.reward == jnp.float32(game.payoff[1, 4])
    assert [int(memory) for memory in after.memories] == [1, 1]
    shown = decide(after, game, players).seen
    assert [int(seen.last_action) for seen in shown] == [4, 1]
    assert shown[PARTNER].observation.other_action.tolist() == [0, 0, 0, 0, 1]
    state, came = outcome(episode, game, (jnp.int32(4), partner))
    assert same(state, after.state)
    assert came.reward == transition.reward


def test_where_it_starts_is_all_that_differs_in_a_game_that_always_starts_there(key):
    game = StartsAt(Dice(), (jnp.int32(7), jnp.float32(0.25)))
    assert game.reset(key) == (7, 0.25)
    assert same(game.step(game.start, (jnp.int32(0), jnp.int32(0)), key), Dice().step(game.start, (0, 0), key))
    doors = StartsAt(Doors(), jnp.int32(1))
    assert np.asarray(doors.legal(doors.start, MAIN)).tolist() == [True, False, True]
    assert [int(doors.privileged(doors.start, seat)) for seat in (MAIN, PARTNER)] == [10, 11]
    assert (game.legal(game.start, MAIN), game.privileged(game.start, PARTNER)) == (None, game.start)
