import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.agents.beliefs import LearnedBelief
from coadapt.games.matrix import MatrixGame, partner_watch
from coadapt.learning import supervised
from coadapt.learning.supervised import SupervisedConfig
from coadapt.oracles.matrix import bayes_squared_error
from coadapt.partners.dirichlet import DirichletPartners, Stationary

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
