"""Encoders, and what is on top of them: prepared or not they say the same, and at first nobody has an opinion."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.agents.behaviour_conditioned import ConditionedCritic, ConditionedPolicy
from coadapt.agents.beliefs import LearnedBelief
from coadapt.agents.encoders import (
    EncoderSpec,
    FeedbackEncoder,
    FeedbackSpec,
    GridSpec,
    RelationEncoder,
    RelationSpec,
    VectorSpec,
    build_below_head,
)
from coadapt.agents.recurrent import RecurrentCritic, RecurrentPolicy
from coadapt.games.game import MAIN
from coadapt.games.salesman.pairs import AbsolutePairs, RelativePairs, TurnedPairs
from coadapt.games.salesman.rules import Salesman
from coadapt.games.salesman.symmetry import Turn, turned, turned_moves
from coadapt.networks.relation import TabulatedSum
from coadapt.players import Encoder, prepared, seen_first, shown_first

GAME = Salesman(size=5, subgoals=2)
TO_THE_SUM = RelationSpec(RelativePairs(5), before=(32, 32))
BEYOND = replace(TO_THE_SUM, after=(16, 16))
SEEN = seen_first(GAME, GAME.reset(jax.random.key(0)), MAIN)
PAIRS = 2 * (2 + 2)
MEMORY = (jnp.full(8, 0.3), jnp.full(8, -0.2))


@pytest.fixture(scope="module")
def seen():
    states = jax.vmap(GAME.reset)(jax.random.split(jax.random.key(2), 20))
    return jax.vmap(lambda state: seen_first(GAME, state, MAIN))(states)


def policy_of(key, spec: EncoderSpec = TO_THE_SUM, hidden=(16, 16)):
    return ConditionedPolicy(key, spec, SEEN, labels=3, hidden=hidden, actions=4)


def pairs_of(policy):
    """What its encoder sums pairs with."""
    assert isinstance(policy.encoder, RelationEncoder)
    return policy.encoder.pairs


def table_of(policy):
    pairs = pairs_of(policy)
    assert isinstance(pairs, TabulatedSum)
    return pairs.embedded


VIEWS = pytest.mark.parametrize(
    "view", [RelativePairs(5), TurnedPairs(5), AbsolutePairs(5)], ids=["relative", "turned", "absolute"]
)


@VIEWS
def test_prepared_or_not_it_is_the_same_policy(key, seen, view):
    policy, label = policy_of(key, replace(TO_THE_SUM, view=view)), jnp.array([0.2, 0.3, 0.5])
    one, other = (jax.vmap(lambda o, p=p: p(o, label))(seen) for p in (policy, prepared(policy, samples=10**6)))
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_a_table_is_made_when_there_is_more_to_look_at_than_rows(key):
    policy, rows = policy_of(key), RelativePairs(5).rows
    enough = -(-rows // PAIRS)
    assert isinstance(pairs_of(prepared(policy, enough)), TabulatedSum)
    assert prepared(policy, enough - 1).encoder is policy.encoder
    always, never = (policy_of(key, replace(TO_THE_SUM, tabulated=so)) for so in (True, False))
    assert isinstance(pairs_of(prepared(always, 1)), TabulatedSum)
    assert prepared(never, 10**9).encoder is never.encoder


def test_everybody_in_a_population_is_prepared(key, seen):
    """Stacked policies have stacked tables: the second one's is that of the second alone."""
    policies = jax.vmap(policy_of)(jax.random.split(key, 3))
    second = jax.tree.map(lambda leaf: leaf[1], policies)
    tables, table = (table_of(prepared(of, 10**6)) for of in (policies, second))
    np.testing.assert_allclose(tables[1], table, atol=1e-6)
    assert not np.allclose(tables[0], table, atol=1e-3)


def decides(key, view, board, remembers):
    """What a policy makes of a board, with or without a memory."""
    shown = shown_first(board)
    if not remembers:
        return policy_of(key, replace(TO_THE_SUM, view=view))(shown, jnp.array([0.2, 0.3, 0.5]))
    return RecurrentPolicy(key, replace(BEYOND, view=view), SEEN, 8, (), 4).decide(shown, MEMORY).logits


@pytest.mark.parametrize("remembers", [True, False], ids=["with a memory", "memoryless"])
def test_who_looks_from_home_does_the_same_on_a_turned_board(key, seen, remembers):
    board = jax.tree.map(lambda leaf: leaf[0], seen.observation)._replace(own=jnp.array([3, 0]))
    for turn in (Turn(jnp.array(back), jnp.array(swap)) for *back, swap in np.ndindex(2, 2, 2)):
        turn = jax.tree.map(lambda leaf: leaf.astype(bool), turn)
        there = turned(board, 5, turn)
        here, from_there = (decides(key, TurnedPairs(5), each, remembers) for each in (board, there))
        np.testing.assert_allclose(here, from_there[turned_moves(turn)], atol=1e-6)
        assert np.ptp(here) > 1e-6


def grid_of(observation):
    """Where both agents are, as two channels."""
    places = jnp.stack([observation.own, observation.other])
    return jnp.zeros((2, 5, 5)).at[jnp.arange(2), places[:, 0], places[:, 1]].set(1.0)


class OwnEncoder(Encoder):
    """All that an encoder of one's own needs."""

    def __call__(self, seen):
        return seen.observation.own / 4


class OwnSpec(EncoderSpec):
    def build(self, key, seen):
        return OwnEncoder()


SPECS = {
    "own": OwnSpec(),
    "relation": TO_THE_SUM,
    "vector": VectorSpec(lambda seen: seen.own / 4),
    "perceptron": VectorSpec(lambda seen: seen.own / 4, hidden=(8, 6)),
    "grid": GridSpec(grid_of, channels=(4, 8), units=12),
    "feedback": FeedbackSpec(TO_THE_SUM, actions=4),
}
EVERY_SPEC = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)


@EVERY_SPEC
def test_an_untrained_policy_is_a_random_walker(key, seen, spec):
    policy = policy_of(key, spec)
    walk = jax.vmap(lambda o: jax.nn.softmax(policy(o, jnp.zeros(3))))(seen)
    np.testing.assert_allclose(walk, 0.25, atol=0.02)
    assert np.ptp(walk, axis=0).max() > 0  # and yet it looks


@EVERY_SPEC
def test_what_it_is_told_matters_and_is_all_that_differs(key, seen, spec):
    critic = ConditionedCritic(key, spec, SEEN, 3, (16, 16))
    value = lambda label: jax.vmap(lambda o: critic.value(o, label, ())[0])(seen)
    assert not np.allclose(value(jnp.array([1.0, 0, 0])), value(jnp.array([0, 0, 1.0])))
    assert np.array_equal(value(jnp.array([1.0, 0, 0])), value(jnp.array([1.0, 0, 0])))


@EVERY_SPEC
def test_a_recurrent_critic_goes_by_what_it_is_told_and_by_what_it_remembers(key, seen, spec):
    critic = RecurrentCritic(key, spec, SEEN, 3, 8, ())
    value = lambda label, memory: jax.vmap(lambda o: critic.value(o, label, memory)[0])(seen)
    first, last = jnp.array([1.0, 0, 0]), jnp.array([0, 0, 1.0])
    assert not np.allclose(value(first, MEMORY), value(last, MEMORY))
    assert not np.allclose(value(first, MEMORY), value(first, critic.start()))
    assert np.array_equal(value(first, MEMORY), value(first, MEMORY))


def test_who_sits_where_matters(key, seen):
    critic = ConditionedCritic(key, TO_THE_SUM, SEEN, 3, (16, 16))
    value = jax.vmap(lambda o: critic.value(o, jnp.zeros(3), ())[0])
    there = seen.observation
    swapped = seen._replace(observation=there._replace(own=there.other, other=there.own))
    assert not np.allclose(value(seen), value(swapped))


@pytest.mark.parametrize("infers", [True, False], ids=["belief", "policy"])
@pytest.mark.parametrize("spec", [BEYOND, VectorSpec(lambda seen: seen.own / 4)], ids=["relation", "vector"])
def test_an_embedding_stands_for_what_is_seen(key, seen, infers, spec):
    """Along a trajectory all is encoded first and then remembered in turn, with the same result."""
    belief, policy = LearnedBelief(key, spec, SEEN, 8, (8,), 3), RecurrentPolicy(key, spec, SEEN, 8, (), 4)
    network, go_on = (belief, belief.update) if infers else (policy, policy.decide)
    now = jax.tree.map(lambda leaf: leaf[0], seen)
    for at_once, encoded_before in zip(
        jax.tree.leaves(go_on(now, MEMORY)),
        jax.tree.leaves(go_on(network.embed(now), MEMORY)),
        strict=True,
    ):
        np.testing.assert_array_equal(at_once, encoded_before)


count = lambda network: sum(leaf.size for leaf in jax.tree.leaves(network))


def test_the_papers_layers_counted_by_hand(key):
    """Seven of 128 before the sum and two of 64 behind it. On top two more, or an LSTM and the predictor's two."""
    to_the_sum = RelationSpec(RelativePairs(11), before=(128,) * 7)
    beyond, head = replace(to_the_sum, after=(64, 64)), (64, 64, 96, 32)
    before = 9 * 128 + 6 * 129 * 128
    policy, critic = policy_of(key, to_the_sum, head), ConditionedCritic(key, to_the_sum, SEEN, 3, head)
    assert count(policy) == before + 138 * 64 + 65 * 64 + 65 * 96 + 97 * 32 + 33 * 4
    assert count(critic) == before + 138 * 64 + 65 * 64 + 65 * 96 + 97 * 32 + 33
    lstm = 4 * 64 * (64 + 64 + 1)
    seen = before + 135 * 64 + 65 * 64
    assert count(RecurrentPolicy(key, beyond, SEEN, 64, (), 4)) == seen + lstm + 65 * 4
    assert count(LearnedBelief(key, beyond, SEEN, 64, (64, 64), 3)) == seen + lstm + 2 * 65 * 64 + 65 * 3


def test_the_layers_of_other_encoders_counted_by_hand(key):
    """Two coordinates into 8 and 6; a grid of 2 x 5 x 5 through 3 x 3 into 4 and 8 channels, and that into 12.

    A label of 3 joins the two coordinates before the 8 units of a critic that remembers.
    """
    encoders = {name: policy_of(key, spec).encoder for name, spec in SPECS.items()}
    assert count(encoders["vector"]) == 0
    assert count(encoders["perceptron"]) == 3 * 8 + 9 * 6
    critic = RecurrentCritic(key, SPECS["vector"], SEEN, 3, 8, ())
    assert count(critic) == 4 * 8 * (2 + 3 + 8 + 1) + 9
    assert count(encoders["grid"]) == (2 * 9 + 1) * 4 + (4 * 9 + 1) * 8 + (8 * 25 + 1) * 12


def after(seen, action, reward):
    """What is seen when this was done and paid so much the step before."""
    return seen._replace(last_action=jnp.int32(action), last_reward=jnp.float32(reward), first=jnp.bool_(False))


PLACE = VectorSpec(lambda board: board.own / 4)


def test_feedback_is_laid_out_behind_the_embedding(key):
    """Two coordinates, then four actions of which the third was taken, what it paid, and whether an episode begins."""
    encoder, size, _ = build_below_head(key, FeedbackSpec(PLACE, actions=4), SEEN)
    place = (SEEN.observation.own / 4).tolist()
    assert size == 2 + 4 + 1 + 1
    assert encoder(after(SEEN, 2, -0.5)).tolist() == [*place, 0, 0, 1, 0, -0.5, 0]
    assert encoder(SEEN).tolist() == [*place, 0, 0, 0, 0, 0, 1]


def test_feedback_has_the_weights_activation_and_permutation_of_what_it_stands_behind(key):
    """Also the key for the head is the same, whether or not the encoder learns."""
    for spec in SPECS.values():
        plain, size, for_head = build_below_head(key, spec, SEEN)
        beside, larger, for_its_head = build_below_head(key, FeedbackSpec(spec, actions=4), SEEN)
        assert larger == size + 6
        assert FeedbackSpec(spec, actions=4).activation is spec.activation
        assert (jax.random.key_data(for_head) == jax.random.key_data(for_its_head)).all()
        assert jax.tree.all(jax.tree.map(np.array_equal, jax.tree.leaves(plain), jax.tree.leaves(beside)))
        np.testing.assert_array_equal(beside(SEEN)[:size], plain(SEEN))
        assert (beside.permutation(SEEN) is None) == (plain.permutation(SEEN) is None)


def test_who_looks_from_home_sees_its_own_last_action_turned_like_the_board(key, seen):
    """What was up on the board is what up is from home, and so for all others; and all eight turns look the same."""
    spec = FeedbackSpec(replace(TO_THE_SUM, view=TurnedPairs(5)), actions=4)
    encoder, size, _ = build_below_head(key, spec, SEEN)
    board = jax.tree.map(lambda leaf: leaf[0], seen.observation)._replace(own=jnp.array([3, 0]))
    home = TurnedPairs(5).permutation(board)
    assert sorted(home.tolist()) == [0, 1, 2, 3] != home.tolist()
    for action in range(4):
        here = encoder(after(shown_first(board), action, 0.5))
        assert here[size - 6 : size - 2].tolist() == [float(seen_as == home[action]) for seen_as in range(4)]
        for turn in (Turn(jnp.array(back, bool), jnp.array(swap, bool)) for *back, swap in np.ndindex(2, 2, 2)):
            there = after(shown_first(turned(board, 5, turn)), turned_moves(turn)[action], 0.5)
            np.testing.assert_allclose(encoder(there), here, atol=1e-6)


def test_feedback_is_prepared_with_what_it_stands_behind(key):
    policy = policy_of(key, FeedbackSpec(TO_THE_SUM, actions=4))
    at_hand = prepared(policy, 10**6)
    assert isinstance(at_hand.encoder, FeedbackEncoder)
    assert isinstance(at_hand.encoder.encoder, RelationEncoder)
    assert isinstance(at_hand.encoder.encoder.pairs, TabulatedSum)
    label = jnp.array([0.2, 0.3, 0.5])
    np.testing.assert_allclose(at_hand(after(SEEN, 1, 1.0), label), policy(after(SEEN, 1, 1.0), label), atol=1e-6)
