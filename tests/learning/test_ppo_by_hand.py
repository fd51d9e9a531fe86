"""PPO's equations, on numbers that can be had with pencil and paper."""

import math
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.encounters import Transition
from coadapt.games.game import PARTNER
from coadapt.learning import ppo
from coadapt.learning.ppo import Experience, PPOConfig
from coadapt.partners.dirichlet import Stationary
from coadapt.players import Seen

CLIP = 0.2
NOW = 0.6
"""The probability of the first of two actions under the policy as it is now, whatever it sees."""
POLICY = Stationary(jnp.log(jnp.array([NOW, 1 - NOW])))
CONFIG = PPOConfig(iterations=4, num_envs=2, num_steps=2, epochs=1, clip=CLIP, discount=0.5, gae_lambda=0.5)


class Expects(NamedTuple):
    """A critic that takes what it sees times its weight for the value, plus what it is told."""

    weight: Any

    def start(self):
        return ()

    def value(self, seen, label, memory):
        return self.weight * seen.observation + label.sum(), memory


def shown(observation, legal=None):
    """What is shown of observations of numbers, whenever it is."""
    observation = jnp.asarray(observation, jnp.float32)
    row = lambda value: jnp.full(observation.shape, value)
    return Seen(observation, legal, row(jnp.int32(0)), row(jnp.float32(0)), row(False))


def experience(ratios, advantages, values=(0.0,), targets=(0.0,)):
    """One game in which the first action was always taken, so much less likely at the time as it has grown since."""
    row = lambda numbers: jnp.broadcast_to(jnp.asarray(numbers, jnp.float32), (len(ratios),))[None]
    return Experience(
        seen=shown(row(values)),
        ended=jnp.zeros((1, len(ratios)), bool),
        actions=jnp.zeros((1, len(ratios)), jnp.int32),
        log_probabilities=jnp.log(NOW / row(ratios)),
        advantages=row(advantages),
        targets=row(targets),
        label=jnp.zeros((1, 0)),
    )


def as_it_is(policy, label):
    return policy


CRITIC = Expects(jnp.float32(1))
LOSS = jax.jit(lambda policy, batch, bonus: ppo.loss((policy, CRITIC), batch, as_it_is, CLIP, bonus))
GRADIENT = jax.jit(jax.grad(lambda policy, batch: ppo.loss((policy, CRITIC), batch, as_it_is, CLIP, 0.0)[0]))


def loss(batch, entropy_coefficient=0.0, policy=POLICY):
    value, diagnostics = LOSS(policy, batch, entropy_coefficient)
    return float(value), {name: float(number) for name, number in diagnostics.items()}


@pytest.mark.parametrize(
    ("ratio", "advantage", "counts"),
    [
        (1.1, 1.0, 1.1),
        (1.5, 1.0, 1.2),  # likelier by more than the clip: no more is to be had
        (1.5, -1.0, -1.5),  # but what has become likelier and is bad counts in full
        (0.5, 1.0, 0.5),  # and so does what is good and has become unlikely
        (0.5, -1.0, -0.8),
        (0.9, -1.0, -0.9),
    ],
)
def test_the_surrogate_is_clipped_on_both_sides_and_only_where_it_flatters(ratio, advantage, counts):
    assert loss(experience([ratio], [advantage]))[0] == pytest.approx(-counts, abs=1e-6)


@pytest.mark.parametrize(
    ("ratio", "advantage", "moves"), [(1.5, 1.0, 0), (0.5, -1.0, 0), (1.5, -1.0, 1), (0.5, 1.0, 1)]
)
def test_beyond_the_clip_nothing_pulls_any_more(ratio, advantage, moves):
    assert bool(GRADIENT(POLICY, experience([ratio], [advantage])).logits.any()) == bool(moves)


def test_all_samples_count_alike():
    """1.2 - 1.5 + 0.5 - 0.8 = -0.6, over four samples."""
    assert loss(experience([1.5, 1.5, 0.5, 0.5], [1, -1, 1, -1]))[0] == pytest.approx(0.15, abs=1e-6)


def test_the_critics_loss_is_half_its_squared_error():
    """It says 1 and 2 where 3 and 1 would have been right: 4 and 1, half of whose mean is 1.25."""
    value, told = loss(experience([1.0, 1.0], [0, 0], values=[1, 2], targets=[3, 1]))
    assert value == told["value_loss"] == pytest.approx(1.25)


def test_the_entropy_bonus_is_taken_off():
    """A coin has log 2 of it; a tenth of that is the bonus."""
    value, told = loss(experience([1.0], [0]), entropy_coefficient=0.1, policy=Stationary(jnp.zeros(2)))
    assert told["entropy"] == pytest.approx(math.log(2))
    assert value == pytest.approx(-0.1 * math.log(2))


def test_what_is_told_of_ratios():
    """Of 1.5, 0.5, 1.1 and 1 two are beyond the clip; r - 1 - log r is what each adds to the divergence."""
    _, told = loss(experience([1.5, 0.5, 1.1, 1.0], [0, 0, 0, 0]))
    assert told["clip_fraction"] == 0.5
    assert told["kl"] == pytest.approx(np.mean([r - 1 - math.log(r) for r in (1.5, 0.5, 1.1, 1.0)]), abs=1e-6)


THREE = Stationary(jnp.log(jnp.array([0.3, 0.1, 0.6])))
TWO_OF_THREE = jnp.array([[[True, True, False]]])


def where_the_third_is_illegal(ratio):
    """One step in which the first of three actions was taken: it is 3/4 now, of what is legal."""
    batch = experience([ratio], [1.0])
    then = jnp.log(jnp.array([[0.75 / ratio]]))
    return batch._replace(seen=batch.seen._replace(legal=TWO_OF_THREE), log_probabilities=then)


@pytest.mark.parametrize("third", [0.6, 1e30, 0.0], ids=["as it is", "certain", "nothing"])
def test_whatever_a_policy_makes_of_an_illegal_action_changes_nothing(third):
    """3/4 and 1/4 are left: of this the ratio is one, and the entropy what is had by hand."""
    policy = Stationary(THREE.logits.at[2].set(jnp.log(third)))
    value, told = loss(where_the_third_is_illegal(1.0), entropy_coefficient=0.1, policy=policy)
    entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert told["entropy"] == pytest.approx(entropy, abs=1e-6)
    assert (told["kl"], told["clip_fraction"]) == (pytest.approx(0, abs=1e-6), 0)
    assert value == pytest.approx(-1 - 0.1 * entropy, abs=1e-6)


def test_no_gradient_reaches_an_illegal_action_and_none_is_infinite():
    """The ratio is one: its slope is 1 - 3/4 in the logit of what was done, and -1/4 in that of the other."""
    batch = where_the_third_is_illegal(1.0)
    np.testing.assert_allclose(GRADIENT(THREE, batch).logits, [-0.25, 0.25, 0], atol=1e-6)
    with_bonus = jax.grad(lambda policy: ppo.loss((policy, CRITIC), batch, as_it_is, CLIP, 0.1)[0])(THREE)
    assert np.isfinite(with_bonus.logits).all()
    assert with_bonus.logits[2] == 0


def transitions(rewards, seen, then, ended, shaping=0.0):
    """Games of two steps, by game and time: what the critic sees, and what followed."""
    nothing = jnp.zeros_like(jnp.asarray(seen, jnp.float32))
    shape = nothing.shape
    return Transition(
        seen=(shown(seen), shown(nothing)),
        logits=(jnp.log(jnp.broadcast_to(jnp.array([0.25, 0.75]), (*shape, 2))), jnp.zeros((*shape, 1))),
        infos=({}, {}),
        actions=(jnp.zeros(shape, jnp.int32), jnp.zeros(shape, jnp.int32)),
        reward=jnp.asarray(rewards, jnp.float32),
        shaping=jnp.full(shape, shaping),
        terminated=jnp.asarray(ended, bool),
        truncated=jnp.zeros(shape, bool),
        next_seen=(shown(then), shown(nothing)),
    )


def test_targets_and_advantages_of_a_game():
    """The critic says 2 and 4, then 8 which is after the end. Discount and decay are 1/2 each.

    Surprises: 1 + 4/2 - 2 = 1 and 3 - 4 = -1. Advantages: 1 - 1/4 and -1; with the values they make the targets.
    """
    game = transitions([1, 3], seen=[2, 4], then=[4, 8], ended=[False, True])
    found, values = ppo.assess(game, jnp.zeros(0), CRITIC, CONFIG)
    assert values.tolist() == [2, 4]
    assert found.advantages.tolist() == [0.75, -1]
    assert found.targets.tolist() == [2.75, 3]
    assert found.log_probabilities.tolist() == pytest.approx([math.log(0.25)] * 2)


def test_what_an_action_was_when_it_was_played_is_what_it_was_of_the_legal_ones():
    """Encounters keep the logits of illegal actions at minus infinity: of 3 to 1 to 2 the first is 3/4."""
    game = transitions([0, 0], seen=[0, 0], then=[0, 0], ended=[False, True])
    kept = jnp.broadcast_to(jnp.log(jnp.array([3.0, 1.0, 0.0])), (2, 3))
    found, _ = ppo.assess(game._replace(logits=(kept, game.logits[1])), jnp.zeros(0), CRITIC, CONFIG)
    assert found.log_probabilities.tolist() == pytest.approx([math.log(0.75)] * 2)


def test_the_critic_is_told_the_truth():
    game = transitions([0, 0], seen=[0, 0], then=[0, 0], ended=[False, True])
    _, values = ppo.assess(game, jnp.array([5.0, 2.0]), CRITIC, CONFIG)
    assert values.tolist() == [7, 7]


def learnt(monkeypatch, rewards, values, shaping=0.0, iteration=0, config=CONFIG):
    """What an iteration learns from, in games of one-step episodes, and what it tells of them."""
    seen: list[Experience] = []

    def keep(key, state, experience, as_player, config, auxiliary):
        seen.append(experience)
        names = ("value_loss", "entropy", "kl", "clip_fraction", "policy_gradient_norm", "critic_gradient_norm")
        return state, dict.fromkeys(names, jnp.float32(0))

    monkeypatch.setattr(ppo, "improve", keep)
    state = ppo.start(jax.random.key(0), POLICY, CRITIC, config)._replace(iteration=jnp.int32(iteration))
    games = transitions(rewards, seen=values, then=values, ended=np.ones_like(rewards, bool), shaping=shaping)
    paid = lambda transitions, labels: {"paid": jnp.mean(transitions.reward)}
    after, info = ppo.learn_from(jax.random.key(1), state, games, jnp.zeros((2, 0)), as_it_is, config, paid)
    return seen[0], after, info


def test_advantages_are_standardised_over_all_games_together(monkeypatch):
    """1 and 3 in one game, 5 and 7 in the other: 4 on average, give or take the root of 5."""
    found, after, info = learnt(monkeypatch, [[1.0, 3.0], [5.0, 7.0]], [[0.0, 0.0], [0.0, 0.0]])
    np.testing.assert_allclose(found.advantages, np.array([[-3, -1], [1, 3]]) / 5**0.5, rtol=1e-6)
    assert found.targets.tolist() == [[1, 3], [5, 7]]
    assert info.reward == 4
    assert after.iteration == 1


def test_the_variance_that_the_critic_explains(monkeypatch):
    """The targets are the rewards: 0, 2, 4 and 6, of variance 5. It is off by 1, -1, 1 and -1, of variance 1."""
    _, _, info = learnt(monkeypatch, [[0.0, 2.0], [4.0, 6.0]], [[1.0, 1.0], [5.0, 5.0]])
    assert float(info.explained_variance) == pytest.approx(1 - 1 / 5)


@pytest.mark.parametrize(("iteration", "share"), [(0, 1), (1, 0.5), (2, 0), (3, 0)])
def test_shaping_is_learnt_from_falls_to_nothing_over_its_span_and_is_not_told(iteration, share, monkeypatch):
    """Over half of four iterations. Each step of an episode of its own pays its reward and is worth 8 more at first."""
    config = replace(CONFIG, shaping_span=0.5)
    values = [[0.0, 0.0], [0.0, 0.0]]
    found, _, info = learnt(monkeypatch, [[1.0, 3.0], [5.0, 7.0]], values, 8.0, iteration, config)
    assert found.targets.tolist() == [[1 + 8 * share, 3 + 8 * share], [5 + 8 * share, 7 + 8 * share]]
    assert info.reward == info.metrics["paid"] == 4


def with_both_seats(auxiliary, **settings):
    """An iteration in which PPO itself moves no policy, as all does equally well; the critic is off by one in all."""
    config = replace(CONFIG, entropy_coefficient=0.0, **settings)
    twos = [[2.0, 2.0], [2.0, 2.0]]
    games = transitions([[1.0, 1.0], [1.0, 1.0]], seen=twos, then=twos, ended=np.ones((2, 2), bool))
    games = games._replace(actions=(games.actions[0], jnp.array([[1, 2], [3, 4]])))
    state = ppo.start(jax.random.key(0), POLICY, CRITIC, config)
    learn = lambda key: ppo.learn_from(
        key, state, games, jnp.zeros((2, 0)), as_it_is, config, lambda *_: {"own": jnp.float32(7)}, auxiliary
    )
    return jax.jit(learn)(jax.random.key(1))


def partners_actions(power=1):
    """A loss on the policy's first logit, whose slope is the mean of what the partner did, to this power."""

    def auxiliary(key, policy, rollout):
        assert rollout.actions[PARTNER].shape == rollout.seen[PARTNER].observation.shape == rollout.reward.shape
        return jnp.mean(rollout.actions[PARTNER].astype(jnp.float32)) ** power * policy.logits[0]

    return auxiliary


def test_an_auxiliary_loss_moves_the_policy_alone_and_is_told():
    """The partner's 1, 2, 3 and 4 are 2.5 in the mean; the critic's slope is 2 for being one above."""
    _, info = with_both_seats(partners_actions())
    without, alone = with_both_seats(None)
    assert float(info.policy_gradient_norm) == pytest.approx(2.5, abs=1e-5)
    assert float(alone.policy_gradient_norm) == pytest.approx(0, abs=1e-5)
    assert float(info.critic_gradient_norm) == float(alone.critic_gradient_norm) == pytest.approx(2)
    assert info.metrics == {"own": 7, "auxiliary": pytest.approx(2.5 * math.log(NOW), abs=1e-5)}
    assert alone.metrics == {"own": 7}
    assert info.value_loss == alone.value_loss == 0.5
    after, _ = with_both_seats(partners_actions())
    assert after.critic.network.weight == without.critic.network.weight
    assert after.policy.network.logits[0] < POLICY.logits[0] == pytest.approx(float(without.policy.network.logits[0]))


def test_an_auxiliary_loss_is_given_the_games_of_its_minibatch():
    """Of one game each, in which the partner's mean is 1.5 and 3.5: squared, 7.25 in the mean, and 6.25 of both."""
    by_game, together = (with_both_seats(partners_actions(2), minibatches=number)[1] for number in (2, 1))
    assert float(by_game.policy_gradient_norm) == pytest.approx((1.5**2 + 3.5**2) / 2, abs=1e-5)
    assert float(together.policy_gradient_norm) == pytest.approx(2.5**2, abs=1e-5)


@pytest.mark.parametrize("settings", [{"minibatches": 2}, {"epochs": 4}], ids=["minibatches", "epochs"])
def test_an_auxiliary_loss_has_fresh_chance_in_every_update(settings):
    """Draws that differ have a mean square above the square of their mean."""
    drawn = lambda power: lambda key, policy, rollout: jax.random.uniform(key) ** power * policy.logits[0]
    mean, mean_square = (float(with_both_seats(drawn(n), **settings)[1].policy_gradient_norm) for n in (1, 2))
    assert 0 < mean < 1
    assert mean_square > mean**2 + 1e-3


def improved(monkeypatch, iteration, games, **settings):
    """An iteration on games that have but their number, in which the critic notes what there is to note.

    Each update multiplies its weight by ten and adds the number of the game it was made of; the policy's weights lose
    the rate of learning. What is told is the entropy bonus.
    """
    shape = {"num_envs": games, "num_steps": 1, "minibatches": games}
    config = PPOConfig(4, **shape, learning_rate=1.0, entropy_coefficient=1.0, **settings)

    def note_game(networks, batch, as_player, clip, bonus):
        policy, critic = networks
        return critic.weight * batch.label.sum() + policy.logits.sum(), {"bonus": bonus}

    def note(state, gradient, optimiser, rate, bound):
        is_critic = isinstance(state.network, Expects)
        write_down = lambda weight, game: 10 * weight + game
        fall = lambda weight, _: weight - rate
        return state._replace(network=jax.tree.map(write_down if is_critic else fall, state.network, gradient))

    monkeypatch.setattr(ppo, "loss", note_game)
    monkeypatch.setattr(ppo, "apply_gradients", note)
    state = ppo.start(jax.random.key(0), Stationary(jnp.zeros(2)), Expects(jnp.float32(0)), config)
    state = state._replace(iteration=jnp.int32(iteration))
    each = jax.tree.map(lambda leaf: jnp.tile(leaf, (games, *(1,) * (leaf.ndim - 1))), experience([1.0], [0]))
    each = each._replace(label=jnp.arange(1.0, games + 1)[:, None])
    after, told = jax.jit(lambda state: ppo.improve(jax.random.key(1), state, each, as_it_is, config))(state)
    return -float(after.policy.network.logits[0]), float(told["bonus"]), int(after.critic.network.weight)


@pytest.mark.parametrize(("iteration", "share", "bonus"), [(0, 1 / 2, 1), (1, 3 / 4, 1 / 2), (3, 1 / 4, 0)])
def test_the_learning_rate_rises_in_two_iterations_and_falls_over_four(iteration, share, bonus, monkeypatch):
    """The entropy bonus is for half of them."""
    found = improved(monkeypatch, iteration, games=1, epochs=1, warm_up=2, entropy_span=0.5)
    assert found[:2] == (share, bonus)


def test_every_epoch_deals_all_games_anew(monkeypatch):
    _, _, dealt = improved(monkeypatch, 0, games=3, epochs=2)
    first, second = str(dealt)[:3], str(dealt)[3:]
    assert sorted(first) == sorted(second) == ["1", "2", "3"]
    assert first != second
