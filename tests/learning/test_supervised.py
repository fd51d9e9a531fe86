import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.agents.beliefs import LearnedBelief
from coadapt.games.game import Outcome
from coadapt.games.matrix import MatrixGame, partner_watch
from coadapt.learning import supervised
from coadapt.learning.supervised import SupervisedConfig, as_of_one_episode
from coadapt.oracles.matrix import bayes_squared_error
from coadapt.partners.dirichlet import DirichletPartners, Stationary
from coadapt.partners.mixed import roster_of

GAME = MatrixGame(jnp.array([[1.0, 0.0], [0.0, 1.0]]), max_steps=3)
PARTNERS = DirichletPartners(jnp.ones(2))
CONFIG = SupervisedConfig(iterations=400, games=64, steps=3, learning_rate=1e-2)


def train(iterations):
    belief = LearnedBelief(jax.random.key(1), partner_watch, inputs=3, units=8, hidden=(8,), labels=2)
    state = supervised.start(jax.random.key(2), belief, CONFIG)
    anyone = lambda belief: Stationary(jnp.zeros(2))
    return jax.jit(
        lambda s: supervised.train_chunk(s, GAME, PARTNERS, anyone, supervised.squared_error, CONFIG, iterations)
    )(state)


def test_the_squared_error_of_opposite_certainties_is_two():
    assert supervised.squared_error(jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0])) == 2


def test_a_belief_learns_the_rule_of_succession():
    """Of a uniform unknown share, after n successes in n tries, the expected share is (n + 1) / (n + 2)."""
    state, info = train(400)
    belief, memory = state.belief.network, state.belief.network.start()
    seen = GAME.reset(jax.random.key(0))
    expected = [0.5, 2 / 3, 3 / 4]
    for share in expected:
        prediction, memory = belief.update(GAME.observe(seen, 0), memory)
        assert float(prediction[0]) == pytest.approx(share, abs=0.04)
        seen, _ = GAME.step(seen, (jnp.int32(0), jnp.int32(0)))
    least = sum(bayes_squared_error(np.ones(2), n) for n in range(3)) / 3
    assert float(info.loss[-100:].mean()) == pytest.approx(least, rel=0.05)


def test_chunks_add_up():
    whole, _ = train(6)
    half, _ = train(3)
    anyone = lambda belief: Stationary(jnp.zeros(2))
    rest, _ = jax.jit(lambda s: supervised.train_chunk(s, GAME, PARTNERS, anyone, supervised.squared_error, CONFIG, 3))(
        half
    )
    same = jax.tree.map(lambda a, b: bool((a == b).all()), whole, rest)
    assert jax.tree.all(same)


def weights(*ended):
    return as_of_one_episode(jnp.array(ended, bool)).tolist()


def test_one_episode_weighs_what_its_steps_are():
    assert weights(0, 0, 0, 0) == weights(0, 0, 0, 1) == [1, 1, 1, 1]


def test_episodes_share_the_weight_of_one():
    assert weights(0, 1, 0, 1) == [1 / 2] * 4


def test_an_episode_shares_only_what_a_later_one_had_time_for():
    # The second begins with the last step: it has a first step, and might never have had a second.
    assert weights(0, 0, 1, 0) == [1 / 2, 1, 1, 1 / 2]
    # Of three first steps each weighs a third; two of the episodes have had the time for a second one.
    assert weights(0, 1, 0, 1, 0) == pytest.approx([1 / 3, 1 / 2, 1 / 3, 1 / 2, 1 / 3])


class Visit:
    """It is over when the visitor leaves, which is action 1."""

    num_actions, max_steps = (1, 2), 4

    def reset(self, key):
        return jnp.int32(0)

    def step(self, state, actions):
        return state + 1, Outcome(jnp.float32(0), terminated=actions[1] == 1, truncated=state + 1 == self.max_steps)

    def observe(self, state, seat):
        return jax.nn.one_hot(state, self.max_steps)


def test_who_leaves_sooner_is_not_expected_more():
    """In the time of one long visit there are four short ones. Before anything is seen both are as likely."""
    game, config = Visit(), SupervisedConfig(iterations=300, games=8, steps=4, learning_rate=1e-2)
    visitors = roster_of({"stays": [Stationary(jnp.array([99.0, 0]))], "leaves": [Stationary(jnp.array([0, 99.0]))]})
    belief = LearnedBelief(jax.random.key(1), lambda seen: seen, inputs=4, units=8, hidden=(8,), labels=2)
    host = lambda belief: Stationary(jnp.zeros(1))
    loss = supervised.negative_log_likelihood
    learn = jax.jit(lambda s: supervised.train_chunk(s, game, visitors, host, loss, config, config.iterations))
    belief = learn(supervised.start(jax.random.key(2), belief, config))[0].belief.network
    at_first, memory = belief.update(game.observe(jnp.int32(0), 0), belief.start())
    later, _ = belief.update(game.observe(jnp.int32(1), 0), memory)
    assert at_first.tolist() == pytest.approx([0.5, 0.5], abs=0.02)
    assert later.tolist() == pytest.approx([1, 0], abs=0.02)
