"""A memoryless player as a table of what it does wherever it may be: what oracles need to know of it."""

import math

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Float
from coadapt.games.game import PARTNER
from coadapt.games.salesman.layouts import Layout, states_of, table_shape
from coadapt.games.salesman.rules import Salesman
from coadapt.players import Player, prepared

STATES_AT_ONCE = 8_192
"""How many states a network looks at in one go."""


def behaviour_of(
    player: Player, game: Salesman, layout: Layout, seat: int = PARTNER
) -> Float[Array, "action row column row column set"]:
    """The probability of each action in every state of a layout."""
    memory = player.start(jax.random.key(0))  # a memoryless player has no use for chance
    if jax.tree.leaves(memory):
        raise ValueError("a player that remembers has no table of what it does: that depends on more than the state")

    states = states_of(game, layout)
    player = prepared(player, math.prod(table_shape(game)))

    def act(state):
        return jax.nn.softmax(player.decide(game.observe(state, seat), memory).logits)

    probabilities = jax.lax.map(act, states, batch_size=STATES_AT_ONCE)
    return jnp.moveaxis(probabilities.reshape(*table_shape(game), -1), -1, 0)
