"""The exact posterior, on numbers counted by hand."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.agents.best_response import RespondsToLikeliest
from coadapt.agents.posterior import PartnerEvidence, PartnerPosterior
from coadapt.encounters import rollout, start_episode
from coadapt.experiments.salesman.oracle import evidence_in, following, led_to
from coadapt.games.game import MAIN, StartsAt
from coadapt.games.matrix import MatrixGame, partner_action
from coadapt.games.salesman.layouts import layout_of, table_shape
from coadapt.games.salesman.rules import Salesman, SalesmanObservation
from coadapt.oracles.salesman import best_response
from coadapt.partners.dirichlet import Stationary
from coadapt.players import Decision, shown_first

GAME = Salesman(size=3, subgoals=1, max_steps=8)
UP, DOWN, LEFT, RIGHT = range(4)
SHARES = jnp.array([[0.4, 0.1, 0.4, 0.1], [0.1, 0.4, 0.1, 0.4], [0.25, 0.25, 0.25, 0.25]])
"""One is drawn to the upper left, one to the lower right, one walks at random."""
EVIDENCE = evidence_in(GAME)
POSTERIOR = PartnerPosterior(EVIDENCE, Stationary(jnp.log(SHARES)), jnp.eye(3), jnp.array([0.5, 0.25, 0.25]))


def looks(other):
    nowhere = jnp.zeros(2, jnp.int32)
    return SalesmanObservation(nowhere, jnp.array(other), nowhere[None], nowhere, jnp.array([False]))


def beliefs(posterior, *cells):
    memory, found = posterior.start(), []
    for cell in cells:
        belief, memory = posterior.update(shown_first(looks(cell)), memory)
        found.append(belief)
    return found


def test_before_anything_moves_it_is_the_prior():
    np.testing.assert_allclose(beliefs(POSTERIOR, [2, 2])[0], [0.5, 0.25, 0.25], atol=1e-6)


def test_moves_are_counted_by_bayes_rule():
    """Up from the middle, then right: 0.4 * 0.1, 0.1 * 0.4 and 0.25 * 0.25, with the prior."""
    _, once, twice = beliefs(POSTERIOR, [1, 1], [0, 1], [0, 2])
    np.testing.assert_allclose(once, np.array([0.2, 0.025, 0.0625]) / 0.2875, atol=1e-6)
    np.testing.assert_allclose(twice, np.array([0.02, 0.01, 0.015625]) / 0.045625, atol=1e-6)


def test_a_bump_into_one_of_two_walls_may_have_been_either():
    """Who stays in the upper left corner has gone up or left: 0.8, 0.2 and 0.5."""
    _, stayed = beliefs(POSTERIOR, [0, 0], [0, 0])
    np.testing.assert_allclose(stayed, np.array([0.4, 0.05, 0.125]) / 0.575, atol=1e-6)
    assert led_to(GAME, looks([0, 0]), looks([0, 0])).tolist() == [True, False, True, False]
    assert led_to(GAME, looks([1, 1]), looks([1, 2])).tolist() == [False, False, False, True]


def test_partners_that_share_a_label_add_up():
    labels = jnp.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    _, once = beliefs(PartnerPosterior(EVIDENCE, POSTERIOR.players, labels, POSTERIOR.prior), [1, 1], [0, 1])
    np.testing.assert_allclose(once, np.array([0.2, 0.0875]) / 0.2875, atol=1e-6)


class Steers(NamedTuple):
    """It goes up or down: towards the other agent or, with a strength below nothing, away from it."""

    strength: Any

    def start(self, key):
        return ()

    def decide(self, seen, memory):
        observation = seen.observation
        down = self.strength * (observation.other[0] - observation.own[0]).astype(jnp.float32)
        return Decision(jnp.array([-1.0, 1.0, 0.0, 0.0]) * down - jnp.array([0.0, 0.0, 99.0, 99.0]), memory, {})


def test_each_of_them_is_asked_what_it_would_do_in_its_own_place():
    """A row below the other agent, who seeks it goes up e^2 times as often as down, and who flees it the reverse."""
    both = PartnerPosterior(EVIDENCE, Steers(jnp.array([1.0, -1.0])), jnp.eye(2), jnp.array([0.5, 0.5]))
    _, once = beliefs(both, [1, 1], [0, 1])
    np.testing.assert_allclose(once[0] / once[1], np.exp(2), rtol=1e-5)


def test_in_another_game_it_is_told_what_there_is_to_see():
    """Two actions, which are seen: of one who takes them nine to one, and one to four; then both in turn.

    0.9 and 0.2, and with the second action 0.9 * 0.1 and 0.2 * 0.8.
    """
    game = MatrixGame(jnp.eye(2), max_steps=3)
    at_first = lambda: game.observe(game.reset(jax.random.key(0)), MAIN)
    evidence = PartnerEvidence(2, at_first, lambda before, now: partner_action(now) > 0, shown_first)
    shares = jnp.array([[0.9, 0.1], [0.2, 0.8]])
    posterior = PartnerPosterior(evidence, Stationary(jnp.log(shares)), jnp.eye(2), jnp.array([0.5, 0.5]))
    memory, found = posterior.start(), []
    for action in (jnp.zeros(2), jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0])):
        belief, memory = posterior.update(shown_first(at_first()._replace(other_action=action)), memory)
        found.append(belief)
    np.testing.assert_allclose(found, [[0.5, 0.5], [0.9 / 1.1, 0.2 / 1.1], [0.36, 0.64]], atol=1e-6)


def test_partners_do_nothing_illegal_and_the_posterior_knows():
    """The third action is illegal: of 0.5, 0.4 and 0.1 this leaves 5/9 for the first, of 0.2, 0.4 and 0.4 a third.

    So who did it is the one rather than the other at 5 to 3, where the players alone would make it 5 to 2.
    """
    game = MatrixGame(jnp.eye(3), max_steps=3)
    at_first = lambda: game.observe(game.reset(jax.random.key(0)), MAIN)
    partner_may = lambda observation: shown_first(observation, jnp.array([True, True, False]))
    evidence = PartnerEvidence(3, at_first, lambda before, now: partner_action(now) > 0, partner_may)
    players = Stationary(jnp.log(jnp.array([[0.5, 0.4, 0.1], [0.2, 0.4, 0.4]])))
    posterior = PartnerPosterior(evidence, players, jnp.eye(2), jnp.array([0.5, 0.5]))
    _, memory = posterior.update(shown_first(at_first()), posterior.start())
    belief, _ = posterior.update(shown_first(at_first()._replace(other_action=jnp.array([1.0, 0.0, 0.0]))), memory)
    np.testing.assert_allclose(belief, [5 / 8, 3 / 8], atol=1e-6)


def test_a_table_is_followed_step_by_step(key):
    """What to do is to go up, down, left and right in turn, wherever one is."""
    actions = jnp.broadcast_to(jnp.arange(4, dtype=jnp.uint8).reshape(4, *(1,) * 5), (4, *table_shape(GAME)))
    player, memory, done = following(actions), following(actions).start(key), []
    for _ in range(4):
        decision = player.decide(shown_first(looks([1, 1])), memory)
        memory = decision.memory
        done.append(int(jnp.argmax(decision.logits)))
    assert done == [UP, DOWN, LEFT, RIGHT]


def test_it_is_calibrated(key):
    """Over many episodes with each partner as often as its prior says, it is right as often as it believes to be.

    A belief that is right on average only, as the prior is, would pass without the factor: with it, it must be right
    where it is certain and where it is not.
    """
    players = following(jnp.zeros((8, *table_shape(GAME)), jnp.uint8)), POSTERIOR.players
    which = jnp.repeat(jnp.arange(3), jnp.array([4_000, 2_000, 2_000]), total_repeat_length=8_000)

    def last_belief(key, number):
        partner = jax.tree.map(lambda leaf: leaf[number], players[1])
        transitions = rollout(start_episode(key, GAME, (players[0], partner)), GAME, (players[0], partner), 5)[1]

        def watch(memory, seen):
            belief, memory = POSTERIOR.update(seen, memory)
            return memory, belief

        _, beliefs = jax.lax.scan(watch, POSTERIOR.start(), transitions.seen[MAIN])
        return beliefs[-1], ~jnp.any(transitions.ended[:4])

    belief, going_on = jax.jit(jax.vmap(last_belief))(jax.random.split(key, 8_000), which)
    truth = jax.nn.one_hot(which, 3)
    off = np.asarray(belief * (belief - truth), np.float64)[np.asarray(going_on)]
    assert len(off) > 3_000
    assert (np.abs(off.mean(0)) < 4 * off.std(0) / len(off) ** 0.5).all()


def test_who_knows_the_partner_responds_to_it_in_the_best_way(key):
    """Told apart for certain, the best response to the likeliest is the best response to the one it is."""
    start = GAME.reset(jax.random.key(2))
    layout = layout_of(start)
    behaviours = jnp.broadcast_to(SHARES.reshape(3, 4, *(1,) * 5), (3, 4, *table_shape(GAME)))
    actions = jax.vmap(lambda behaviour: best_response(GAME, layout, behaviour).actions)(behaviours)
    sure = PartnerPosterior(EVIDENCE, POSTERIOR.players, jnp.eye(3), jnp.array([0.0, 1.0, 0.0]))
    game, partner = StartsAt(GAME, start), Stationary(jnp.log(SHARES[1]))
    run = lambda player: rollout(start_episode(key, game, (player, partner)), game, (player, partner), 8)[1].actions
    told, knowing = run(RespondsToLikeliest(sure, following(actions))), run(following(actions[1]))
    np.testing.assert_array_equal(told[MAIN], knowing[MAIN])
