"""Exact truths about any game of few states: its best responses, its joint optimum, and what any two players come to.

All of it is dynamic programming over the tables of the game, backwards from the end. Tables of what is still to come
have a number for every state. Players are memoryless, and the main agent sees the state.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Float, Int
from coadapt.games.game import MAIN, PARTNER, Game, privileged_view
from coadapt.oracles.enumeration import Tables
from coadapt.players import Player, Seen, among_legal, prepared, seen_first

Behaviour = Float[Array, "states actions"]
"""A memoryless player: the probability of each action in every state."""


class Outlook(NamedTuple):
    """What is still to come, on average, from each state on."""

    total: Float[Array, "states"]  # of the rewards: the return
    length: Float[Array, "states"]  # the steps


class BestResponse(NamedTuple):
    """The best there is to do with a partner, and what it comes to."""

    outlook: Outlook
    actions: Int[Array, "states"]


class JointOptimum(NamedTuple):
    """The best two can do who know all of each other, and what it comes to."""

    outlook: Outlook
    actions: Int[Array, "states seats"]


def best_response(tables: Tables, partner: Behaviour) -> BestResponse:
    """The best any player can do with this partner, even one that sees the state and knows the partner's mind."""

    def best(here: Int[Array, "_"], returns: Returns) -> tuple[Shares, Any]:
        by_partner = partner[here][:, None]
        allowed = jnp.where(_legal(tables, MAIN)[here], jnp.sum(by_partner * returns, axis=2), -jnp.inf)
        action = jnp.argmax(allowed, axis=1)
        return jax.nn.one_hot(action, returns.shape[1])[:, :, None] * by_partner, action

    return BestResponse(*_look_back(tables, best))


def joint_optimum(tables: Tables) -> JointOptimum:
    """The highest return on average, if both seats do what is best for it."""
    _, mains, partners, _ = tables.following.reward.shape

    def best(here: Int[Array, "_"], returns: Returns) -> tuple[Shares, Any]:
        both = _legal(tables, MAIN)[here][:, :, None] & _legal(tables, PARTNER)[here][:, None]
        actions = jnp.argmax(jnp.where(both, returns, -jnp.inf).reshape(len(here), -1), axis=1)
        return jax.nn.one_hot(actions, mains * partners).reshape(returns.shape), actions

    outlook, actions = _look_back(tables, best)
    return JointOptimum(outlook, jnp.stack(jnp.divmod(actions, partners), axis=1))


def outlook_of(tables: Tables, main: Behaviour, partner: Behaviour) -> Outlook:
    """What two memoryless players come to."""
    share = lambda here: main[here][:, :, None] * partner[here][:, None]
    return _look_back(tables, lambda here, returns: (share(here), jnp.zeros(len(here), jnp.int32)))[0]


Returns = Float[Array, "here main partner"]
"""What is still to come in some states, by what both do."""
Shares = Float[Array, "here main partner"]
"""How probable it is that they do so."""


def _look_back(
    tables: Tables, choose: Callable[[Int[Array, "_"], Returns], tuple[Shares, Any]]
) -> tuple[Outlook, Int[Array, "states"]]:
    """From the last steps to the first; `choose` says what both do in some states, knowing what each returns."""
    number = len(tables.following.states)

    def one_layer(later: Outlook, layer: Int[Array, "_"]) -> tuple[Outlook, Any]:
        here = jnp.minimum(layer, number - 1)  # a row may be filled up with the number of states, which none has
        states, probability, reward, ended = (jnp.asarray(table)[here] for table in tables.following)
        come = lambda now, then: jnp.sum(probability * (now + jnp.where(ended, 0.0, then[states])), axis=3)
        returns = come(reward, later.total)
        shares, action = choose(here, returns)
        expected = lambda by_actions: jnp.sum(shares * by_actions, axis=(1, 2))
        now = Outlook(expected(returns), expected(come(jnp.ones_like(reward), later.length)))
        return jax.tree.map(lambda all_states, of: all_states.at[layer].set(of, mode="drop"), later, now), action

    nothing = jnp.zeros(number)
    layers = jnp.asarray(tables.layers)
    outlook, actions = jax.lax.scan(one_layer, Outlook(nothing, nothing), layers)
    return outlook, jnp.zeros(number, jnp.int32).at[layers.ravel()].set(actions.ravel(), mode="drop")


def _legal(tables: Tables, seat: int) -> Array:
    return jnp.asarray(tables.legal[seat])


def on_average(
    behaviours: Float[Array, "partner *table"], labels: Float[Array, "partner type"]
) -> Float[Array, "type *table"]:
    """What the partners of each type do on average, wherever they may be."""
    shares = labels / jnp.sum(labels, axis=0, keepdims=True)
    return jnp.tensordot(shares.T, behaviours, axes=1)


STATES_AT_ONCE = 8_192
"""How many states a network looks at in one go."""


def behaviour_of(player: Player, game: Game, states: Any, seat: int = PARTNER) -> Behaviour:
    """What a memoryless player does in each of some states, which are stacked along their first axis."""
    memory = player.start(jax.random.key(0))  # a memoryless player has no use for chance
    if jax.tree.leaves(memory):
        raise ValueError(
            "a player that remembers has no table of what it does, for that depends on more than the state: exact"
            " optima are there with memoryless partners alone"
        )
    player = prepared(player, len(jax.tree.leaves(states)[0]))

    def act(state: Any) -> Float[Array, "actions"]:
        seen = _AnyTime(*seen_first(game, state, seat))
        if seat == PARTNER:
            seen = seen._replace(privileged=privileged_view(game, state, seat))
        return jax.nn.softmax(among_legal(player.decide(seen, memory).logits, seen))

    return jax.lax.map(act, states, batch_size=STATES_AT_ONCE)


def _what_was(seen: Seen) -> Any:
    del seen
    raise ValueError(
        "a player that looks at its last action or reward, or at whether an episode begins, has no table of what it"
        " does, for that depends on more than the state: exact optima are there with memoryless partners alone"
    )


class _AnyTime(Seen):
    """What is shown in a state, whatever was before: nobody who asks for that is memoryless."""

    last_action = last_reward = first = property(_what_was)  # pyright: ignore[reportAssignmentType, reportIncompatibleVariableOverride]
