"""A few episodes in which actions are taken at random, to see what shapes alone do not tell.

The main agent takes any legal action as often as any other. In half of the episodes so does the partner; in the others
it plays as it does. All partners have the same luck, so that those who play alike have the same episodes.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.arrays import Count, Flag, Key, Vector
from coadapt.encounters import EpisodeState, NeverEnds, Transition, Turn, decide, sample, start_episode, step
from coadapt.games.game import MAIN, PARTNER, WHO_SITS, Game
from coadapt.games.traced import Unfit, explained, named_leaves
from coadapt.partners.dirichlet import Stationary
from coadapt.players import Decision, Player, Seen, prepared

MOST_EPISODES, FEWEST, MOST = 256, 4, 24
"""About so many in all, and from so many to so many with each partner."""
MOST_STEPS = 200_000
"""About so many with each partner: of long episodes there are fewer."""
COMPILED_QUICKLY = {"xla_backend_optimization_level": 0}
"""For programs that take longer to compile than to run."""


class Wrong(NamedTuple):
    """What went wrong in an episode at least once; pairs are in the order of the seats."""

    observations: tuple[Any, Any]  # a number is not finite: for each array of them
    no_legal_action: tuple[Flag, Flag]
    logits: Flag  # one of the partner's is NaN or plus infinity
    no_action_taken: Flag  # the partner takes no legal action
    reward: Flag  # it is not finite, or else its shaping
    shaping: Flag


class Found(NamedTuple):
    """What was found in an episode."""

    wrong: Wrong
    ended: Flag
    style: Vector  # the partner's probabilities of its actions, added up: the later the step, the more it counts


def played_at_random(key: Key, game: Game, partners: Any, number: int) -> Found:
    """Episodes with each of so many stacked partners: what was found, by partner and episode."""
    episodes = max(FEWEST, min(MOST, MOST_EPISODES // number, MOST_STEPS // game.max_steps))

    @partial(jax.jit, compiler_options=COMPILED_QUICKLY)
    def play(key: Key, partners: Any) -> Found:
        keys, by_chance = jax.random.split(key, episodes), jnp.arange(episodes) % 2 == 1

        def with_one(partner: Any) -> Found:
            partner = prepared(partner, episodes * game.max_steps)
            return jax.vmap(lambda key, chance: _episode(key, game, Sometimes(partner, chance)))(keys, by_chance)

        return jax.vmap(with_one)(partners)

    with explained(f"an episode of {type(game).__name__}"):
        return jax.device_get(play(key, partners))


class Sometimes(NamedTuple):
    """A player, or whoever takes any action in its place; it watches in either case."""

    player: Any
    by_chance: Flag

    def start(self, key: Key) -> Any:
        return self.player.start(key)

    def decide(self, seen: Seen, memory: Any) -> Decision:
        decision = self.player.decide(seen, memory)
        return Decision(jnp.where(self.by_chance, 0, decision.logits), decision.memory, {})


class _SoFar(NamedTuple):
    episode: EpisodeState
    step: Count
    found: Found


def _episode(key: Key, game: Game, partner: Player) -> Found:
    players = Stationary(jnp.zeros(game.num_actions[MAIN])), partner

    def look(episode: EpisodeState) -> tuple[EpisodeState, Turn, Transition]:
        turn = decide(episode, game, players)
        after, transition = step(episode, game, players, turn, sample(episode, turn))
        return after, turn, transition

    def go_on(so_far: _SoFar) -> _SoFar:
        after, turn, transition = look(so_far.episode)
        wrong = jax.tree.map(jnp.logical_or, so_far.found.wrong, _wrong_in(turn, transition))
        acted = jax.nn.softmax(turn.decisions[PARTNER].logits) * (so_far.step + 1).astype(jnp.float32)
        return _SoFar(after, so_far.step + 1, Found(wrong, transition.ended, so_far.found.style + acted))

    begun = start_episode(key, game, players)
    kinds = jax.eval_shape(lambda: _wrong_in(*look(begun)[1:]))
    nothing = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), kinds)
    first = Found(nothing, jnp.bool_(False), jnp.zeros(game.num_actions[PARTNER]))
    goes_on = lambda so_far: ~so_far.found.ended & (so_far.step < game.max_steps)
    return jax.lax.while_loop(goes_on, go_on, _SoFar(begun, jnp.int32(0), first)).found


def _wrong_in(turn: Turn, transition: Transition) -> Wrong:
    logits = turn.decisions[PARTNER].logits
    in_either = lambda now, later: jax.tree.map(lambda a, b: _is_wrong(a) | _is_wrong(b), now, later)
    observed = lambda seat: in_either(turn.seen[seat].observation, transition.next_seen[seat].observation)
    stuck = lambda legal: jnp.bool_(False) if legal is None else ~jnp.any(legal)
    return Wrong(
        (observed(MAIN), observed(PARTNER)),
        (stuck(turn.seen[MAIN].legal), stuck(turn.seen[PARTNER].legal)),
        jnp.any(jnp.isnan(logits) | jnp.isposinf(logits)),
        jnp.all(jnp.isneginf(logits)),
        _is_wrong(transition.reward),
        _is_wrong(transition.shaping),
    )


def _is_wrong(array: Any) -> Flag:
    """Whether one of its numbers is not finite; of whole numbers and Booleans all are."""
    return ~jnp.all(jnp.isfinite(array)) if jnp.issubdtype(array.dtype, jnp.inexact) else jnp.bool_(False)


def check_found(game: Game, names: list[str], found: Found) -> None:
    """A sentence, as a ValueError, if anything went wrong in any episode; partners are called by these names."""
    for complaint in (*_about_actions(game, names, found.wrong), *_about_numbers(game, found.wrong)):
        raise Unfit(complaint)
    if not found.ended.all():
        raise NeverEnds(game)


def _about_actions(game: Game, names: list[str], wrong: Wrong) -> Iterator[str]:
    for seat in (MAIN, PARTNER):
        if wrong.no_legal_action[seat].any():
            yield f"{type(game).__name__}.legal leaves {WHO_SITS[seat]} no action before the episode is over"
    for who in np.flatnonzero(wrong.logits.any(axis=1)):
        yield f"{names[who]} has logits that are NaN or plus infinity"
    for who in np.flatnonzero(wrong.no_action_taken.any(axis=1)):
        yield f"{names[who]} takes no legal action: the logits of all of them are minus infinity"


def _about_numbers(game: Game, wrong: Wrong) -> Iterator[str]:
    name = type(game).__name__
    for field in ("reward", "shaping"):
        if getattr(wrong, field).any():
            yield f"{name}.step returns an Outcome whose {field} is not finite"
    for seat, observation in enumerate(wrong.observations):
        for place, flags in named_leaves("observation", observation):
            if flags.any():
                yield f"{name}.observe shows {WHO_SITS[seat]} a number that is not finite, in {place}"


def are_alike(found: Found, one: int, other: int) -> bool:
    """Whether two partners did exactly the same in all episodes, but for rounding."""
    return bool(np.allclose(found.style[one], found.style[other], rtol=1e-5, atol=1e-5))
