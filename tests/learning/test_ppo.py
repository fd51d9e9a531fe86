"""PPO is trusted only with what it has been seen to learn."""

import math
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from coadapt.agents.encoders import FeedbackSpec, VectorSpec
from coadapt.agents.recurrent import RecurrentCritic, RecurrentPolicy
from coadapt.learning import ppo
from coadapt.learning.ppo import PPOConfig
from coadapt.networks.mlp import MLP
from coadapt.networks.recurrent import RecurrentNetwork
from coadapt.players import shown_first
from tests.learning import probes
from tests.learning.probes import Judge, Nobody, Reactive, Remembering, RememberingJudge

CONFIG = PPOConfig(
    iterations=200,
    num_envs=32,
    num_steps=4,
    epochs=4,
    minibatches=2,
    learning_rate=1e-2,
    discount=0.5,
    entropy_coefficient=0.0,
)
ARMS = replace(CONFIG, num_steps=6, discount=0.9)


def shown(*observation):
    return shown_first(jnp.array(observation))


def learn(game, policy=None, config=CONFIG, critic=None, auxiliary=None):
    for_policy, for_critic, for_training = jax.random.split(jax.random.key(3), 3)
    policy = policy or Reactive(MLP(for_policy, 2, (16,), 2, last_scale=0.01))
    state = ppo.start(for_training, policy, critic or Judge(MLP(for_critic, 2, (16,), 1)), config)
    as_it_is = lambda policy, label: policy
    train = jax.jit(lambda s: ppo.train_chunk(s, game, Nobody(), as_it_is, config, 200, auxiliary=auxiliary))
    state, info = train(state)
    value = lambda *observation: float(state.critic.network.value(shown(*observation), None, ())[0])
    decide = lambda *observation: jax.nn.softmax(state.policy.network.decide(shown(*observation), ()).logits)
    return value, decide, info


def test_it_learns_a_value():
    value, _, _ = learn(probes.AlwaysOne())
    assert value(1.0, 0.0) == pytest.approx(1, abs=0.02)


def test_it_learns_a_value_that_depends_on_the_observation():
    value, _, _ = learn(probes.TheCue())
    assert value(1.0, 0.0) == pytest.approx(1, abs=0.02)
    assert value(-1.0, 0.0) == pytest.approx(-1, abs=0.02)


def test_it_learns_a_discount():
    value, _, _ = learn(probes.OneAtTheEnd())
    assert value(1.0, 1.0) == pytest.approx(1, abs=0.02)
    assert value(1.0, 0.0) == pytest.approx(0.5, abs=0.02)


def test_it_imagines_what_a_truncated_episode_would_have_brought():
    """One for ever at discount 1/2 is worth 1 + 1/2 + 1/4 + ... = 2."""
    value, _, _ = learn(probes.OneForEver())
    assert value(1.0, 1.0) == pytest.approx(2, abs=0.05)


def test_it_learns_what_is_best_of_what_is_legal(key):
    """With a cue of 1 that is the first action, which pays 2; with -1 the second, for 1. In the mean that is 1.5."""
    policy = Reactive(MLP(key, 2, (16,), 3, last_scale=0.01))
    value, decide, info = learn(probes.OneIsBarred(), policy)
    assert value(1.0, 0.0) == pytest.approx(2, abs=0.05)
    assert value(-1.0, 0.0) == pytest.approx(1, abs=0.05)
    assert decide(1.0, 0.0)[0] > 0.98
    legal = decide(-1.0, 0.0)[1:]  # what it makes of the first action does not matter
    assert legal[0] / legal.sum() > 0.98
    assert info.reward[-20:].mean() == pytest.approx(1.5, abs=0.1)


def test_it_learns_the_odds_of_a_lottery():
    """Its second action is worth 3/4, and what is better than chance is no luck of the player's."""
    value, decide, info = learn(probes.Lottery())
    assert decide(1.0, 0.0)[1] > 0.97
    assert value(1.0, 0.0) == pytest.approx(0.75, abs=0.06)
    assert info.reward[-50:].mean() == pytest.approx(0.75, abs=0.04)  # 6400 draws: an error of 0.005


def shown_two_arms(feedback):
    """A policy and a critic with a memory, with or without what came of their last step."""
    for_policy, for_critic = jax.random.split(jax.random.key(0))
    see, seen = VectorSpec(lambda seen: seen), shown(0.0, 0.0)
    spec = FeedbackSpec(see, actions=2) if feedback else see
    policy = RecurrentPolicy(for_policy, spec, seen, 8, (), 2)
    return learn(probes.TwoArms(), policy, ARMS, RecurrentCritic(for_critic, spec, seen, 0, 8, ()))[2]


def test_with_feedback_and_a_memory_it_learns_to_find_out_which_arm_pays():
    """RL2. A guess at first, right in half of all cases, and twice what is then known: (1/2 + 1 + 1) / 3 = 5/6."""
    assert shown_two_arms(feedback=True).reward[-20:].mean() == pytest.approx(5 / 6, abs=0.02)


def test_without_feedback_nobody_finds_out_which_arm_pays():
    assert shown_two_arms(feedback=False).reward[-20:].mean() == pytest.approx(1 / 2, abs=0.05)


def like_the_cue(key, policy, rollout):
    """How unlikely it is to act like the cue, of which it learns in the main seat's observations."""
    logits = jax.vmap(jax.vmap(lambda seen: policy.decide(seen, ()).logits))(rollout.seen[0])
    right = (rollout.seen[0].observation[..., 0] > 0).astype(jnp.int32)
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), right[..., None], axis=-1))


def test_an_auxiliary_loss_teaches_what_no_reward_does():
    """Whatever it does pays one, and that is what the critic still says."""
    value, decide, info = learn(probes.AlwaysOne(), auxiliary=like_the_cue)
    assert decide(1.0, 0.0)[1] > 0.99
    assert decide(-1.0, 0.0)[0] > 0.99
    assert value(1.0, 0.0) == pytest.approx(1, abs=0.02)
    assert math.log(2) > info.metrics["auxiliary"][0] > 0.4  # the mean over the first eight updates
    assert info.metrics["auxiliary"][-1] < 0.01


def test_it_is_warmed_up():
    """Adam's first step moves a weight by the learning rate: with ten iterations to warm up, by a tenth of it."""

    def moved(warm_up: int) -> float:
        config = replace(CONFIG, epochs=1, minibatches=1, warm_up=warm_up)
        policy = Reactive(MLP(jax.random.key(1), 2, (16,), 2))
        before = ppo.start(jax.random.key(0), policy, Judge(MLP(jax.random.key(2), 2, (16,), 1)), config)
        after, _ = ppo.iterate(before, probes.TheAction(), Nobody(), lambda policy, label: policy, config)
        steps = jax.tree.map(lambda a, b: jnp.max(jnp.abs(a - b)), after.policy.network, before.policy.network)
        return float(max(jax.tree.leaves(steps)))

    assert moved(1) == pytest.approx(1e-2, rel=0.02)
    assert moved(10) == pytest.approx(1e-3, rel=0.02)


def test_it_learns_an_action():
    _, decide, info = learn(probes.TheAction())
    assert decide(1.0, 0.0)[1] > 0.99
    assert info.reward[-1] > 0.98


@pytest.mark.parametrize("optimiser", ["adam", "muon"])
def test_it_learns_an_action_that_depends_on_the_observation(optimiser):
    _, decide, _ = learn(probes.ActionLikeCue(), config=replace(CONFIG, optimiser=optimiser))
    assert decide(1.0, 0.0)[1] > 0.99
    assert decide(-1.0, 0.0)[0] > 0.99


def test_only_a_memory_learns_what_has_to_be_remembered(key):
    """A perfect memory earns 1 in every second step; without one nothing is better than chance, 0 on average."""
    _, _, without = learn(probes.RememberTheCue())
    remembering = Remembering(RecurrentNetwork(key, 2, 8, (8,), 2, last_scale=0.01))
    _, _, info = learn(probes.RememberTheCue(), remembering)
    assert info.reward[-20:].mean() > 0.48
    assert abs(without.reward[-20:].mean()) < 0.1


def test_a_critic_with_a_memory_values_what_has_to_be_remembered(key):
    """Whoever always takes action 1 earns the cue in the second step, which only the first step has shown."""
    player = Reactive(MLP(key, 2, (4,), 2, last_scale=0.01))
    always_one = jax.tree.map(jnp.zeros_like, player)
    always_one = eqx.tree_at(lambda p: p.network.layers[-1].bias, always_one, jnp.array([-30.0, 30.0]))
    config = replace(CONFIG, iterations=600)
    state = ppo.start(key, always_one, RememberingJudge(RecurrentNetwork(key, 2, 8, (8,), 1)), config)
    train = lambda s: ppo.train_chunk(s, probes.RememberTheCue(), Nobody(), lambda policy, label: policy, config, 600)
    state, _ = jax.jit(train)(state)
    critic = state.critic.network
    for cue in (1.0, -1.0):
        _, memory = critic.value(shown(cue, 0.0), None, critic.start())
        value, _ = critic.value(shown(0.0, 1.0), None, memory)
        assert float(value) == pytest.approx(cue, abs=0.05)


def test_the_policy_that_played_is_the_one_that_is_reconsidered(key):
    """Before the first update nothing has changed, so the ratio is one: along a memory, and over ends of episodes."""
    policy = Remembering(RecurrentNetwork(key, 2, 8, (8,), 2))
    state = ppo.start(key, policy, Judge(MLP(key, 2, (4,), 1)), CONFIG)
    once = replace(CONFIG, epochs=1, minibatches=1)
    train = lambda s: ppo.train_chunk(s, probes.RememberTheCue(), Nobody(), lambda policy, label: policy, once, 1)
    _, info = jax.jit(train)(state)
    assert float(info.kl[0]) == pytest.approx(0, abs=1e-9)
    assert info.clip_fraction[0] == 0


def test_segments_shorter_than_an_episode_are_refused(key):
    state = ppo.start(key, Reactive(MLP(key, 2, (4,), 2)), Judge(MLP(key, 2, (4,), 1)), CONFIG)
    with pytest.raises(ValueError, match=r"^num_steps \(1\) must cover an episode \(2\)"):
        ppo.train_chunk(state, probes.OneAtTheEnd(), Nobody(), lambda p, label: p, replace(CONFIG, num_steps=1), 1)


def test_the_diagnostics_are_those_of_a_policy_that_settles():
    _, _, info = learn(probes.ActionLikeCue())
    assert float(info.entropy[0]) == pytest.approx(math.log(2), abs=0.05)
    assert info.entropy[-1] < 0.05
    assert (info.explained_variance <= 1).all()
    assert (info.kl >= -1e-7).all()
    assert ((info.clip_fraction >= 0) & (info.clip_fraction <= 1)).all()
    assert info.policy_gradient_norm[0] > 0
    assert info.critic_gradient_norm[0] > 0


def test_an_entropy_bonus_keeps_a_policy_open_until_it_is_gone():
    _, _, without = learn(probes.TheAction())
    _, decide, info = learn(probes.TheAction(), config=replace(CONFIG, entropy_coefficient=1.0, entropy_span=0.5))
    assert info.entropy[10] > 2 * without.entropy[10]
    assert decide(1.0, 0.0)[1] > 0.99


class Barred(eqx.Module):
    """A policy that never takes the first of two actions."""

    policy: Reactive

    def start(self, key):
        return self.policy.start(key)

    def decide(self, seen, memory):
        decision = self.policy.decide(seen, memory)
        return decision._replace(logits=decision.logits.at[0].set(-jnp.inf))


def test_an_action_that_is_never_taken_spoils_nothing(key):
    """With a single action left there is nothing to learn and nothing open, and all numbers are numbers."""
    barred = Barred(Reactive(MLP(key, 2, (4,), 2)))
    _, decide, info = learn(probes.TheAction(), barred, replace(CONFIG, entropy_coefficient=0.1))
    assert decide(1.0, 0.0).tolist() == [0, 1]
    assert (info.entropy == 0).all()
    assert jnp.isfinite(info.policy_gradient_norm).all()


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("iterations", 0, "iterations must be a whole number from 1 to 2147483647, not 0"),
        ("num_envs", 2.5, "num_envs must be a whole number"),
        ("learning_rate", -1.0, "learning_rate must be a positive number"),
        ("learning_rate", float("nan"), "learning_rate must be a positive number"),
        ("discount", 1.5, "discount must be a number from 0 to 1, not 1.5"),
        ("minibatches", 3, r"num_envs \(32\) must be a multiple of minibatches \(3\)"),
    ],
)
def test_a_bad_number_is_refused_by_name(field, value, words):
    with pytest.raises(ValueError, match=words):
        replace(CONFIG, **{field: value})
