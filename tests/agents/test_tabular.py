"""The exact posterior of games of few states, on numbers counted by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.agents.tabular import RespondsByTable, StatePosterior, what_is_shown
from coadapt.encounters import rollout, start_episode
from coadapt.evaluation.episodes import episode_scores
from coadapt.games.game import MAIN, PARTNER
from coadapt.oracles.enumeration import enumerate_states
from coadapt.oracles.tabular import behaviour_of, best_response
from coadapt.partners.dirichlet import Stationary
from coadapt.players import seen_first
from tests.games.enumerable import PUSH, WAIT, Door, Forbidden, Lake

BACK, STAY, ON = range(3)


def posterior_in(game, shares, labels=None, prior=None):
    """Over partners that act by these shares, wherever they are."""
    tables, number = enumerate_states(game), len(shares)
    shown = jnp.asarray(what_is_shown(game, tables))
    behaviours = jax.vmap(lambda partner: behaviour_of(partner, game, tables.states))(Stationary(jnp.log(shares)))
    labels = jnp.eye(number) if labels is None else labels
    return StatePosterior(tables, shown, behaviours, labels, jnp.full(number, 1 / number) if prior is None else prior)


def beliefs(game, posterior, first, *steps):
    """After the first state, and after each step: the state that follows, the main agent's action and the reward."""
    belief, memory = posterior.update(seen_first(game, first, MAIN), posterior.start())
    found = [belief]
    for state, action, reward in steps:
        told = {"last_action": jnp.int32(action), "last_reward": jnp.float32(reward), "first": jnp.bool_(False)}
        belief, memory = posterior.update(seen_first(game, state, MAIN)._replace(**told), memory)
        found.append(belief)
    return found


@pytest.mark.parametrize(
    ("action", "expected"), [(PUSH, np.array([0.5, 0.75]) / 1.25), (WAIT, np.array([0.75, 1]) / 1.75)]
)
def test_what_the_partner_did_is_inferred_from_what_came_of_it(action, expected):
    """The door has stayed shut. Two who push fail half of the time, and one alone three times in four.

    So if the main agent has pushed it is 1/2 for who always pushes and 3/4 for who never does; else 3/4 and 1.
    """
    posterior = posterior_in(Door(), jnp.array([[0.0, 1.0], [1.0, 0.0]]))
    before, after = beliefs(Door(), posterior, jnp.int32(0), (jnp.int32(1), action, 0.0))
    np.testing.assert_allclose(before, [0.5, 0.5], atol=1e-6)
    np.testing.assert_allclose(after, expected, atol=1e-6)


def test_two_steps_multiply():
    """With three steps: a partner that pushes nine times in ten, one that does once, one half of the time.

    The door stays shut with 1 - (1 + p) / 4 when the main agent pushes, and then 1 - p / 4 when it waits.
    """
    game, pushes = Door(max_steps=3), np.array([0.9, 0.1, 0.5])
    prior, labels = np.array([0.5, 0.25, 0.25]), jnp.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    posterior = posterior_in(
        game, jnp.array([1 - pushes, pushes], jnp.float32).T, labels, jnp.asarray(prior, jnp.float32)
    )
    *_, after = beliefs(game, posterior, jnp.int32(0), (jnp.int32(1), PUSH, 0.0), (jnp.int32(2), WAIT, 0.0))
    weights = prior * (1 - (1 + pushes) / 4) * (1 - pushes / 4)
    np.testing.assert_allclose(after, np.array([weights[0], weights[1:].sum()]) / weights.sum(), atol=1e-6)


def test_rewards_tell_as_well():
    """The state is but the time. The first row pays -8 or -7: so -7 has the partner's last action behind it.

    One takes it once in ten times and the other half of the time. Its first action has no share, for it is illegal.
    """
    posterior = posterior_in(Forbidden(), jnp.array([[0.5, 0.45, 0.05], [0.2, 0.4, 0.4]]))
    _, after = beliefs(Forbidden(), posterior, jnp.int32(0), (jnp.int32(1), 0, -7.0))
    np.testing.assert_allclose(after, np.array([0.1, 0.5]) / 0.6, atol=1e-6)


def test_steps_around_the_lake_are_known_for_certain_though_nobody_is_shown_the_time():
    """From side by side at place 3, the main agent stays; the friend goes on, then back, over the end of the count."""
    shares = jnp.array([[0.2, 0.0, 0.8], [0.5, 0.0, 0.5]])
    places = lambda taken, *at: (jnp.int32(taken), jnp.array(at))
    posterior = posterior_in(Lake(), shares)
    once = (places(1, 4, 0), STAY, 0.0)
    _, one, two = beliefs(Lake(), posterior, places(0, 4, 4), once, (places(2, 4, 4), STAY, 1.0))
    np.testing.assert_allclose(one, np.array([0.8, 0.5]) / 1.3, atol=1e-6)
    np.testing.assert_allclose(two, np.array([0.16, 0.25]) / 0.41, atol=1e-6)


class Blind(Lake):
    """Nobody sees where the other is."""

    def observe(self, state, seat):
        return state[1][seat]


class Unpaid(Door):
    """Nobody is shown the time, and there is a choice of rooms to begin in."""

    def starts(self):
        return jnp.arange(2), jnp.full(2, 0.5)

    def observe(self, state, seat):
        return ()


@pytest.mark.parametrize("game", [Blind(), Unpaid()])
def test_who_cannot_tell_the_state_has_no_posterior(game):
    with pytest.raises(ValueError, match=f"{type(game).__name__} sees does not tell it the state"):
        what_is_shown(game, enumerate_states(game))


def test_the_best_response_played_earns_its_value(key):
    """With three steps and a partner that pushes three times in ten: four standard errors over 20,000 episodes."""
    game, partner = Door(max_steps=3), Stationary(jnp.log(jnp.array([0.7, 0.3])))
    posterior = posterior_in(game, jnp.array([[0.7, 0.3], [0.1, 0.9]]), prior=jnp.array([1.0, 0.0]))
    best = best_response(posterior.tables, posterior.behaviours[0])
    players = RespondsByTable(posterior, jnp.stack([best.actions, 1 - best.actions])), partner
    run = lambda key: rollout(start_episode(key, game, players), game, players, game.max_steps)[1]
    scores = episode_scores(jax.jit(jax.vmap(run))(jax.random.split(key, 20_000)))
    for name, table in best.outlook._asdict().items():
        off = np.asarray(getattr(scores, name) - table[0], np.float64)
        assert abs(off.mean()) < 4 * off.std() / len(off) ** 0.5


def test_in_play_it_is_bayes_rule_on_what_the_partner_did(key):
    """On the lake all that it does can be seen, but for its last step."""
    game, shares = Lake(max_steps=4), jnp.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6], [0.3, 0.4, 0.3]])
    posterior = posterior_in(game, shares)

    def last_belief(key, which):
        players = RespondsByTable(posterior, jnp.zeros((3, 100), jnp.int32)), Stationary(jnp.log(shares[which]))
        steps = rollout(start_episode(key, game, players), game, players, game.max_steps)[1]
        return steps.infos[MAIN]["belief"][-1], steps.actions[PARTNER]

    belief, actions = jax.jit(jax.vmap(last_belief))(jax.random.split(key, 600), jnp.arange(600) % 3)
    by_hand = np.prod(np.asarray(shares)[:, actions[:, :3]], axis=2).T
    np.testing.assert_allclose(belief, by_hand / by_hand.sum(1, keepdims=True), atol=1e-5)
