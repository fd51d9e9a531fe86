"""What a policy is told by each belief, and what it makes of it."""

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.agents.bayes import BestAction
from coadapt.agents.behaviour_conditioned import CONDITIONINGS, BehaviourConditioned
from coadapt.agents.beliefs import ConstantBelief, DirichletPosterior, ReplayedBelief
from coadapt.players import shown_first

TABLE = jnp.log(jnp.array([[9.0, 1.0], [0.2, 0.8]]))
"""How a policy of two actions acts on each of two labels: nine to one, and one to four."""
BELIEF = jnp.array([0.25, 0.75])
NOTHING = shown_first(None)


def policy(seen, belief):
    """It takes labels for certain, and their mean for a mean of logits."""
    return belief @ TABLE


def said(belief, *observations):
    memory, found = belief.start(), []
    for observation in observations:
        opinion, memory = belief.update(shown_first(observation), memory)
        found.append(opinion.tolist())
    return found


def test_a_policy_is_conditioned_on_the_belief_its_likeliest_label_or_one_drawn_from_it():
    """Drawn: 0.25 * 0.9 + 0.75 * 0.2 = 0.375 for the first action."""
    logits = {name: condition(policy)(NOTHING, BELIEF) for name, condition in CONDITIONINGS.items()}
    np.testing.assert_allclose(logits["probabilities"], BELIEF @ TABLE, rtol=1e-6)
    np.testing.assert_allclose(logits["map"], TABLE[1], rtol=1e-6)
    np.testing.assert_allclose(jax.nn.softmax(logits["sampled"]), [0.375, 0.625], rtol=1e-5)


def test_of_a_label_that_is_drawn_only_legal_actions_count():
    """Third action illegal: 0.6 and 0.3 make 2/3 and 1/3, 0.1 and 0.1 a half each; 1/4 * 2/3 + 3/4 * 1/2 = 13/24."""
    shares = jnp.array([[0.6, 0.3, 0.1], [0.1, 0.1, 0.8]])
    drawn = CONDITIONINGS["sampled"](lambda seen, belief: belief @ jnp.log(shares))
    only_two = shown_first(None, jnp.array([True, True, False]))
    np.testing.assert_allclose(jax.nn.softmax(drawn(only_two, BELIEF)), [13 / 24, 11 / 24, 0], rtol=1e-5)
    np.testing.assert_allclose(jax.nn.softmax(drawn(NOTHING, BELIEF)), [0.225, 0.15, 0.625], rtol=1e-5)


def test_on_a_belief_that_is_certain_all_conditionings_act_alike():
    for condition in CONDITIONINGS.values():
        shares = jax.nn.softmax(condition(policy)(NOTHING, jnp.array([1.0, 0.0])))
        np.testing.assert_allclose(shares, [0.9, 0.1], atol=1e-6)


def test_the_agent_acts_on_what_it_believes_and_says_so(key):
    agent = BehaviourConditioned(ConstantBelief(BELIEF), policy)  # pyright: ignore[reportArgumentType]
    decision = agent.decide(NOTHING, agent.start(key))
    np.testing.assert_allclose(decision.logits, BELIEF @ TABLE, rtol=1e-6)
    assert decision.info["belief"].tolist() == BELIEF.tolist()


def test_what_is_replayed_is_said_step_by_step_and_the_last_stays():
    assert said(ReplayedBelief(jnp.array([[1.0, 0.0], [0.0, 1.0]])), *[None] * 4) == [[1, 0], [0, 1], [0, 1], [0, 1]]


def test_actions_are_counted_on_top_of_the_prior():
    """A prior of 1 and 2: a third. Then the second action, again and again: 1 of 4, of 5 and of 6."""
    second, nothing = jnp.array([0.0, 1.0]), jnp.zeros(2)
    found = said(DirichletPosterior(jnp.array([1.0, 2.0]), lambda seen: seen), nothing, *[second] * 3)
    np.testing.assert_allclose([first for first, _ in found], [1 / 3, 1 / 4, 1 / 5, 1 / 6], rtol=1e-6)


def test_the_best_action_is_that_of_the_best_column():
    """Against a partner that takes its first action in one of four cases: 0.25 * 4 = 1 beats 0.75 * 1."""
    payoff = jnp.array([[4.0, 0.0], [0.0, 1.0]])
    assert BestAction(payoff)(NOTHING, BELIEF).tolist() == [0, -jnp.inf]
    assert BestAction(payoff)(NOTHING, jnp.array([0.1, 0.9])).tolist() == [-jnp.inf, 0]
