"""The game that peers play is our game."""

import jax
import numpy as np
import pytest

from benchmarks.peers.numpy_salesman import NumpySalesman, Rules, distinct
from coadapt.configs.data import plain
from coadapt.games.game import MAIN, PARTNER
from coadapt.games.salesman.rules import Salesman, SalesmanState


def as_ours(theirs: NumpySalesman) -> SalesmanState:
    """The same states, a row each."""
    places = np.stack([theirs.targets // theirs.rules.size, theirs.targets % theirs.rules.size], axis=-1)
    return SalesmanState(
        *map(jax.numpy.asarray, (theirs.step_number, theirs.agents, places[:, :-1], places[:, -1], theirs.collected))
    )


def as_rows(observation) -> np.ndarray:
    """What our players see, in the order of `NumpySalesman.observe`."""
    own, other, subgoals, goal, collected = map(np.asarray, observation)
    return np.concatenate([own, other, subgoals.reshape(len(own), -1), goal, collected], axis=1).astype(np.float32)


@pytest.mark.parametrize("game", [Salesman(), Salesman(size=4, subgoals=2, max_steps=30)])
def test_both_play_the_same_game(game):
    games = 50
    theirs, chances = NumpySalesman(games, Rules(**plain(game))), np.random.default_rng(1)
    step = jax.jit(jax.vmap(game.step))
    observe = [jax.jit(jax.vmap(lambda state, seat=seat: game.observe(state, seat))) for seat in (MAIN, PARTNER)]
    ended = 0
    for _ in range(3 * game.max_steps):
        actions = chances.integers(0, 4, (games, 2))
        ours, outcome = step(as_ours(theirs), tuple(jax.numpy.asarray(actions.T, np.int32)))
        outcomes = theirs.step(actions)
        np.testing.assert_allclose(outcomes.reward, outcome.reward, rtol=1e-6)
        np.testing.assert_array_equal(outcomes.terminated, outcome.terminated)
        np.testing.assert_array_equal(outcomes.truncated, outcome.truncated)
        for here, there in zip(as_ours(theirs), ours, strict=True):
            np.testing.assert_array_equal(here, there)
        seen = np.concatenate([as_rows(look(ours)) for look in observe])
        np.testing.assert_array_equal(theirs.observe(), seen)
        over = outcomes.terminated | outcomes.truncated
        ended += np.count_nonzero(over)
        theirs.restart(over)
    assert ended > games


def test_the_rules_are_ours_by_default():
    assert Rules()._asdict() == plain(Salesman())


def test_everything_starts_on_a_cell_of_its_own_and_every_cell_is_as_likely():
    drawn = distinct(np.random.default_rng(0), 20_000, 10, 4)
    assert all(len(set(row)) == 4 for row in drawn[:1_000].tolist())
    shares = [np.bincount(column, minlength=10) / len(drawn) for column in drawn.T]
    np.testing.assert_allclose(shares, 0.1, atol=0.01)
