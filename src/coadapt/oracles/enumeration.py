"""All that can happen in a game of few states, as tables. What is exact about such a game is worked out from them.

A game says where episodes start and what can follow a step, each with its probability. All states that can be reached
are searched for once, breadth first and on the host: to a compiled program the tables are constants.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.arrays import Array, Bool, Count, Vector
from coadapt.games.game import MAIN, PARTNER, Game, Outcome, legal_actions
from coadapt.memory import check_memory

MOST_STATES = 100_000
"""More states than this are not listed, if nothing else is said."""

AT_ONCE = 512
"""For so many states at a time it is worked out what can follow."""

SUMS_TO_ONE = 1e-4
"""Probabilities in single precision are taken to sum to one if they are no farther off than this."""


@runtime_checkable
class EnumerableGame(Game, Protocol):
    """A game that can list its chances: where episodes start, and what can follow a step."""

    def starts(self) -> tuple[Any, Vector]:
        """The states that an episode can start from, stacked along the first axis, and their probabilities."""
        ...

    def outcomes(self, state: Any, actions: tuple[Count, Count]) -> tuple[Any, Outcome, Vector]:
        """All that can follow, stacked along the first axis, and its probabilities.

        There are always as many branches. What a branch without probability holds does not count.
        """
        ...


def for_certain(state: Any, outcome: Outcome) -> tuple[Any, Outcome, Vector]:
    """What `outcomes` returns where nothing else can follow than this."""
    state, outcome = jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], (state, outcome))
    return state, outcome, jnp.ones(1)


class Following(NamedTuple):
    """What can follow a state; the axes are the main agent's action, the partner's, and the branch."""

    states: Any
    probability: Any  # none of what takes an illegal action
    reward: Any
    ended: Any  # the episode is over, for whichever reason

    @property
    def goes_on(self) -> Any:
        """Where it can come to, and the episode is not over."""
        return (self.probability > 0) & ~self.ended


class Tables(NamedTuple):
    """All states that can be reached and that episodes go on from, by number, and what can follow each of them."""

    states: Any  # stacked along their first axis
    legal: tuple[np.ndarray, np.ndarray]  # by seat: for each state, which actions are
    following: Following  # the first axis is the state; the states that follow are numbers, where the episode goes on
    starts: np.ndarray  # the number of each start
    start_probabilities: np.ndarray
    layers: np.ndarray  # rows of numbers; states lead to those of earlier rows alone; filled up by how many there are


def enumerate_states(game: EnumerableGame, most: int = MOST_STATES) -> Tables:
    """The tables of a game of at most so many states."""
    check_enumerable(game)
    with jax.ensure_compile_time_eval():  # whatever is being traced, this is no part of it
        return _explored(game, most)


def check_enumerable(game: Any) -> None:
    """A ValueError if a game cannot list its chances."""
    if not isinstance(game, EnumerableGame):
        raise ValueError(
            f"{_name(game)} does not list what can happen: give it the methods starts() and outcomes(state, actions)"
        )


def _explored(game: EnumerableGame, most: int) -> Tables:
    first, start_probabilities = jax.device_get(jax.tree.map(jnp.asarray, game.starts()))
    _check_chances(game, "of its starts", start_probabilities[None])
    _check_alike(game, first, start_probabilities)
    bytes_a_state = _bytes_a_state(game, first)
    known, look_ahead = _Known(), _in_parts(jax.jit(jax.vmap(partial(_look_ahead, game))))
    starts, newest = known.numbers_of(first)
    found, all_legal, all_following = [newest], [], []
    while _how_many(newest):
        _check_ends(game, steps=len(found))
        _check_size(game, len(known.numbers), most, bytes_a_state)
        legal, following = look_ahead(newest)
        _check_possible(game, legal, following)
        numbers, newest = known.numbers_of(_only(following.states, following.goes_on))
        found.append(newest)
        all_legal.append(legal)
        all_following.append(following._replace(states=_back_in_place(numbers, following.goes_on)))
    together = lambda parts: jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)
    following = together(all_following)
    layers = _layers(game, following)
    return Tables(together(found), together(all_legal), following, starts, start_probabilities, layers)


def _look_ahead(game: EnumerableGame, state: Any) -> tuple[tuple[Bool[Array, "_"], Bool[Array, "_"]], Following]:
    """What is legal in a state, and what can follow it."""
    of_main, of_partner = legal = _legal(game, state, MAIN), _legal(game, state, PARTNER)

    def after(main: Count, partner: Count) -> Following:
        states, outcome, probability = game.outcomes(state, (main, partner))
        probability = jnp.where(of_main[main] & of_partner[partner], probability, 0)
        each = lambda value: jnp.broadcast_to(jnp.asarray(value), probability.shape)
        reward = jnp.where(probability > 0, each(outcome.reward), 0).astype(jnp.float32)
        return Following(states, probability, reward, each(outcome.terminated) | each(outcome.truncated))

    mains, partners = (jnp.arange(number, dtype=jnp.int32) for number in game.num_actions)
    return legal, jax.vmap(jax.vmap(after, (None, 0)), (0, None))(mains, partners)


def _legal(game: Game, state: Any, seat: int) -> Bool[Array, "_"]:
    legal = legal_actions(game, state, seat)
    return jnp.ones(game.num_actions[seat], bool) if legal is None else legal


def _in_parts(look_ahead: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same of any number of states: in parts of one size, for which one program will do."""

    def of_many(states: Any) -> Any:
        number = _how_many(states)
        which = [np.arange(n, n + AT_ONCE) % number for n in range(0, number, AT_ONCE)]
        parts = [jax.device_get(look_ahead(jax.tree.map(lambda leaf, of=of: leaf[of], states))) for of in which]
        return jax.tree.map(lambda *leaves: np.concatenate(leaves)[:number], *parts)

    return of_many


class _Known:
    """States have numbers, in the order in which they are found. Two are the same if all their bytes are."""

    def __init__(self) -> None:
        self.numbers: dict[bytes, int] = {}

    def numbers_of(self, states: Any) -> tuple[np.ndarray, Any]:
        """The number of each, and those among them that are new, in the order of their numbers."""
        before = len(self.numbers)
        found = np.array([self.numbers.setdefault(each, len(self.numbers)) for each in _as_bytes(states)], np.int32)
        numbers, first = np.unique(found, return_index=True)
        return found, _only(states, first[numbers >= before])


def _as_bytes(states: Any) -> list[bytes]:
    leaves = map(np.ascontiguousarray, jax.tree.leaves(states))
    rows = [leaf.reshape(len(leaf), math.prod(leaf.shape[1:])).view(np.uint8) for leaf in leaves]
    return [row.tobytes() for row in np.concatenate(rows, axis=1)]


def _only(states: Any, which: np.ndarray) -> Any:
    return jax.tree.map(lambda leaf: leaf[which], states)


def _back_in_place(numbers: np.ndarray, where: np.ndarray) -> np.ndarray:
    table = np.zeros(where.shape, np.int32)
    table[where] = numbers
    return table


def _how_many(states: Any) -> int:
    return len(jax.tree.leaves(states)[0])


def _bytes_a_state(game: EnumerableGame, states: Any) -> int:
    """What it takes to know all that can follow one."""
    ahead = jax.eval_shape(partial(_look_ahead, game), jax.tree.map(lambda leaf: leaf[0], states))
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(ahead))


def _layers(game: EnumerableGame, following: Following) -> np.ndarray:
    """The states by the most steps that can still be taken, from the last one on: no state leads to its own layer."""
    steps = np.zeros(len(following.states), int)
    for _ in range(game.max_steps + 1):
        before, steps = steps, 1 + np.max(steps[following.states], axis=(1, 2, 3), where=following.goes_on, initial=0)
        if (steps == before).all():
            break
    _check_ends(game, int(steps.max()))
    layers = [np.flatnonzero(steps == number) for number in range(1, steps.max() + 1)]
    width = max(map(len, layers))
    return np.stack([np.pad(layer, (0, width - len(layer)), constant_values=len(steps)) for layer in layers])


def _check_alike(game: EnumerableGame, first: Any, start_probabilities: np.ndarray) -> None:
    """States that follow must look like those at the start."""
    look = _look_of_one(first, start_probabilities)
    if look is None or look != _look_of_one(*_shapes_after(game, first)):
        raise ValueError(
            f"the states that starts() and outcomes() of {_name(game)} return must be arrays of the same shapes and"
            " kinds, stacked along a first axis that is as long as the probabilities"
        )


def _look_of_one(states: Any, probabilities: Any) -> Any:
    """The arrays that a state is made of, but for their numbers; none if they are not stacked as they should be."""
    leaves = jax.tree.leaves(states)
    if not leaves or any(leaf.shape[:1] != probabilities.shape for leaf in leaves):
        return None
    return jax.tree.structure(states), [(leaf.shape[1:], leaf.dtype) for leaf in leaves]


def _shapes_after(game: EnumerableGame, states: Any) -> tuple[Any, Any]:
    """Of the states that can follow one of these, and of their probabilities."""
    one, nothing = jax.tree.map(lambda leaf: leaf[0], states), jnp.int32(0)
    after, _, probabilities = jax.eval_shape(game.outcomes, one, (nothing, nothing))
    return after, probabilities


def _check_ends(game: EnumerableGame, steps: int) -> None:
    """There are episodes of so many steps."""
    if steps > game.max_steps:
        raise ValueError(
            f"an episode of {_name(game)} can go on after its {game.max_steps} steps (max_steps); by then all that"
            " follows must be terminated or truncated"
        )


def _check_size(game: EnumerableGame, number: int, most: int, bytes_a_state: int) -> None:
    if number > most:
        raise ValueError(
            f"{_name(game)} has more than {most:,} states, of which {number:,} were found so far; make it smaller,"
            " leave out of its state what cannot matter, or allow for more (most)"
        )
    what = f"the tables of {_name(game)}, of which {number:,} states were found so far"
    check_memory(what, number * bytes_a_state, "make the game smaller")


def _check_possible(game: EnumerableGame, legal: tuple[np.ndarray, np.ndarray], following: Following) -> None:
    """Both seats can act, and whatever they do something follows."""
    if not all(of_seat.any(axis=1).all() for of_seat in legal):
        raise ValueError(f"in a state of {_name(game)} a seat has no legal action: there must always be one")
    both = legal[MAIN][:, :, None] & legal[PARTNER][:, None]
    _check_chances(game, "of what can follow a step", following.probability[both])


def _check_chances(game: EnumerableGame, what: str, probabilities: np.ndarray) -> None:
    """Each row is a distribution."""
    sums = probabilities.sum(axis=-1, dtype=np.float64)
    off = ~(np.abs(sums - 1) <= SUMS_TO_ONE)  # as NaN is, too
    if off.any():
        raise ValueError(
            f"{_name(game)} says that the probabilities {what} sum to {sums[off][0]:g}: list all that can happen, with"
            " probabilities that sum to one"
        )
    if (probabilities < 0).any():
        raise ValueError(f"{_name(game)} says that a probability {what} is {probabilities.min():g}, less than nothing")


def _name(game: Any) -> str:
    return type(game).__name__
