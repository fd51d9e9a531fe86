"""Laws of the matrix game, checked on every history of partner actions there can be, not on samples."""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import gammaln

from coadapt.agents.bayes import bayes_optimal
from coadapt.agents.behaviour_conditioned import BehaviourConditioned, ConditionedPolicy
from coadapt.agents.beliefs import ConstantBelief, LearnedBelief
from coadapt.agents.encoders import VectorSpec
from coadapt.agents.recurrent import RecurrentPolicy
from coadapt.evaluation.episodes import play_episodes, step_scores
from coadapt.games.game import MAIN
from coadapt.games.matrix import PAPER_PAYOFF, MatrixGame, clock, full_view, partner_action, partner_watch
from coadapt.learning import supervised
from coadapt.learning.supervised import SupervisedConfig
from coadapt.oracles.dirichlet import posterior_mean
from coadapt.oracles.matrix import bayes_reward, bayes_squared_error
from coadapt.partners.dirichlet import DirichletPartners, Stationary
from coadapt.players import seen_first

STEPS = 6
GAME = MatrixGame(max_steps=STEPS)
LOOK = seen_first(GAME, GAME.reset(jax.random.key(0)), MAIN)  # for its shapes
PAYOFF = np.array(PAPER_PAYOFF)
SEEN = STEPS - 1  # partner actions seen before the last decision
HISTORIES = np.array(list(product(range(5), repeat=SEEN)))
COUNTS = np.concatenate(  # by history, decision and action: what was seen before each decision
    [np.zeros((len(HISTORIES), 1, 5), int), (HISTORIES[:, :, None] == np.arange(5)).cumsum(1)], axis=1
)
ALPHAS = (0.01, 0.3, 3.0)


def probabilities(alpha):
    """The probability of each whole history: that of any one order of its counts."""
    each = (gammaln(alpha + COUNTS[:, -1]) - gammaln(alpha)).sum(1) + gammaln(5 * alpha) - gammaln(5 * alpha + SEEN)
    return np.exp(each)


def posterior_means(alpha):
    return posterior_mean(np.full(5, alpha), COUNTS)


@jax.jit
def decisions(player, own_actions):
    """Every decision of a player along each history, when it itself takes these actions on the way."""

    def along(history):
        def step(carry, actions):
            state, memory = carry
            decision = player.decide(seen_first(GAME, state, MAIN), memory)
            return (GAME.step(state, actions)[0], decision.memory), decision._replace(memory=())

        start = GAME.reset(jax.random.key(0)), player.start(jax.random.key(0))
        whole = jnp.append(history, 0)  # what follows the last decision changes nothing
        return jax.lax.scan(step, start, (own_actions, whole))[1]

    return jax.vmap(along)(jnp.array(HISTORIES, jnp.int32))


def payoffs_along_every_history(player, alpha, own_actions=(0,) * STEPS):
    """What the player's distributions over actions earn on average, given all that can be known, in float64."""
    logits = np.asarray(decisions(player, jnp.array(own_actions, jnp.int32)).logits, np.float64)
    shares = np.exp(logits - logits.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    return ((posterior_means(alpha) @ PAYOFF) * shares).sum(-1)


@pytest.fixture(scope="module", params=ALPHAS)
def trained(request):
    """A predictor after some training: good enough to be worth comparing, not yet perfect."""
    population = DirichletPartners(jnp.full(5, request.param))
    config = SupervisedConfig(iterations=300, num_steps=STEPS, learning_rate=8e-3)
    belief = LearnedBelief(jax.random.key(1), VectorSpec(partner_watch), LOOK, units=32, hidden=(16,), labels=5)
    anyone = lambda belief: Stationary(jnp.zeros(5))
    train = lambda s: supervised.train_chunk(s, GAME, population, anyone, supervised.squared_error, config, 300)
    state, _ = jax.jit(train)(supervised.start(jax.random.key(2), belief, config))
    return request.param, state.belief.network


def test_the_histories_are_all_there_are():
    assert len(HISTORIES) == 5**SEEN
    for alpha in ALPHAS:
        assert probabilities(alpha).sum() == pytest.approx(1, abs=1e-10)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_bayes_player_takes_the_best_action_on_every_history(alpha):
    bayes = bayes_optimal(GAME.payoff, jnp.full(5, alpha), partner_action)
    earned = payoffs_along_every_history(bayes, alpha)
    best = (posterior_means(alpha) @ PAYOFF).max(-1)
    np.testing.assert_allclose(earned, best, atol=1e-6)  # float32 may swap two actions that are as good as equal
    exact = [bayes_reward(PAYOFF, np.full(5, alpha), seen) for seen in range(STEPS)]
    np.testing.assert_allclose(probabilities(alpha) @ earned, exact, atol=1e-7)


def test_no_agent_beats_the_bayes_player_on_any_history(trained):
    alpha, predictor = trained
    keys = jax.random.split(jax.random.key(7), 2)
    policy = ConditionedPolicy(keys[0], VectorSpec(clock), LOOK, 5, (6, 16), 5)
    exact_policy = bayes_optimal(GAME.payoff, jnp.full(5, alpha), partner_action).policy
    best = payoffs_along_every_history(bayes_optimal(GAME.payoff, jnp.full(5, alpha), partner_action), alpha)
    agents = [
        BehaviourConditioned(predictor, policy),
        BehaviourConditioned(predictor, exact_policy),
        BehaviourConditioned(ConstantBelief(jnp.full(5, 0.2)), exact_policy),
        RecurrentPolicy(keys[1], VectorSpec(full_view), LOOK, 32, (16,), 5),
    ]
    for agent in agents:
        for own_actions in ((0,) * STEPS, (4, 3, 2, 1, 0, 0)):
            assert (payoffs_along_every_history(agent, alpha, own_actions) <= best + 1e-6).all()


def test_no_predictor_has_a_smaller_error_than_the_exact_posterior(trained):
    """The error splits on every history into the posterior's variance and the distance to the posterior mean."""
    alpha, predictor = trained
    assert enumerated_error(alpha, predictor) > bayes_squared_error(np.full(5, alpha), SEEN)


def test_the_error_measured_in_play_is_the_enumerated_one(trained):
    """A predictor that got hold of the label in play, by whatever way, would do better there than on its histories."""
    alpha, predictor = trained
    population = DirichletPartners(jnp.full(5, alpha))
    agent = BehaviourConditioned(predictor, bayes_optimal(GAME.payoff, jnp.full(5, alpha), partner_action).policy)

    @jax.jit
    def play(key):
        for_partners, for_play = jax.random.split(key)
        partners = population.draw(for_partners, 50_000)
        transitions = play_episodes(for_play, GAME, partners, agent)
        distances = jnp.sum((transitions.infos[MAIN]["belief"][:, -1] - partners.labels) ** 2, axis=-1)
        return step_scores(transitions, partners).prediction_error[-1], jnp.std(distances)

    measured, deviation = play(jax.random.key(21))
    error = float(deviation) / np.sqrt(50_000)
    assert float(measured) == pytest.approx(enumerated_error(alpha, predictor), abs=4.5 * error)


def enumerated_error(alpha, predictor):
    anything = bayes_optimal(GAME.payoff, jnp.full(5, alpha), partner_action).policy
    agent = BehaviourConditioned(predictor, anything)
    belief = np.asarray(decisions(agent, jnp.zeros(STEPS, jnp.int32)).info["belief"][:, -1], np.float64)
    mean = posterior_means(alpha)[:, -1]
    variance = (mean * (1 - mean)).sum(1) / (5 * alpha + SEEN + 1)
    return probabilities(alpha) @ (((belief - mean) ** 2).sum(1) + variance)
