"""The Bayes-optimal player of a repeated game with a payoff table, against Dirichlet partners.

The expected payoff is linear in the partner's distribution and no action changes what is learnt next, so the best
action on the posterior mean is the best there is: no agent without the truth can do better, on any history.
"""

from typing import NamedTuple

import jax.numpy as jnp

from coadapt.agents.behaviour_conditioned import BehaviourConditioned
from coadapt.agents.beliefs import DirichletPosterior
from coadapt.arrays import Array, Float, Vector
from coadapt.oracles.matrix import expected_payoffs
from coadapt.players import Seen, View


class BestAction(NamedTuple):
    """The policy that takes the exactly best action against the distribution it is told."""

    payoff: Float[Array, "partner_actions main_actions"]

    def __call__(self, seen: Seen, belief: Vector) -> Vector:
        del seen
        payoffs = expected_payoffs(self.payoff, belief)
        return jnp.where(jnp.arange(payoffs.size) == jnp.argmax(payoffs), 0.0, -jnp.inf)


def bayes_optimal(
    payoff: Float[Array, "partner_actions main_actions"], concentration: Vector, view: View
) -> BehaviourConditioned:
    """The exact posterior mean, and the exactly best action on it."""
    return BehaviourConditioned(DirichletPosterior(concentration, view), BestAction(payoff))
