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
from coadapt.players import Player, prepared

Players = tuple[Player, Player]  # in the order of the seats: the main agent, the partner
Greedy = bool | Flag
"""Whether the main agent takes its likeliest action, or draws one. Both ways may be gone in one program."""


class EpisodeState(NamedTuple):
    """An episode under way, with both its players: all that the next step needs."""

    key: Key
    state: Any
    memories: tuple[Any, Any]


class Transition(NamedTuple):
    """One step as data; pairs are in the order of the seats."""

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


def start_episode(key: Key, game: Game, players: Players) -> EpisodeState:
    """A new episode, before its first step."""
    key, for_beginning = jax.random.split(key)
    return EpisodeState(key, *_begin(for_beginning, game, players))


def _begin(key: Key, game: Game, players: Players) -> tuple[Any, tuple[Any, Any]]:
    for_game, for_main, for_partner = jax.random.split(key, 3)
    main, partner = players
    return game.reset(for_game), (main.start(for_main), partner.start(for_partner))


def advance(
    episode: EpisodeState, game: Game, players: Players, greedy: Greedy = False
) -> tuple[EpisodeState, Transition]:
    """One step of both; when it ends the episode, a new one is begun.

    `greedy` makes the main agent take its likeliest action. Partners always sample: a greedy novice would do one thing
    for ever.
    """
    key, for_actions, for_beginning = jax.random.split(episode.key, 3)
    observations = tuple(game.observe(episode.state, seat) for seat in (MAIN, PARTNER))
    main, partner = (
        player.decide(observation, memory)
        for player, observation, memory in zip(players, observations, episode.memories, strict=True)
    )
    chance = jax.random.uniform(for_actions, (2,))
    likeliest, drawn = jnp.argmax(main.logits), choose(chance[MAIN], main.logits)
    actions = jnp.where(greedy, likeliest, drawn), choose(chance[PARTNER], partner.logits)
    state, outcome = game.step(episode.state, actions)
    transition = Transition(
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
    return EpisodeState(
        key, *jax.tree.map(lambda a, b: jnp.where(transition.ended, a, b), afresh, going_on)
    ), transition


def choose(chance: Scalar, logits: Vector) -> Count:
    """The action that a number between zero and one falls on, each having its share of the line.

    An action with no share is never chosen. (A Gumbel draw would take a random number for every action.)
    """
    ends = jnp.cumsum(jax.nn.softmax(logits))
    return jnp.sum(ends <= chance * ends[-1])


def rollouts_with_each(
    keys: Keys,
    game: Game,
    partners: Any,
    as_player: Callable[[Any], Player],
    told: Any,
    steps: int,
    greedy: Greedy = False,
) -> Transition:
    """Games of the main agent with each of some partners: transitions by game and time, partner after partner.

    There is a key for each partner (the first axis) and each of its games. `told` has a row for every game, and
    `as_player(row)` is who plays it.
    """
    by_partner = jax.tree.map(lambda rows: rows.reshape(*keys.shape, *rows.shape[1:]), told)

    def one(key, partner, row):
        players = prepared(as_player(row), keys.size * steps), prepared(partner, keys.shape[1] * steps)
        return rollout(start_episode(key, game, players), game, players, steps, greedy)[1]

    with_one_partner = jax.vmap(one, (0, None, 0))
    transitions = jax.vmap(with_one_partner)(keys, partners, by_partner)
    return jax.tree.map(lambda leaf: leaf.reshape(keys.size, *leaf.shape[2:]), transitions)


def rollout(
    episode: EpisodeState, game: Game, players: Players, steps: int, greedy: Greedy = False
) -> tuple[EpisodeState, Transition]:
    """`steps` steps, over as many episodes as they take; the transitions are stacked in time."""
    return jax.lax.scan(lambda now, _: advance(now, game, players, greedy), episode, length=steps)
