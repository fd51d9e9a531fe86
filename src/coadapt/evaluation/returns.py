"""What a player earns with each of some partners, over many episodes.

A game goes on to its next episode as soon as one is over, so that short ones do not wait for the longest there can be.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer, eval_jaxpr

from coadapt.arrays import Array, Count, Float, Int, Key, Scalar, Vector
from coadapt.encounters import EpisodeState, Greedy, NeverEnds, Players, Transition, advance, start_episode
from coadapt.games.checks import check_parts
from coadapt.games.game import Game
from coadapt.partners.population import Partners, check_partners, label_by_game
from coadapt.players import Player, prepared

MOST_SIDE_BY_SIDE = 200
"""So many games with one partner at a time at the most: enough to keep the machine busy, few enough for its caches."""

Note = Callable[[Transition, Vector], Any]
"""Numbers worth keeping of a transition, given the partner's label."""


class Notes(NamedTuple):
    """What was noted of episodes, by step of the episode and added up."""

    lasting: Any  # over the episodes that last so long
    kept: Any  # over all: after its end an episode keeps what was noted last, so no step is left to a few slow ones


def nothing(transition: Transition, label: Vector) -> None:
    """Nothing beyond lengths and returns is kept."""
    del transition, label


class Means(NamedTuple):
    """What episodes came to on average; where there is an axis, with each partner."""

    length: Float[Array, "*partners"]  # steps taken
    total: Float[Array, "*partners"]  # of the rewards: the return
    total_error: Float[Array, "*partners"]  # the standard error of the return
    finished: Float[Array, "*partners"]  # the share that ended by themselves, and not at the step limit


class Episodes(NamedTuple):
    """What came of episodes with each partner, and what was noted at their steps."""

    means: Means
    notes: Notes


def side_by_side(episodes: int) -> int:
    """In how many games so many episodes with one partner are played."""
    return min(episodes, MOST_SIDE_BY_SIDE)


def play_with_all(
    key: Key,
    game: Game,
    partners: Partners,
    as_player: Callable[[Any], Player],
    told: Any,
    episodes: int,
    greedy: Greedy = False,
    note: Note = nothing,
) -> Episodes:
    """Episodes with each partner: means, and what was noted at each step.

    `told` has a row for every game, of which there are `side_by_side(episodes)` with each partner, and `as_player(row)`
    is who plays it. The same key brings the same beginnings and the same luck to whoever plays.
    """
    games, samples = side_by_side(episodes), episodes * game.max_steps
    quotas = episodes // games + (jnp.arange(games) < episodes % games).astype(jnp.int32)
    keys = jax.random.split(key, (len(partners.ids), games))
    by_partner = jax.tree.map(lambda rows: rows.reshape(*keys.shape, *rows.shape[1:]), told)

    def with_one(of_partner):
        keys, partner, rows, label = of_partner
        partner = prepared(partner, samples)

        def play(key, row, quota):
            players = prepared(as_player(row), samples), partner
            return play_in_a_row(key, game, players, quota, greedy, lambda transition: note(transition, label))

        sums, noted = jax.vmap(play)(keys, rows, quotas)
        return _means(sums, quotas), jax.tree.map(lambda leaf: jnp.sum(leaf, axis=0), noted)

    return Episodes(*jax.lax.map(with_one, (keys, partners.players, by_partner, partners.labels)))


class Sums(NamedTuple):
    """What the episodes of a game come to altogether."""

    steps: Scalar
    rewards: Scalar
    finished: Scalar


class _SoFar(NamedTuple):
    episode: Count
    step: Count  # of the episode
    episode_state: EpisodeState
    sums: Sums
    noted: Any  # by step
    noted_last: Any  # by the step that was an episode's last


def play_in_a_row(
    key: Key,
    game: Game,
    players: Players,
    episodes: Count | int,
    greedy: Greedy = False,
    note: Callable[[Transition], Any] = lambda transition: None,
) -> tuple[Sums, Notes]:
    """Episodes of two players one after the other: sums over all of them, and of what was noted at each step.

    If one does not end within the game's `max_steps` steps, none is played after it, and the sums are NaN.
    """
    begin = lambda episode: start_episode(jax.random.fold_in(key, episode), game, players)

    def noted_with(noted: Any, step: Count, now: Any) -> Any:
        return jax.tree.map(lambda by_step, value: by_step.at[step].add(value), noted, now)

    def go_on(so_far: _SoFar) -> _SoFar:
        episode_state, transition = advance(so_far.episode_state, game, players, greedy)
        episode = so_far.episode + transition.ended.astype(jnp.int32)
        # Each episode has a key of its own: what happens in it does not depend on how long those before it were.
        afresh = begin(episode)
        now = Sums(jnp.float32(1), transition.reward, transition.terminated.astype(jnp.float32))
        noting = note(transition)
        last = jax.tree.map(lambda value: jnp.where(transition.ended, value, 0), noting)
        return _SoFar(
            episode,
            jnp.where(transition.ended, 0, so_far.step + 1),
            jax.tree.map(lambda new, old: jnp.where(transition.ended, new, old), afresh, episode_state),
            jax.tree.map(jnp.add, so_far.sums, now),
            noted_with(so_far.noted, so_far.step, noting),
            noted_with(so_far.noted_last, so_far.step, last),
        )

    first, none = begin(0), jnp.float32(0)
    kinds = jax.eval_shape(lambda: note(advance(first, game, players, greedy)[1]))
    noted = jax.tree.map(lambda leaf: jnp.zeros((game.max_steps, *leaf.shape), leaf.dtype), kinds)
    start = _SoFar(jnp.int32(0), jnp.int32(0), first, Sums(none, none, none), noted, noted)
    goes_on = lambda so_far: (so_far.episode < episodes) & (so_far.step < game.max_steps)
    end = jax.lax.while_loop(goes_on, go_on, start)
    after_the_end = jax.tree.map(lambda last: jnp.cumsum(last, axis=0) - last, end.noted_last)
    sums = jax.tree.map(lambda of_all: jnp.where(end.episode < episodes, jnp.nan, of_all), end.sums)
    return sums, Notes(end.noted, jax.tree.map(jnp.add, end.noted, after_the_end))


def _means(sums: Sums, quotas: Int[Array, "games"]) -> Means:
    """Over all games with a partner. How far these are apart tells the error: in a game, all were told the same."""
    games, quotas = len(quotas), quotas.astype(jnp.float32)
    episodes = jnp.sum(quotas)
    length, total, finished = (jnp.sum(of_games) / episodes for of_games in sums)
    spread = jnp.sum((sums.rewards - quotas * total) ** 2)
    error = jnp.sqrt(games * spread / (games - 1)) / episodes if games > 1 else jnp.nan
    return Means(length, total, jnp.float32(error), finished)


def pooled(parts: Means, episodes: Sequence[int]) -> Means:
    """The means of parts with so many episodes, which are along the first axis, as those of the whole."""
    share = np.asarray(episodes, np.float64) / sum(episodes)
    length, total, error, finished = (np.asarray(values, np.float64) for values in parts)
    return Means(share @ length, share @ total, (share**2 @ error**2) ** 0.5, share @ finished)  # pyright: ignore[reportArgumentType] (NumPy's, in double precision)


class Cell(NamedTuple):
    """What a method achieved with a partner, over all episodes: `Means` as plain numbers."""

    length: float
    total: float
    total_error: float
    finished: float


def cells_of(parts: Means, episodes: Sequence[int] | None = None) -> list[Cell]:
    """The means over all parts of a measurement, for each partner; the parts are alike, if nothing else is said."""
    whole = pooled(parts, episodes or [1] * len(parts.total))
    return [Cell(*map(float, each)) for each in zip(*whole, strict=True)]


def mean_returns(
    key: Key,
    game: Game,
    partners: Partners,
    player: Player | Callable[[Vector], Player],
    episodes: int,
    greedy: Greedy = False,
) -> Float[Array, "partners"]:
    """The return of an episode with each partner, averaged over so many: the shortest way from an agent to a number.

    A player that is a tree of arrays, as all of ours and all that are loaded, is an argument of the program: it is
    compiled once for all of its kind. A function `as_player(label)` plays with a partner of this label as who it
    returns, such as a control that is told it; it is compiled anew in each call. A game that does not keep to its own
    `max_steps` is an error.
    """
    check_parts(game)
    check_partners(partners)
    if isinstance(player, Player) and all(isinstance(leaf, jax.Array | np.ndarray) for leaf in jax.tree.leaves(player)):
        means = _play(key, game, partners, jax.tree.map(jnp.asarray, player), episodes, greedy)
    else:
        as_player = (lambda _: player) if isinstance(player, Player) else player
        means = _with_constants_as_arguments(
            lambda key: _means_of(key, game, partners, as_player, episodes, greedy), key
        )
    if not isinstance(means.length, Tracer) and np.isnan(means.length).any():
        raise NeverEnds(game)
    return means.total


def _means_of(
    key: Key, game: Game, partners: Partners, as_player: Callable[[Vector], Player], episodes: int, greedy: Greedy
) -> Means:
    labels = label_by_game(side_by_side(episodes) * len(partners.ids), partners)
    return play_with_all(key, game, partners, as_player, labels, episodes, greedy).means


@eqx.filter_jit  # here, and not where it is called, for a second call not to compile it again
def _play(key: Key, game: Game, partners: Partners, player: Player, episodes: int, greedy: Greedy) -> Means:
    return _means_of(key, game, partners, lambda _: player, episodes, greedy)


def _with_constants_as_arguments(work: Callable[[Key], Means], key: Key) -> Means:
    """`work(key)`, compiled; arrays that it closes over, such as networks, are given to the program.

    The compiler would otherwise fold them into it, layer by layer, which takes seconds for each.
    """
    program, shapes = jax.make_jaxpr(work, return_shape=True)(key)
    run = jax.jit(lambda constants, key: eval_jaxpr(program.jaxpr, constants, key))
    return jax.tree.unflatten(jax.tree.structure(shapes), run(program.consts, key))
