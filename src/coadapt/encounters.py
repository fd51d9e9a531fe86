"""Two players meet and play.

The game never resets by itself and players never sample: both happen here, and only here. A step is three functions,
`decide`, `sample` and `step`, so that a person or a program from outside can act in the place of a player. Everything
is written for one pair of players; callers `vmap` over pairs.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Bool, Count, Flag, Float, Key, Keys, Scalar, TypedKeys, Vector
from coadapt.games.checks import check_parts
from coadapt.games.game import MAIN, PARTNER, WHO_SITS, Game, Outcome, check_outcome, privileged_view
from coadapt.players import NO_ACTION, Decision, Player, Seen, among_legal, check_decision, prepared, seen_first

Players = tuple[Player, Player]  # in the order of the seats: the main agent, the partner
Greedy = bool | Flag
"""Whether the main agent takes its likeliest action, or draws one. Both ways may be gone in one program."""


class LastStep(NamedTuple):
    """What came of the step before; of none, where an episode begins."""

    actions: tuple[Count, Count]
    reward: Scalar
    first: Flag  # there was none


class EpisodeState(NamedTuple):
    """An episode under way, with both its players: all that the next step needs."""

    key: Key
    state: Any
    memories: tuple[Any, Any]
    last: LastStep


class Turn(NamedTuple):
    """What both players see and make of it, before anybody has acted; pairs are in the order of the seats."""

    seen: tuple[Seen, Seen]
    decisions: tuple[Decision, Decision]


class Transition(NamedTuple):
    """One step as data; pairs are in the order of the seats. Nobody can read in it what only scripted partners saw."""

    seen: tuple[Seen, Seen]
    logits: tuple[Float[Array, "*time main"], Float[Array, "*time partner"]]
    infos: tuple[dict[str, Array], dict[str, Array]]
    actions: tuple[Count, Count]
    reward: Scalar
    shaping: Scalar  # for learning alone
    terminated: Flag
    truncated: Flag
    next_seen: tuple[Seen, Seen]  # what followed, before any reset

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
    check_parts(game)
    key, for_beginning = jax.random.split(key)
    return EpisodeState(key, *_begin(for_beginning, game, players))


def _begin(key: Key, game: Game, players: Players) -> tuple[Any, tuple[Any, Any], LastStep]:
    for_game, for_main, for_partner = jax.random.split(key, 3)
    main, partner = players
    last = LastStep((jnp.int32(NO_ACTION), jnp.int32(NO_ACTION)), jnp.float32(0), jnp.bool_(True))
    return game.reset(for_game), (main.start(for_main), partner.start(for_partner)), last


def advance(
    episode: EpisodeState, game: Game, players: Players, greedy: Greedy = False
) -> tuple[EpisodeState, Transition]:
    """One step of both; when it ends the episode, a new one is begun."""
    turn = decide(episode, game, players)
    return step(episode, game, players, turn, sample(episode, turn, greedy))


def decide(episode: EpisodeState, game: Game, players: Players) -> Turn:
    """What both players make of what they see. No illegal action has a share in it."""
    seen = _both_look(game, episode.state, episode.last)
    privileged = seen[PARTNER]._replace(privileged=privileged_view(game, episode.state, PARTNER))

    def decision(seat: int, shown: Seen) -> Decision:
        player, memory = players[seat], episode.memories[seat]
        who, actions = f"{WHO_SITS[seat]} ({type(player).__name__})", game.num_actions[seat]
        made = check_decision(who, player.decide(shown, memory), actions)
        return made._replace(logits=among_legal(made.logits, shown))

    return Turn(seen, (decision(MAIN, seen[MAIN]), decision(PARTNER, privileged)))


def _both_look(game: Game, state: Any, last: LastStep) -> tuple[Seen, Seen]:
    return _look(game, state, MAIN, last), _look(game, state, PARTNER, last)


def _look(game: Game, state: Any, seat: int, last: LastStep) -> Seen:
    """What this seat is shown."""
    known = {"last_action": last.actions[seat], "last_reward": last.reward, "first": last.first}
    return seen_first(game, state, seat)._replace(**known)


def sample(episode: EpisodeState, turn: Turn, greedy: Greedy = False) -> tuple[Count, Count]:
    """What both do. A person or a program from outside may act in the place of either.

    `greedy` makes the main agent take its likeliest action. Partners always sample: a greedy novice would do one thing
    for ever.
    """
    _, for_actions, _ = _keys(episode)
    main, partner = turn.decisions
    chance = jax.random.uniform(for_actions, (2,))
    likeliest, drawn = jnp.argmax(main.logits), choose(chance[MAIN], main.logits)
    return jnp.where(greedy, likeliest, drawn), choose(chance[PARTNER], partner.logits)


def outcome(episode: EpisodeState, game: Game, actions: tuple[Count, Count]) -> tuple[Any, Outcome]:
    """What these actions lead to, before any reset: the state, and what the step brings."""
    # A fourth key beside three: games without chance draw the same whether or not there are games with it.
    return check_outcome(game, game.step(episode.state, actions, jax.random.fold_in(episode.key, 3)))


def step(
    episode: EpisodeState, game: Game, players: Players, turn: Turn, actions: tuple[Count, Count]
) -> tuple[EpisodeState, Transition]:
    """Both act; when that ends the episode, a new one is begun."""
    key, _, for_beginning = _keys(episode)
    state, came = outcome(episode, game, actions)
    main, partner = turn.decisions
    acted = jnp.asarray(actions[MAIN], jnp.int32), jnp.asarray(actions[PARTNER], jnp.int32)
    last = LastStep(acted, came.reward, jnp.bool_(False))
    transition = Transition(
        seen=turn.seen,
        logits=(main.logits, partner.logits),
        infos=(main.info, partner.info),
        actions=actions,
        reward=came.reward,
        shaping=jnp.asarray(came.shaping, jnp.float32),
        terminated=came.terminated,
        truncated=came.truncated,
        next_seen=_both_look(game, state, last),
    )
    afresh = _begin(for_beginning, game, players)
    going_on = state, (main.memory, partner.memory), last
    return EpisodeState(
        key, *jax.tree.map(lambda a, b: jnp.where(transition.ended, a, b), afresh, going_on)
    ), transition


def _keys(episode: EpisodeState) -> TypedKeys[Array, "3"]:
    """To go on with, for actions, and for the beginning of another episode."""
    return jax.random.split(episode.key, 3)


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
