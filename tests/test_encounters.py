import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coadapt.encounters import choose, rollout, rollouts_with_each, start_episode
from coadapt.games.game import MAIN, PARTNER
from coadapt.games.matrix import MatrixGame
from coadapt.partners.dirichlet import Stationary
from coadapt.players import Decision

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
