import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.encounters import NeverEnds, rollout, start_episode
from coadapt.evaluation.episodes import episode_scores
from coadapt.evaluation.returns import (
    Means,
    Sums,
    _means,
    mean_returns,
    play_in_a_row,
    play_with_all,
    pooled,
    side_by_side,
)
from coadapt.games.matrix import MatrixGame
from coadapt.games.salesman.rules import Salesman
from coadapt.partners.dirichlet import Stationary
from coadapt.partners.population import Partners

CERTAINLY = 100.0
GAME = MatrixGame(jnp.array([[1.0, 0.0], [0.0, 2.0]]), max_steps=3)
PARTNERS = Partners(Stationary(CERTAINLY * jnp.eye(2)), jnp.eye(2), jnp.arange(2))
"""One always takes the first action, for which 1 can be had; the other the second, for which it is 2."""
SALESMAN = Salesman(size=3, subgoals=1, max_steps=12)
AT_RANDOM = Stationary(jnp.zeros(4))


def test_a_player_that_is_told_whom_it_meets_earns_all_there_is(key):
    told = lambda label: Stationary(CERTAINLY * label)
    assert mean_returns(key, GAME, PARTNERS, told, episodes=4).tolist() == [3, 6]


def test_a_player_that_takes_no_notice_earns_what_it_does_by_itself(key):
    second = Stationary(jnp.array([0.0, CERTAINLY]))
    assert mean_returns(key, GAME, PARTNERS, lambda label: second, episodes=4).tolist() == [0, 6]


class Hinting(MatrixGame):
    """The same with hints for learning, a hundred a step."""

    def step(self, state, actions, key=None):
        after, outcome = super().step(state, actions, key)
        return after, outcome._replace(shaping=jnp.float32(100))


jax.tree_util.register_dataclass(Hinting, data_fields=["payoff"], meta_fields=["max_steps"])


def test_hints_for_learning_are_no_return(key):
    told = lambda label: Stationary(CERTAINLY * label)
    game = Hinting(GAME.payoff, max_steps=3)
    assert mean_returns(key, game, PARTNERS, told, episodes=4).tolist() == [3, 6]


def test_a_greedy_player_takes_its_likeliest_action(key):
    hardly = lambda label: Stationary(0.1 * label)
    assert mean_returns(key, GAME, PARTNERS, hardly, episodes=4, greedy=True).tolist() == [3, 6]


def test_episodes_are_averaged(key):
    """At random half of three steps pay; with 3000 episodes the standard error of 1.5 is 0.016."""
    at_random = lambda label: Stationary(jnp.zeros(2))
    first, second = jax.jit(lambda key: mean_returns(key, GAME, PARTNERS, at_random, episodes=3000))(key)
    assert abs(first - 1.5) < 0.06
    assert abs(second - 3.0) < 0.12


def test_episodes_in_a_row_are_the_episodes_one_by_one(key):
    """Five episodes that end at different times, each with a key of its own, come to what they come to apart."""
    players = AT_RANDOM, AT_RANDOM
    sums, noted = play_in_a_row(key, SALESMAN, players, 5, note=lambda transition: jnp.float32(1))
    keys = jax.vmap(lambda episode: jax.random.fold_in(key, episode))(jnp.arange(5))
    apart = jax.vmap(lambda key: rollout(start_episode(key, SALESMAN, players), SALESMAN, players, 12)[1])(keys)
    scores = episode_scores(apart)
    assert len(set(scores.length.tolist())) > 1
    assert sums.steps == scores.length.sum()
    assert sums.rewards == pytest.approx(float(scores.total.sum()), abs=1e-5)
    assert sums.finished == scores.finished.sum()
    lasting = [(np.asarray(scores.length) > step).sum() for step in range(12)]
    assert noted.lasting.tolist() == lasting
    assert noted.kept.tolist() == [5] * 12


def test_what_was_noted_last_is_kept_after_the_end(key):
    """Each episode notes whether its one subgoal is collected: what is so in the end stays so after the end."""
    players = AT_RANDOM, AT_RANDOM
    is_collected = lambda transition: transition.next_seen[0].observation.collected.sum().astype(jnp.float32)
    sums, noted = play_in_a_row(key, SALESMAN, players, 30, note=is_collected)
    collected = sums.finished  # the one subgoal is collected in every finished episode, and may be in others
    assert noted.kept[-1] >= collected > noted.lasting[-1]
    assert (jnp.diff(noted.kept) >= 0).all()


def test_an_odd_number_of_episodes_is_played_to_the_last(key):
    """Episodes of three steps with either partner, 403 of them in 200 games: two in most, three in three."""
    assert side_by_side(403) == 200
    told = jnp.zeros((400, 0))
    at_random = lambda row: Stationary(jnp.zeros(2))
    means, noted = play_with_all(key, GAME, PARTNERS, at_random, told, 403, note=lambda transition, label: label)
    assert means.length.tolist() == [3, 3]
    assert noted.lasting.tolist() == noted.kept.tolist() == [[[403, 0]] * 3, [[0, 403]] * 3]


def test_the_standard_error_is_that_of_independent_episodes(key):
    """Three coins for 1 each: a variance of 3/4, over 1003 episodes an error of 0.0273, known to about 5%."""
    told = jnp.zeros((400, 0))
    at_random = lambda row: Stationary(jnp.zeros(2))
    means, _ = play_with_all(key, GAME, PARTNERS, at_random, told, 1003)
    assert means.total_error[0] == pytest.approx((0.75 / 1003) ** 0.5, rel=0.2)
    assert means.total_error[1] == pytest.approx(2 * (0.75 / 1003) ** 0.5, rel=0.2)


def test_means_counted_by_hand():
    """Two games of two episodes each, which return 1 and 3: 0.5 and 1.5 an episode, so 1 give or take 0.5."""
    means = _means(Sums(jnp.array([4.0, 8.0]), jnp.array([1.0, 3.0]), jnp.array([2.0, 1.0])), jnp.array([2, 2]))
    assert [float(number) for number in means] == [3, 1, 0.5, 0.75]


def test_one_episode_has_no_standard_error(key):
    means, _ = play_with_all(key, GAME, PARTNERS, lambda row: Stationary(jnp.zeros(2)), jnp.zeros((2, 0)), 1)
    assert np.isnan(means.total_error).all()


class Endless(MatrixGame):
    """It never says that it is over."""

    def step(self, state, actions, key=None):
        after, outcome = super().step(state, actions, key)
        return after, outcome._replace(terminated=jnp.bool_(False))


jax.tree_util.register_dataclass(Endless, data_fields=["payoff"], meta_fields=["max_steps"])


def test_a_game_that_never_ends_is_named_and_not_played_for_ever(key):
    game = Endless(GAME.payoff, max_steps=3)
    at_random = lambda label: Stationary(jnp.zeros(2))
    with pytest.raises(NeverEnds, match=r"an episode of Endless went on after its 3 steps \(max_steps\)"):
        mean_returns(key, game, PARTNERS, at_random, episodes=4)
    inside_a_program = jax.jit(lambda key: mean_returns(key, game, PARTNERS, at_random, episodes=4))(key)
    assert np.isnan(inside_a_program).all()


def test_parts_make_a_whole():
    """Two parts with errors 3 and 4: half of five is left in their mean. One of three times the size counts so much."""
    parts = Means(*(jnp.array([[a], [b]]) for a, b in ((10.0, 20.0), (0.0, 1.0), (3.0, 4.0), (1.0, 0.5))))
    assert [float(mean[0]) for mean in pooled(parts, (7, 7))] == [15, 0.5, 2.5, 0.75]
    assert [float(mean[0]) for mean in pooled(parts, (1, 3))] == [17.5, 0.75, (9 + 144) ** 0.5 / 4, 0.625]
