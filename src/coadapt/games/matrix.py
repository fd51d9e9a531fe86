"""The repeated matrix game: both choose at once, a table pays both, and the same table is played again.

Seen from the main seat the only unknown is how the partner likes to act, so an episode is a small lesson in finding
that out. The table is data, with the partner's actions as rows and the main agent's as columns.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Count, Float, Key, Scalar, Vector
from coadapt.configs.checks import shown
from coadapt.games.game import MAIN, Outcome

PAPER_PAYOFF = (
    (1.0, -0.7, -0.4, -0.1, 0.0),
    (-1.0, 0.8, -0.4, -0.1, 0.0),
    (-1.0, -0.7, 0.6, -0.1, 0.0),
    (-1.0, -0.7, -0.4, 0.4, 0.0),
    (-1.0, -0.7, -0.4, -0.1, 0.2),
)
"""The paper's Table 1: the bolder the main agent's choice, the more a wrong guess about the partner costs."""

NOTHING_YET = -1
"""Stands for the last action before there was one."""


class MatrixState(NamedTuple):
    """How many steps were played, and how the last one went."""

    step: Count
    last_actions: tuple[Count, Count]
    last_reward: Scalar


class MatrixObservation(NamedTuple):
    """What one seat sees, ready for a network: actions are one-hot, and all zeros before the first step."""

    progress: Scalar  # the step index as a share of the episode
    own_action: Vector
    other_action: Vector
    reward: Scalar


@partial(jax.tree_util.register_dataclass, data_fields=["payoff"], meta_fields=["max_steps"])
@dataclass(frozen=True)
class MatrixGame:
    """A payoff table played `max_steps` times over."""

    payoff: Float[Array, "partner_actions main_actions"] = field(
        default_factory=lambda: jnp.array(PAPER_PAYOFF, jnp.float32)
    )
    max_steps: int = 10

    @property
    def num_actions(self) -> tuple[int, int]:
        partner_actions, main_actions = self.payoff.shape
        return main_actions, partner_actions

    def reset(self, key: Key) -> MatrixState:
        del key  # every episode starts alike
        nothing = jnp.int32(NOTHING_YET)
        return MatrixState(jnp.int32(0), (nothing, nothing), jnp.float32(0))

    def step(
        self, state: MatrixState, actions: tuple[Count, Count], key: Key | None = None
    ) -> tuple[MatrixState, Outcome]:
        del key  # nothing happens by chance
        main, partner = actions
        reward = self.payoff[partner, main]
        after = MatrixState(state.step + 1, actions, reward)
        return after, Outcome(reward, terminated=after.step >= self.max_steps, truncated=jnp.bool_(False))

    def observe(self, state: MatrixState, seat: int) -> MatrixObservation:
        hot = [jax.nn.one_hot(a, n) for a, n in zip(state.last_actions, self.num_actions, strict=True)]
        own, other = hot if seat == MAIN else reversed(hot)
        return MatrixObservation(state.step / self.max_steps, own, other, state.last_reward)


# What each network may look at. A view turns an observation into the vector a network takes.


def clock(observation: MatrixObservation) -> Vector:
    """The step index alone: for a policy that is told, or believes, how the partner acts."""
    return observation.progress[None]


def partner_watch(observation: MatrixObservation) -> Vector:
    """The step index and the partner's last action: for whoever infers.

    Not its own agent's action nor the reward, for an agent that acts on the truth gives it away by its moves.
    """
    return jnp.concatenate([observation.progress[None], observation.other_action])


def partner_action(observation: MatrixObservation) -> Vector:
    """The partner's last action alone: for whoever counts."""
    return observation.other_action


def full_view(observation: MatrixObservation) -> Vector:
    """All there is to see: for an agent that learns from end to end."""
    return jnp.concatenate(
        [observation.progress[None], observation.own_action, observation.other_action, observation.reward[None]]
    )


def check_payoff(table: Any) -> None:
    """A ValueError that says what is wrong with a payoff table, if anything is."""
    rows = isinstance(table, list | tuple) and table and all(isinstance(row, list | tuple) and row for row in table)
    if not rows:
        raise ValueError(f"payoff must be a list of rows, each a list of numbers, not {shown(table)}")
    if len({len(row) for row in table}) > 1:
        raise ValueError(f"payoff must have rows of one length, not {[len(row) for row in table]}")
    for number in (number for row in table for number in row):
        if not _is_payoff(number):
            raise ValueError(f"payoff must hold finite numbers only, not {shown(number)}")


def _is_payoff(number: Any) -> bool:
    """A number that is still finite in single precision."""
    return isinstance(number, int | float) and not isinstance(number, bool) and abs(number) <= MOST


MOST = float(jnp.finfo(jnp.float32).max)
