"""One policy in both seats learns what only both together can do."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import pytest

from coadapt.encounters import rollout, start_episode
from coadapt.games.game import MAIN, PARTNER, Outcome
from coadapt.games.matrix import MatrixGame
from coadapt.learning import ppo, selfplay
from coadapt.learning.ppo import PPOConfig
from coadapt.networks.mlp import MLP
from coadapt.partners.dirichlet import Stationary
from coadapt.players import shown_first
from tests.learning.probes import Judge, Probe, Reactive

CONFIG = PPOConfig(
    iterations=200,
    num_envs=32,
    num_steps=5,
    epochs=4,
    minibatches=2,
    learning_rate=1e-2,
    discount=0.5,
    entropy_coefficient=0.0,
)
NOTHING = jnp.zeros(0)


class BothLikeTheirCue(Probe):
    """Each seat has a cue of its own; a step pays one only if both act like theirs. Episodes take five steps."""

    num_actions = (2, 2)
    max_steps = 5

    def observe(self, state, seat):
        return jnp.stack([state.cue if seat == MAIN else -state.cue, jnp.float32(0)])

    def step(self, state, actions, key):
        after = state._replace(step=state.step + 1)
        main, partner = (2 * action.astype(jnp.float32) - 1 for action in actions)
        good = (main * state.cue > 0) & (partner * -state.cue > 0)
        return after, Outcome(good.astype(jnp.float32), after.step >= self.max_steps, jnp.bool_(False))


def begin(key):
    for_policy, for_critic, for_training = jax.random.split(key, 3)
    policy = Reactive(MLP(for_policy, 2, (16,), 2, last_scale=0.01))
    critic = Judge(MLP(for_critic, 2, (16,), 1))
    return ppo.start(for_training, policy, critic, CONFIG)


def as_player(policy, label):
    return policy


def go_on(state, game, iterations):
    return jax.jit(lambda s: selfplay.train_chunk(s, game, as_player, NOTHING, CONFIG, iterations))(state)


def test_both_seats_learn_what_neither_could_alone(key):
    game = BothLikeTheirCue()
    state, info = go_on(begin(key), game, 200)
    assert info.reward[0] == pytest.approx(0.25, abs=0.15)
    assert info.reward[-20:].mean() > 0.97
    for cue, action in ((1.0, 1), (-1.0, 0)):
        decision = state.policy.network.decide(shown_first(jnp.array([cue, 0.0])), ())
        assert jax.nn.softmax(decision.logits)[action] > 0.97


def test_an_iteration_shorter_than_an_episode_is_refused(key):
    with pytest.raises(ValueError, match=r"^num_steps \(4\) must cover an episode \(5\)"):
        selfplay.train_chunk(begin(key), BothLikeTheirCue(), as_player, NOTHING, replace(CONFIG, num_steps=4), 1)


def test_metrics_are_of_what_both_sides_played(key):
    metrics = lambda transitions, labels: {
        "sides": jnp.int32(len(labels)),
        "ends": jnp.sum(transitions.ended, dtype=jnp.int32),
    }
    _, info = selfplay.iterate(begin(key), BothLikeTheirCue(), as_player, NOTHING, CONFIG, metrics)
    assert info.metrics["sides"] == info.metrics["ends"] == 2 * CONFIG.num_envs


def test_chunks_add_up(key):
    game = BothLikeTheirCue()
    whole, _ = go_on(begin(key), game, 4)
    half, _ = go_on(begin(key), game, 2)
    again, _ = go_on(half, game, 2)
    for one, other in zip(jax.tree.leaves(whole), jax.tree.leaves(again), strict=True):
        if jnp.issubdtype(one.dtype, jax.dtypes.prng_key):
            one, other = jax.random.key_data(one), jax.random.key_data(other)
        assert jnp.allclose(one, other, atol=1e-5)


def test_each_player_has_its_own_side_of_every_transition(key):
    game = MatrixGame()
    players = Stationary(jnp.arange(5.0)), Stationary(-jnp.arange(5.0))
    episode_states = jax.vmap(lambda k: start_episode(k, game, players))(jax.random.split(key, 3))
    _, transitions = jax.vmap(lambda episode: rollout(episode, game, players, 4))(episode_states)
    both = selfplay.seen_by_both(transitions)
    assert both.reward.shape == (6, 4)
    for seat, rows in ((MAIN, slice(0, 3)), (PARTNER, slice(3, 6))):
        assert (both.actions[MAIN][rows] == transitions.actions[seat]).all()
        assert (both.logits[MAIN][rows] == transitions.logits[seat]).all()
        assert (both.seen[MAIN].observation.own_action[rows] == transitions.seen[seat].observation.own_action).all()
        for name in ("seen", "next_seen"):
            (mine, _), theirs = getattr(both, name), getattr(transitions, name)[seat]
            assert (mine.last_action[rows] == theirs.last_action).all()
        assert (both.reward[rows] == transitions.reward).all()
