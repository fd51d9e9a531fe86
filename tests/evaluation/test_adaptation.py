import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.agents.behaviour_conditioned import BehaviourConditioned
from coadapt.agents.beliefs import DirichletPosterior, Restarting, WithOnlooker
from coadapt.encounters import rollout, start_episode
from coadapt.evaluation.adaptation import added_up, calibration, calibration_by_step, opinion, steps_until_known
from coadapt.games.game import MAIN, PARTNER
from coadapt.games.matrix import MatrixGame, partner_action
from coadapt.partners.dirichlet import Stationary
from coadapt.partners.switch import PartnerSwitch
from coadapt.players import Decision

CERTAINLY = 100.0
GAME = MatrixGame(jnp.eye(2), max_steps=6)
ALWAYS = [Stationary(CERTAINLY * row) for row in jnp.eye(2)]
BELIEF = DirichletPosterior(jnp.ones(2), partner_action)


def episode(main, partner, key, steps=6):
    players = main, partner
    return rollout(start_episode(key, GAME, players), GAME, players, steps)[1]


def test_after_the_switch_another_one_plays(key):
    transitions = episode(ALWAYS[0], PartnerSwitch(ALWAYS[0], ALWAYS[1], 2), key)
    assert transitions.actions[PARTNER].tolist() == [0, 0, 1, 1, 1, 1]


def test_in_the_next_episode_the_first_is_back(key):
    transitions = episode(ALWAYS[0], PartnerSwitch(ALWAYS[0], ALWAYS[1], 4), key, steps=12)
    assert transitions.actions[PARTNER].tolist() == [0, 0, 0, 0, 1, 1] * 2


class Counts:
    """It takes the first action in the first step that it sees, and the second ever after."""

    def start(self, key):
        return jnp.int32(0)

    def decide(self, seen, memory):
        return Decision(CERTAINLY * jax.nn.one_hot(jnp.minimum(memory, 1), 2), memory + 1, {})


def test_who_takes_over_has_seen_nothing_before(key):
    transitions = episode(ALWAYS[0], PartnerSwitch(ALWAYS[1], Counts(), 2), key)
    assert transitions.actions[PARTNER].tolist() == [1, 1, 0, 1, 1, 1]


def test_a_switch_to_the_same_one_changes_nothing(key):
    player = Stationary(jnp.array([0.3, -0.2]))
    switched, alone = (episode(ALWAYS[0], partner, key) for partner in (PartnerSwitch(player, player, 2), player))
    np.testing.assert_array_equal(switched.actions, alone.actions)
    assert len(set(switched.actions[PARTNER].tolist())) == 2


def test_who_is_told_of_the_switch_forgets_and_who_is_not_does_not(key):
    """The posterior mean of the first action: (1 + seen) / (2 + all). Told, it counts from the switch on."""
    partner = PartnerSwitch(ALWAYS[0], ALWAYS[1], 3)
    said = lambda belief: episode(BehaviourConditioned(belief, lambda o, b: b), partner, key).infos[MAIN]["belief"]  # pyright: ignore[reportArgumentType]
    np.testing.assert_allclose(said(BELIEF)[:, 0], [1 / 2, 2 / 3, 3 / 4, 4 / 5, 4 / 6, 4 / 7], atol=1e-6)
    told = said(Restarting(BELIEF, 4))
    np.testing.assert_allclose(told[:, 0], [1 / 2, 2 / 3, 3 / 4, 4 / 5, 1 / 3, 1 / 4], atol=1e-6)


def test_an_onlooker_says_what_it_would_say_in_play_and_changes_nothing(key):
    """Two episodes in a row: it starts afresh where they do."""
    agent = BehaviourConditioned(BELIEF, lambda o, b: b)  # pyright: ignore[reportArgumentType]
    alone = episode(agent, Stationary(jnp.zeros(2)), key, steps=12)
    watched = episode(WithOnlooker(agent, BELIEF), Stationary(jnp.zeros(2)), key, steps=12)
    np.testing.assert_array_equal(watched.actions, alone.actions)
    np.testing.assert_array_equal(watched.infos[MAIN]["belief"], alone.infos[MAIN]["belief"])
    np.testing.assert_allclose(watched.infos[MAIN]["onlooker"], alone.infos[MAIN]["belief"], atol=1e-6)


@pytest.mark.parametrize(
    ("accuracy", "step"),
    [([0.5, 0.9, 0.95], 1), ([0.95, 0.8, 0.9], 2), ([0.9, 1.0], 0), ([1.0, 0.8], None), ([0.2, 0.9, np.nan], None)],
)
def test_steps_until_known(accuracy, step):
    assert steps_until_known(np.array(accuracy)) == step


def test_a_calibration_counted_by_hand():
    """Two at 0.6, of which one is right: off by 0.1, a quarter of the time. Six at 0.95, all right: off by 0.05."""
    beliefs = jnp.array([[0.6, 0.4], [0.4, 0.6], *[[0.95, 0.05], [0.05, 0.95]] * 3])
    labels = jnp.array([[1.0, 0.0], [1.0, 0.0], *[[1.0, 0.0], [0.0, 1.0]] * 3])
    found = calibration(added_up(jax.vmap(opinion)(beliefs, labels)))
    assert found.said[[6, 9]] == pytest.approx([0.6, 0.95])
    assert found.was[[6, 9]] == pytest.approx([0.5, 1.0])
    assert found.share[[6, 9]] == pytest.approx([0.25, 0.75])
    assert found.error == pytest.approx(0.025 + 0.0375)


def test_an_opinion_is_worth_what_it_is():
    """Of 0.25 for the truth: wrong, 1.125 away from it in squares, log 4 in loss. A belief of nothing stays finite."""
    found = opinion(jnp.array([0.25, 0.75]), jnp.array([1.0, 0.0]))
    assert (found.counted, found.correct) == (1, 0)
    assert found.brier == pytest.approx(1.125)
    assert found.log_loss == pytest.approx(np.log(4))
    assert np.isfinite(opinion(jnp.array([0.0, 1.0]), jnp.array([1.0, 0.0])).log_loss)


def test_of_labels_that_are_as_likely_each_has_its_share():
    third = jnp.full(3, 1 / 3)
    assert [float(opinion(third, label).correct) for label in jnp.eye(3)] == pytest.approx([1 / 3] * 3)
    assert opinion(jnp.array([0.4, 0.4, 0.2]), jnp.array([0.0, 1.0, 0.0])).correct == 0.5


def test_a_calibration_of_each_step():
    """Certain and wrong in the first step, certain and right in the second."""
    beliefs, label = jnp.array([[0.0, 1.0], [1.0, 0.0]]), jnp.array([1.0, 0.0])
    by_step = jax.vmap(lambda belief: opinion(belief, label))(beliefs)
    assert [of.error for of in calibration_by_step(by_step)] == [1, 0]


def test_opinions_add_up():
    each = jax.vmap(opinion)(jnp.array([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]]), jnp.array([[1.0, 0.0]] * 3))
    assert added_up(each).counted == 3
    assert added_up(each).correct == 1.5
    assert added_up(each, each, which=slice(0, 2)).correct == 2
