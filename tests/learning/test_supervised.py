import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.agents.beliefs import ConstantBelief, LearnedBelief, ReplayedBelief
from coadapt.agents.encoders import VectorSpec
from coadapt.games.game import MAIN, Outcome
from coadapt.games.matrix import MatrixGame, partner_watch
from coadapt.learning import supervised
from coadapt.learning.supervised import SupervisedConfig, Watched, as_of_one_episode, mean_loss
from coadapt.oracles.matrix import bayes_squared_error
from coadapt.partners.dirichlet import DirichletPartners, Stationary
from coadapt.partners.mixed import fixed_population_of
from coadapt.players import seen_first, shown_first

GAME = MatrixGame(jnp.array([[1.0, 0.0], [0.0, 1.0]]), max_steps=3)
SEEN = seen_first(GAME, GAME.reset(jax.random.key(0)), MAIN)  # for its shapes
PARTNERS = DirichletPartners(jnp.ones(2))
CONFIG = SupervisedConfig(iterations=400, num_envs=64, num_steps=3, learning_rate=1e-2)


def train(iterations):
    belief = LearnedBelief(jax.random.key(1), VectorSpec(partner_watch), SEEN, units=8, hidden=(8,), labels=2)
    state = supervised.start(jax.random.key(2), belief, CONFIG)
    anyone = lambda belief: Stationary(jnp.zeros(2))
    return jax.jit(
        lambda s: supervised.train_chunk(s, GAME, PARTNERS, anyone, supervised.squared_error, CONFIG, iterations)
    )(state)


def test_the_squared_error_of_opposite_certainties_is_two():
    assert supervised.squared_error(jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0])) == 2


def test_the_likelihood_of_what_was_hardly_believed():
    """A quarter for the truth: log 4. Nothing at all stays finite."""
    loss = supervised.negative_log_likelihood
    assert float(loss(jnp.array([0.25, 0.75]), jnp.array([1.0, 0.0]))) == pytest.approx(np.log(4))
    assert np.isfinite(loss(jnp.array([0.0, 1.0]), jnp.array([1.0, 0.0])))


def test_a_belief_learns_the_rule_of_succession():
    """Of a uniform unknown share, after n successes in n tries, the expected share is (n + 1) / (n + 2)."""
    state, info = train(400)
    belief, memory = state.belief.network, state.belief.network.start()
    game_state = GAME.reset(jax.random.key(0))
    expected = [0.5, 2 / 3, 3 / 4]
    for share in expected:
        prediction, memory = belief.update(seen_first(GAME, game_state, MAIN), memory)
        assert float(prediction[0]) == pytest.approx(share, abs=0.04)
        game_state, _ = GAME.step(game_state, (jnp.int32(0), jnp.int32(0)))
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


BELIEFS = ReplayedBelief(jnp.array([[0.5, 0.5], [0.4, 0.6], [0.1, 0.9], [0.0, 1.0]]))
"""What it says at each step of an episode, whomever it watches."""


def watched(*ended, label):
    nothing = jnp.zeros((1, len(ended)))
    return Watched(jax.vmap(jax.vmap(shown_first))(nothing), jnp.array([ended], bool), jnp.eye(2)[None, label])


@pytest.mark.parametrize("ended", [(0, 0, 1), (0, 0, 1, 0)], ids=["an episode", "and a step of the next"])
def test_the_loss_of_a_game_is_that_of_one_episode(ended):
    """Squared distances to (0, 1): 2 * 0.5^2, 2 * 0.4^2 and 2 * 0.1^2; (0.5, 0.5) is taken for the first label."""
    value, (told, accuracy) = mean_loss(BELIEFS, watched(*ended, label=1), supervised.squared_error)
    assert float(value) == float(told) == pytest.approx((0.5 + 0.32 + 0.02) / 3)
    assert float(accuracy) == pytest.approx(2 / 3)


def test_minibatches_have_their_share_of_every_partner():
    """Three partners of two games each: a minibatch has one game with each."""
    games = Watched(
        jax.vmap(shown_first)(jnp.arange(6)[:, None]), jnp.zeros((6, 1), bool), jnp.repeat(jnp.eye(3), 2, axis=0)
    )
    dealt = supervised._dealt(games, 2)
    assert dealt.seen.observation[..., 0].tolist() == [[0, 2, 4], [1, 3, 5]]
    assert dealt.labels.tolist() == [jnp.eye(3).tolist()] * 2


def test_what_is_watched_is_labelled_by_who_it_was(monkeypatch):
    """One always takes the first action, the other the second: so the label is what the partner is seen to do."""

    def compare(belief, batch, loss):
        did = batch.seen.observation.other_action[:, 1:]
        as_labelled = jnp.all(did == batch.labels[:, None], axis=(1, 2))
        return belief.label.sum(), (jnp.mean(batch.labels[:, 0]), jnp.mean(as_labelled.astype(jnp.float32)))

    monkeypatch.setattr(supervised, "mean_loss", compare)
    config = SupervisedConfig(iterations=1, num_envs=4, num_steps=3)
    state = supervised.start(jax.random.key(2), ConstantBelief(jnp.zeros(2)), config)
    always = [Stationary(99 * row) for row in jnp.eye(2)]
    population = fixed_population_of({"first": always[:1], "second": always[1:]})
    anyone = lambda belief: Stationary(jnp.zeros(2))
    learn = jax.jit(lambda s: supervised.iterate(s, GAME, population, anyone, supervised.squared_error, config))
    _, (of_first, as_labelled, _) = learn(state)
    assert (of_first, as_labelled) == (0.5, 1)


class Visit:
    """It is over when the visitor leaves, which is action 1."""

    num_actions, max_steps = (1, 2), 4

    def reset(self, key):
        return jnp.int32(0)

    def step(self, state, actions, key):
        return state + 1, Outcome(jnp.float32(0), terminated=actions[1] == 1, truncated=state + 1 == self.max_steps)

    def observe(self, state, seat):
        return jax.nn.one_hot(state, self.max_steps)


def test_who_leaves_sooner_is_not_expected_more():
    """In the time of one long visit there are four short ones. Before anything is seen both are as likely."""
    game, config = Visit(), SupervisedConfig(iterations=300, num_envs=8, num_steps=4, learning_rate=1e-2)
    visitors = fixed_population_of(
        {"stays": [Stationary(jnp.array([99.0, 0]))], "leaves": [Stationary(jnp.array([0, 99.0]))]}
    )
    belief = LearnedBelief(
        jax.random.key(1), VectorSpec(lambda seen: seen), shown_first(jnp.zeros(4)), units=8, hidden=(8,), labels=2
    )
    host = lambda belief: Stationary(jnp.zeros(1))
    loss = supervised.negative_log_likelihood
    learn = jax.jit(lambda s: supervised.train_chunk(s, game, visitors, host, loss, config, config.iterations))
    belief = learn(supervised.start(jax.random.key(2), belief, config))[0].belief.network
    at_first, memory = belief.update(seen_first(game, jnp.int32(0), MAIN), belief.start())
    later, _ = belief.update(seen_first(game, jnp.int32(1), MAIN), memory)
    assert at_first.tolist() == pytest.approx([0.5, 0.5], abs=0.02)
    assert later.tolist() == pytest.approx([1, 0], abs=0.02)
