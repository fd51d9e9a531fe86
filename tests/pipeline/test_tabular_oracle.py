"""The oracle of any game that can list its chances, on numbers counted by hand."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.experiments.salesman.oracle import SalesmanOracle
from coadapt.games.matrix import MatrixGame
from coadapt.games.salesman.rules import Salesman
from coadapt.partners.dirichlet import Stationary
from coadapt.partners.population import Partners
from coadapt.pipeline.oracle import Oracle
from coadapt.pipeline.tabular_oracle import TabularOracle
from tests.games.enumerable import Door, Lake, OnLayout

BACK, ON = 0, 2
LAKE = TabularOracle(Lake())
CERTAINLY = 99 * jnp.eye(3)
FRIENDS = Partners(Stationary(CERTAINLY[jnp.array([ON, BACK])]), jnp.eye(2), jnp.arange(2))


def gaps(starts):
    _, places = starts
    return (places[:, 1] - places[:, 0]) % 5


@pytest.fixture(scope="module")
def found():
    """From 200 starts at the lake, so that all gaps are among them."""
    starts = jax.jit(lambda key: LAKE.starts(key, 200))(jax.random.key(1))
    return starts, jax.jit(LAKE.optima)(jax.random.key(2), FRIENDS, starts)


def test_it_is_an_oracle():
    assert isinstance(LAKE, Oracle)
    assert TabularOracle(Lake()) == LAKE != TabularOracle(Lake(max_steps=7))


def test_starts_are_drawn_as_the_game_says(found):
    """All 25 places, at the first step; each gap is as likely as any other: 40 of 200, at four standard errors."""
    starts, _ = found
    assert not starts[0].any()
    assert len({tuple(places) for places in starts[1].tolist()}) == 25
    assert (np.abs(np.bincount(gaps(starts)) - 40) < 4 * (200 * 0.2 * 0.8) ** 0.5).all()


def test_the_best_response_to_each_friend(found):
    """8 or 7 by the gap, see the tests of the tables."""
    starts, optima = found
    gap = np.asarray(gaps(starts))
    expected = [np.where(np.isin(gap, at_once), 8, 7) for at_once in ((0, 3, 4), (0, 1, 2))]
    np.testing.assert_allclose(optima.best.total, expected, atol=1e-5)
    assert (optima.best.length == 8).all()


def test_who_is_told_the_type_of_the_only_one_of_its_type_does_what_is_best(found):
    _, optima = found
    np.testing.assert_allclose(optima.informed["best_response_to_type"], optima.best, atol=1e-5)


@pytest.mark.parametrize("who", ["best_response_to_likeliest", "best_response_to_likeliest_type"])
def test_who_has_to_guess_at_first_takes_the_first_for_the_likeliest(found, who):
    """With the friend that goes on that is right. With the other one, who was side by side goes the other way.

    So the gap is 3, then 1 at the least, and the third step is the first that pays: 6.
    """
    starts, optima = found
    played = optima.informed[who]
    np.testing.assert_allclose(played.total[0], optima.best.total[0], atol=1e-5)
    assert (played.total <= optima.best.total).all()
    assert (played.total[1][gaps(starts) == 0] == 6).all()


def test_the_joint_optimum_is_the_mean_over_all_starts(key):
    """Two who know all of each other meet at the lake in the first step, and open the door in one of two."""
    assert LAKE.joint_optimum(key) == {"joint_optimum_total": 8, "joint_optimum_length": 8}
    opened = TabularOracle(Door()).joint_optimum(key)
    assert opened == pytest.approx({"joint_optimum_total": 0.75, "joint_optimum_length": 1.5})


def test_partners_of_one_type_are_averaged_by_who_is_told_the_type(key):
    """One always pushes and one never. Who is told no more than that pushes, too, and opens the door in every second
    step or every fourth, which is the best there is with either.
    """
    oracle = TabularOracle(Door())
    both = Partners(Stationary(99 * jnp.eye(2)), jnp.ones((2, 1)), jnp.arange(2))
    optima = oracle.optima(key, both, oracle.starts(key, 1))
    np.testing.assert_allclose(optima.best.total, [[7 / 16], [3 / 4]], atol=1e-6)
    np.testing.assert_allclose(optima.best.length, [[1.75], [1.5]], atol=1e-6)
    np.testing.assert_allclose(optima.informed["best_response_to_type"], optima.best, atol=1e-6)


@dataclass(frozen=True)
class Blind(Lake):
    """Nobody sees where the other is."""

    def observe(self, state, seat):
        return state[1][seat]


def test_who_cannot_tell_the_state_has_no_posterior_and_all_else_is_known(key, found):
    """What is best does not depend on what is seen; the two oracles are told apart though their fields are the same."""
    starts, optima = found
    oracle = TabularOracle(Blind())
    assert oracle.posterior(FRIENDS) is None
    blind = jax.jit(oracle.optima)(key, FRIENDS, starts)
    assert set(blind.informed) == {"best_response_to_type"}
    np.testing.assert_array_equal(blind.best, optima.best)


def test_it_is_the_oracle_of_a_grid_on_one_layout(key):
    """The same starts, and the same to come from each: the grid's own oracle finds the layout in them.

    Those who have to find out are played, with the same luck. Both oracles think the same of a partner, so they do the
    same, but where several actions are as good.
    """
    game = Salesman(size=3, subgoals=1, max_steps=6)
    oracle = TabularOracle(OnLayout(game, ((0, 0),), (2, 1)))
    shares = jnp.log(jnp.array([[0.4, 0.1, 0.4, 0.1], [0.1, 0.4, 0.1, 0.4], [0.25, 0.25, 0.25, 0.25]]))
    partners = Partners(Stationary(shares), jnp.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]), jnp.arange(3))
    starts = oracle.starts(key, 50)
    ours, theirs = (jax.jit(each.optima)(key, partners, starts) for each in (oracle, SalesmanOracle(game)))
    assert list(ours.informed) == list(theirs.informed)
    np.testing.assert_allclose(ours.best, theirs.best, atol=1e-5)
    ours, theirs = (each.informed for each in (ours, theirs))
    played = ("best_response_to_likeliest", "best_response_to_likeliest_type")
    assert all((np.abs(ours[who].total - theirs[who].total) < 1e-5).mean() > 0.9 for who in played)


@dataclass(frozen=True)
class WithArrays(Door):
    """A game that has an array for a field."""

    table: Any = None


@pytest.mark.parametrize(
    ("game", "sentence"),
    [
        (MatrixGame(jnp.eye(2), max_steps=3), "MatrixGame does not list what can happen"),
        (WithArrays(table=jnp.eye(2)), "WithArrays cannot be told from other games by its value"),
    ],
)
def test_a_game_that_it_is_not_for_says_why(game, sentence):
    with pytest.raises(ValueError, match=sentence):
        TabularOracle(game)
