"""The optimum of inference in a game of few states, and a player that acts on it by tables."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.agents.best_response import CERTAINLY
from coadapt.arrays import Array, Bool, Count, Flag, Float, Int, Key, Vector
from coadapt.games.game import MAIN, Game
from coadapt.oracles.enumeration import Following, Tables
from coadapt.players import Decision, Seen, seen_first

AS_SHOWN = 1e-5
"""Rewards that are no farther apart than this share of them are the same: programs may round in their own ways."""


class Watched(NamedTuple):
    """What is remembered of an episode."""

    begun: Flag  # false before anything was seen
    state: Count  # the number of the state that it is in
    log_weights: Float[Array, "partners"]  # how likely the partner is to be each


class StatePosterior(NamedTuple):
    """The exact posterior over some memoryless partners, one of whom it is, of somebody who can tell the state: no
    belief has a smaller log loss on average over them.

    All that was seen counts, from the beginning of the episode: the states, the main agent's own actions, the rewards.
    What the partner did need not be seen, only what came of it. Partners have labels, which some may share, and a prior
    probability; the belief is about labels.
    """

    tables: Tables
    shown: Float[Array, "states numbers"]  # what the main agent sees in each: see `what_is_shown`
    behaviours: Float[Array, "partners states actions"]
    labels: Float[Array, "partners label"]
    prior: Vector

    def start(self) -> Watched:
        return Watched(jnp.bool_(False), jnp.int32(0), jnp.log(self.prior))

    def update(self, seen: Seen, memory: Watched) -> tuple[Vector, Watched]:
        did = jnp.maximum(seen.last_action, 0)  # at first there was none, and what would follow it does not count
        after = Following(*(jnp.asarray(table)[memory.state, did] for table in self.tables.following))
        first = self._nearest(seen, jnp.asarray(self.tables.starts), jnp.asarray(self.tables.start_probabilities) > 0)
        state = jnp.where(memory.begun, self._nearest(seen, after.states, after.goes_on), first)
        as_paid = jnp.isclose(after.reward, seen.last_reward, rtol=AS_SHOWN, atol=AS_SHOWN)
        as_seen = after.goes_on & (after.states == state) & as_paid
        likelihoods = self.behaviours[:, memory.state] @ jnp.sum(after.probability, axis=1, where=as_seen)
        least = jnp.finfo(likelihoods.dtype).tiny
        news = jnp.where(memory.begun, jnp.log(jnp.maximum(likelihoods, least)), 0.0)
        log_weights = jax.nn.log_softmax(memory.log_weights + news)
        return jnp.exp(log_weights) @ self.labels, Watched(jnp.bool_(True), state, log_weights)

    def _nearest(self, seen: Seen, states: Int[Array, "*axes"], possible: Bool[Array, "*axes"]) -> Count:
        """Of some states the one that looks most like what is seen; of those that are possible one looks just so."""
        off = jnp.sum((self.shown[states.ravel()] - _as_vector(seen)[None]) ** 2, axis=1)
        return states.ravel()[jnp.argmin(jnp.where(possible.ravel(), off, jnp.inf))]


class RespondsByTable(NamedTuple):
    """It does what is best in each state with whom it holds for the likeliest, as if it were certain."""

    posterior: StatePosterior
    actions: Int[Array, "label states"]  # what is best, by label

    def start(self, key: Key) -> Watched:
        del key
        return self.posterior.start()

    def decide(self, seen: Seen, memory: Watched) -> Decision:
        belief, memory = self.posterior.update(seen, memory)
        action, main = self.actions[jnp.argmax(belief), memory.state], self.posterior.tables.legal[MAIN]
        return Decision(CERTAINLY * jax.nn.one_hot(action, main.shape[1]), memory, {"belief": belief})


class CannotTell(ValueError):
    """The state cannot be told by the main agent."""

    def __init__(self, game: Game):
        super().__init__(
            f"what the main agent of {type(game).__name__} sees does not tell it the state, and without that there is"
            " no exact posterior; let observe() show more of the state, or do without"
        )


def what_is_shown(game: Game, tables: Tables) -> np.ndarray:
    """What the main agent sees in each state, as a row of numbers.

    `CannotTell` if all that it has seen and done since the episode began does not tell the state.
    """
    with jax.ensure_compile_time_eval():
        look = jax.jit(jax.vmap(lambda state: _as_vector(seen_first(game, state, MAIN))))
        shown = np.asarray(look(tables.states))
    if not _can_tell(tables, shown):
        raise CannotTell(game)
    return shown


def _can_tell(tables: Tables, shown: np.ndarray) -> bool:
    """Whether no two states that look alike are possible at once: at first, or after the same state and action."""
    looks = np.unique(shown, axis=0, return_inverse=True)[1].ravel()
    starts = tables.starts[tables.start_probabilities > 0]
    following, number = tables.following, len(shown)
    state, action, *_ = np.nonzero(following.goes_on)
    after = (state.astype(np.int64) * following.reward.shape[1] + action) * number
    next_states = following.states[following.goes_on]
    differ = lambda *ways: len({len(np.unique(way)) for way in ways}) == 1
    return differ(starts, looks[starts]) and differ(after + next_states, after + looks[next_states])


def _as_vector(seen: Seen) -> Vector:
    leaves = jax.tree.leaves((seen.observation, seen.legal))
    return jnp.concatenate([jnp.zeros(1), *(jnp.ravel(leaf).astype(jnp.float32) for leaf in leaves)])
