"""Exact truths about the salesman's gridworld, one layout at a time.

What two players can do at best, what one can do at best with a given partner, and what any two memoryless players come
to. All of it is dynamic programming, backwards from the end, over where both agents stand and what is collected. So
tables have the axes `row column row column set`: the main agent's cell, the partner's cell, the collected subgoals.
"""

import math
from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Float, Integer
from coadapt.games.game import PARTNER
from coadapt.games.salesman.layouts import Layout, states_of, table_shape
from coadapt.games.salesman.rules import MOVES, Salesman
from coadapt.memory import check_memory
from coadapt.players import Player, prepared, seen_first

Table = Float[Array, "row column row column set"]
Behaviour = Float[Array, "action row column row column set"]
"""A memoryless player: the probability of each action, wherever it may be."""
Actions = Integer[Array, "step row column row column set"]


class Outlook(NamedTuple):
    """What is still to come, from wherever the players may be."""

    total: Table  # of the rewards: the return
    length: Table  # the steps
    finished: Table  # the probability to get there before the step limit


class BestResponse(NamedTuple):
    """The best there is to do with a partner, from the first step on, and what it comes to."""

    outlook: Outlook  # with all steps left
    actions: Actions  # by the step of the episode


def at_random(game: Salesman) -> Behaviour:
    """A player that takes every action as often as any other."""
    return jnp.full((len(MOVES), *table_shape(game)), 1 / len(MOVES))


STATES_AT_ONCE = 8_192
"""How many states a network looks at in one go."""


def behaviour_of(player: Player, game: Salesman, layout: Layout, seat: int = PARTNER) -> Behaviour:
    """What a memoryless player does in every state of a layout."""
    memory = player.start(jax.random.key(0))  # a memoryless player has no use for chance
    if jax.tree.leaves(memory):
        raise ValueError("a player that remembers has no table of what it does: that depends on more than the state")

    states = states_of(game, layout)
    player = prepared(player, math.prod(table_shape(game)))

    def act(state):
        return jax.nn.softmax(player.decide(seen_first(game, state, seat), memory).logits)

    probabilities = jax.lax.map(act, states, batch_size=STATES_AT_ONCE)
    return jnp.moveaxis(probabilities.reshape(*table_shape(game), -1), -1, 0)


def best_response(game: Salesman, layout: Layout, partner: Behaviour) -> BestResponse:
    """The best any player can do with this partner, even one that knows the partner's mind and the time."""
    check_fits(game)

    def best(returns: list[Table]) -> tuple[Pick, Array]:
        action, most = jnp.zeros(returns[0].shape, jnp.uint8), returns[0]
        for number, other in enumerate(returns[1:], 1):
            action = jnp.where(other > most, jnp.uint8(number), action)
            most = jnp.maximum(other, most)
        return lambda tables: jax.lax.select_n(action.astype(jnp.int32), *tables), action

    outlook, backwards = _look_back(game, layout, partner, best)
    return BestResponse(outlook, backwards[::-1])


def outlook_of(game: Salesman, layout: Layout, main: Behaviour, partner: Behaviour) -> Outlook:
    """What two memoryless players come to."""
    check_fits(game)
    average = lambda tables: _average(main, tables)
    return _look_back(game, layout, partner, lambda returns: (average, None))[0]


Pick = Callable[[list[Table]], Table]
"""One table of those that the main agent's actions lead to."""


def _look_back(
    game: Salesman, layout: Layout, partner: Behaviour, choose: Callable[[list[Table]], tuple[Pick, Any]]
) -> tuple[Outlook, Any]:
    """From the step limit back to the first step; `choose` says which actions to take, knowing what each returns."""
    arrive = _arrivals(game, layout)

    def one_step_earlier(later: Outlook, _):
        on_average = lambda soon: [_average(partner, by_partner) for by_partner in _moved(soon)]
        totals = on_average(game.step_reward + arrive(later.total, game.goal_reward, game.goal_reward))
        lengths = on_average(1 + arrive(later.length, 0.0, 0.0))
        finished = on_average(arrive(later.finished, 0.0, 1.0))
        pick, noted = choose(totals)
        return Outlook(pick(totals), pick(lengths), pick(finished)), noted

    nothing = jnp.zeros(table_shape(game))
    return jax.lax.scan(one_step_earlier, Outlook(nothing, nothing, nothing), length=game.max_steps)


def _average(behaviour: Behaviour, tables: list[Table]) -> Table:
    """Over the actions of a player, each of which leads to a table."""
    return sum(share * table for share, table in zip(behaviour, tables, strict=True))  # pyright: ignore[reportReturnType]


def joint_optimum(game: Salesman, layout: Layout) -> Table:
    """The fewest steps two players need from everywhere, however many that are."""
    check_fits(game)
    arrive = _arrivals(game, layout)

    def improve(known: tuple[Table, Array]) -> tuple[Table, Array]:
        steps, _ = known
        soon = 1 + arrive(steps, 0.0, 0.0)
        best = reduce(jnp.minimum, (table for row in _moved(soon) for table in row))
        return best, jnp.any(best != steps)

    unknown = jnp.full(table_shape(game), jnp.inf)
    return jax.lax.while_loop(lambda known: known[1], improve, (unknown, jnp.array(True)))[0]


def _arrivals(game: Salesman, layout: Layout) -> Callable[[Table, float, float], Table]:
    """`arrive(later, bonus, at_end)`: what follows a move, by where it leads to and by what was collected before it.

    Whoever comes to a subgoal gets the bonus and goes on with one more collected; to the goal with all of them, is at
    the end. Only the tables' slices on these cells have to be touched.
    """
    sets = jnp.arange(2**game.subgoals)

    def arrive(later: Table, bonus: float, at_end: float) -> Table:
        row, column = layout.goal
        table = later.at[row, column, ..., -1].set(at_end).at[:, :, row, column, -1].set(at_end)
        for k in range(game.subgoals):
            with_it = sets | 1 << k
            gain = jnp.where(with_it != sets, bonus, 0.0)[None, None]
            collect = lambda there, with_it=with_it, gain=gain: there[..., with_it] + gain
            row, column = layout.subgoals[k]
            table = table.at[row, column].set(collect(table[row, column]))
            table = table.at[:, :, row, column].set(collect(table[:, :, row, column]))
        return table

    return arrive


def _moved(soon: Table) -> list[list[Table]]:
    """The table as seen from before a move, by the main agent's action and the partner's; a wall keeps an agent."""
    size, *_ = soon.shape
    walled = jnp.pad(soon, (*((1, 1),) * 4, (0, 0)), mode="edge")
    after = lambda change: slice(1 + change, 1 + change + size)
    return [
        [walled[after(row), after(column), after(other_row), after(other_column)] for other_row, other_column in MOVES]
        for row, column in MOVES
    ]


BYTES_A_PLACE = 4 * 64
"""What the dynamic programme needs for each place of a table, counted in floats of four bytes: measured, rounded up."""


def check_fits(game: Salesman, responses: int = 1) -> None:
    """Refuse a game whose tables, and so many best responses, would not fit in memory."""
    places = 2**game.subgoals * game.size**4
    a_response = game.max_steps + 4 * len(MOVES)  # an action for every step, beside the behaviour it responds to
    fewer = ", or have fewer partners to respond to" if responses > 1 else ""
    check_memory(
        f"the exact tables of a {game.size}x{game.size} grid with {game.subgoals} subgoals",
        places * (BYTES_A_PLACE + responses * a_response),
        f"make game.size, game.subgoals or game.max_steps smaller{fewer}",
    )
