"""Two players meet and play.

The game never resets by itself and players never sample: both happen here, and only here. Everything is written for one
pair of players; callers `vmap` over pairs.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Bool, Count, Flag, Float, Key, Keys, Scalar, Vector
from coadapt.games.game import MAIN, PARTNER, Game
from coadapt.players import Player

Players = tuple[Player, Player]  # in the order of the seats: the main agent, the partner
Greedy = bool | Flag
"""Whether the main agent takes its likeliest action, or draws one. Both ways may be gone in one program."""


class Meeting(NamedTuple):
    """Two players in the middle of an episode: all that the next step needs."""

    key: Key
    state: Any
    memories: tuple[Any, Any]


class Moment(NamedTuple):
    """One step as it is looked back on; pairs are in the order of the seats."""

    observations: tuple[Any, Any]
    logits: tuple[Float[Array, "*time main"], Float[Array, "*time partner"]]
    infos: tuple[dict[str, Array], dict[str, Array]]
    actions: tuple[Count, Count]
    reward: Scalar
    terminated: Flag
    truncated: Flag
    next_observations: tuple[Any, Any]  # what followed, before any reset

    @property
    def ended(self) -> Bool[Array, "*time"]:
        """The episode ended with this step, for whichever reason."""
        return self.terminated | self.truncated


class NeverEnds(ValueError):
    """An episode goes on beyond what its game says is the most."""

    def __init__(self, game: Game):
        super().__init__(
            f"an episode of {type(game).__name__} went on after its {game.max_steps} steps (max_steps); by then"
            " its step must say terminated or truncated"
        )


def meet(key: Key, game: Game, players: Players) -> Meeting:
    """A new episode, before its first step."""
    key, for_beginning = jax.random.split(key)
    return Meeting(key, *_begin(for_beginning, game, players))


def _begin(key: Key, game: Game, players: Players) -> tuple[Any, tuple[Any, Any]]:
    for_game, for_main, for_partner = jax.random.split(key, 3)
    main, partner = players
    return game.reset(for_game), (main.start(for_main), partner.start(for_partner))


def advance(meeting: Meeting, game: Game, players: Players, greedy: Greedy = False) -> tuple[Meeting, Moment]:
    """One step of both; when it ends the episode, the meeting goes on with a new one.

    `greedy` makes the main agent take its likeliest action. Partners always sample: a greedy novice would do one thing
    for ever.
    """
    key, for_actions, for_beginning = jax.random.split(meeting.key, 3)
    observations = tuple(game.observe(meeting.state, seat) for seat in (MAIN, PARTNER))
    main, partner = (
        player.decide(observation, memory)
        for player, observation, memory in zip(players, observations, meeting.memories, strict=True)
    )
    chance = jax.random.uniform(for_actions, (2,))
    likeliest, drawn = jnp.argmax(main.logits), choose(chance[MAIN], main.logits)
    actions = jnp.where(greedy, likeliest, drawn), choose(chance[PARTNER], partner.logits)
    state, outcome = game.step(meeting.state, actions)
    moment = Moment(
        observations=observations,
        logits=(main.logits, partner.logits),
        infos=(main.info, partner.info),
        actions=actions,
        reward=outcome.reward,
        terminated=outcome.terminated,
        truncated=outcome.truncated,
        next_observations=tuple(game.observe(state, seat) for seat in (MAIN, PARTNER)),
    )
    afresh = _begin(for_beginning, game, players)
    going_on = state, (main.memory, partner.memory)
    return Meeting(key, *jax.tree.map(lambda a, b: jnp.where(moment.ended, a, b), afresh, going_on)), moment


def choose(chance: Scalar, logits: Vector) -> Count:
    """The action that a number between zero and one falls on, each having its share of the line.

    An action with no share is never chosen. (A Gumbel draw would take a random number for every action.)
    """
    ends = jnp.cumsum(jax.nn.softmax(logits))
    return jnp.sum(ends <= chance * ends[-1])


def play_with_each(
    keys: Keys,
    game: Game,
    partners: Any,
    as_player: Callable[[Any], Player],
    told: Any,
    steps: int,
    greedy: Greedy = False,
) -> Moment:
    """Games of the main agent with each of some partners: moments by game and time, those with one partner together.

    There is a key for each partner (the first axis) and each of its games. `told` has a row for every game, and
    `as_player(row)` is who plays it.
    """
    by_partner = jax.tree.map(lambda rows: rows.reshape(*keys.shape, *rows.shape[1:]), told)

    def one(key, partner, row):
        players = as_player(row), partner
        return play(meet(key, game, players), game, players, steps, greedy)[1]

    with_one_partner = jax.vmap(one, (0, None, 0))
    moments = jax.vmap(with_one_partner)(keys, partners, by_partner)
    return jax.tree.map(lambda leaf: leaf.reshape(keys.size, *leaf.shape[2:]), moments)


def play(meeting: Meeting, game: Game, players: Players, steps: int, greedy: Greedy = False) -> tuple[Meeting, Moment]:
    """`steps` steps, over as many episodes as they take; the moments are stacked in time."""
    return jax.lax.scan(lambda m, _: advance(m, game, players, greedy), meeting, length=steps)
