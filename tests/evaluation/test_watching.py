"""One episode, played step by step to be looked at, is the one that is played otherwise."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.encounters import NeverEnds, rollout, start_episode
from coadapt.evaluation.watching import record_episode
from coadapt.games.episode import Episode
from coadapt.games.matrix import MatrixGame
from coadapt.games.salesman.rules import Salesman
from coadapt.partners.dirichlet import Stationary
from tests.games.walkers import Seeker, Upward, Wanderer

NAMES = ("novice", "intermediate", "skilled")
GAME = Salesman(size=4, subgoals=2, max_steps=30)


@pytest.fixture(scope="module")
def finished() -> Episode:
    return record_episode(jax.random.key(2), GAME, (Seeker(), Seeker()), label_names=NAMES, truth="skilled")


class Endless(Salesman):
    """It never says that it is over."""

    def step(self, state, actions, key=None):
        after, outcome = super().step(state, actions, key)
        return after, outcome._replace(terminated=jnp.bool_(False), truncated=jnp.bool_(False))


jax.tree_util.register_dataclass(
    Endless, data_fields=["step_reward", "goal_reward"], meta_fields=["size", "subgoals", "max_steps"]
)


def test_a_game_that_never_ends_is_named_and_not_recorded_for_ever(key):
    with pytest.raises(NeverEnds, match="an episode of Endless went on after its 30 steps"):
        record_episode(key, Endless(size=4, subgoals=2, max_steps=30), (Upward(), Upward()))


def test_a_recorded_episode_ends_where_the_game_does(finished):
    assert 0 < finished.steps < GAME.max_steps
    last = finished.states[-1]
    assert last.collected.all()
    assert last.goal.tolist() in last.agents.tolist()
    assert [int(state.step) for state in finished.states] == list(range(finished.steps + 1))
    earned = GAME.step_reward * finished.steps + GAME.goal_reward * 3
    assert finished.return_after(finished.steps) == pytest.approx(earned, abs=1e-6)
    assert finished.return_after(finished.steps) == pytest.approx(finished.rewards.sum(), abs=1e-6)
    assert finished.return_after(0) == 0


def test_a_recorded_episode_is_the_one_that_is_played(key):
    players = (Wanderer(), Wanderer())
    episode = record_episode(key, GAME, players)
    _, transitions = rollout(start_episode(key, GAME, players), GAME, players, episode.steps)
    np.testing.assert_array_equal(episode.rewards, transitions.reward)
    own = transitions.seen[0].observation.own
    np.testing.assert_array_equal([state.agents[0] for state in episode.states[:-1]], own)
    assert transitions.ended.tolist() == [False] * (episode.steps - 1) + [True]


class Rolling(MatrixGame):
    """Every step pays what it rolls, and its state knows."""

    def step(self, state, actions, key=None):
        after, outcome = super().step(state, actions, key)
        roll = jax.random.uniform(jax.random.key(0) if key is None else key)
        return after._replace(last_reward=roll), outcome._replace(reward=roll)


jax.tree_util.register_dataclass(Rolling, data_fields=["payoff"], meta_fields=["max_steps"])


def test_with_chance_the_last_state_is_the_one_that_really_followed(key):
    players = Stationary(jnp.zeros(5)), Stationary(jnp.zeros(5))
    episode = record_episode(key, Rolling(max_steps=3), players)
    assert len(set(episode.rewards.tolist())) == 3
    assert [float(state.last_reward) for state in episode.states] == [0, *episode.rewards.tolist()]


def test_an_episode_that_is_cut_off_shows_its_own_last_state(key):
    episode = record_episode(key, Salesman(size=4, subgoals=2, max_steps=5), (Upward(), Upward()))
    assert episode.steps == 5
    assert int(episode.states[-1].step) == 5
    assert episode.states[-1].agents[:, 0].tolist() == [0, 0]
    assert episode.states[-1].goal.tolist() == episode.states[0].goal.tolist()


def test_the_greedy_main_agent_takes_its_likeliest_move_and_the_partner_does_not(key):
    """Of equal moves the first, up, is the likeliest."""
    episode = record_episode(key, Salesman(size=11, max_steps=12), (Wanderer(), Wanderer()), greedy=True)
    ways = np.array([state.agents for state in episode.states])
    assert len(set(ways[:, 0, 1])) == 1
    assert len(set(ways[:, 1, 1])) > 1


def test_beliefs_are_those_acted_on_and_the_last_one_stays(finished, key):
    assert finished.beliefs.shape == (finished.steps, 3)
    np.testing.assert_allclose(finished.belief_at(0), 1 / 3, rtol=1e-6)
    np.testing.assert_array_equal(finished.belief_at(finished.steps), finished.belief_at(finished.steps - 1))
    unnamed = record_episode(key, GAME, (Seeker(), Upward()))
    assert unnamed.label_names == ["label 0", "label 1", "label 2"]
    assert record_episode(key, GAME, (Upward(), Seeker())).belief_at(0) is None
