"""The interfaces of everything that acts or infers.

A `Player` sits in a seat and acts. A `Belief` watches and says what it thinks of the partner. A `Critic` judges, in
training only, and may see the truth. All three keep what they must remember in a *memory*: any tree of arrays, with no
leaves at all for those that need none.

Everything here is written for one game; callers `vmap`.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from coadapt.arrays import Array, Bool, Count, Flag, Float, Int, Key, Scalar, Vector
from coadapt.games.game import Game, legal_actions
from coadapt.games.traced import Unfit, check_method, is_array, shape_of

NO_ACTION = -1
"""Stands for the last action before there was one."""


class Seen(NamedTuple):
    """What a player is shown: its observation, and what everybody knows who has a seat. Encounters make it."""

    observation: Any  # as the game has it
    legal: Bool[Array, "actions"] | None  # which actions it may take; none: all of them, always
    last_action: Count  # its own, or `NO_ACTION` when an episode begins
    last_reward: Scalar  # for it
    first: Flag  # whether an episode begins
    privileged: Any = None  # for scripted partners: what the game lets them look at beside; a main agent has none


def shown_first(observation: Any, legal: Bool[Array, "actions"] | None = None) -> Seen:
    """What is shown of an observation when an episode begins."""
    return Seen(observation, legal, jnp.int32(NO_ACTION), jnp.float32(0), jnp.bool_(True))


def seen_first(game: Game, state: Any, seat: int) -> Seen:
    """What this seat is shown if an episode begins in this state."""
    return shown_first(game.observe(state, seat), legal_actions(game, state, seat))


def among_legal(logits: Float[Array, "*axes actions"], seen: Seen) -> Float[Array, "*axes actions"]:
    """The logits, those of illegal actions at minus infinity: these are never taken, and no gradient reaches them."""
    return logits if seen.legal is None else jnp.where(seen.legal, logits, -jnp.inf)


View = Callable[[Any], Vector]
"""What a network looks at: an observation in, a vector out."""

Permutation = Int[Array, "actions"]
"""By action: which one it is as it is seen."""


class Encoder(eqx.Module):
    """What is seen as a vector, before any head: its *embedding*. One of your own needs nothing but `__call__`."""

    @abstractmethod
    def __call__(self, seen: Seen) -> Vector: ...

    def permutation(self, seen: Seen) -> Permutation | None:
        """Which action each one is as it is seen; none: itself. Whoever turns the board turns the actions with it."""
        del seen

    def prepared(self, samples: int) -> "Encoder":
        """The same function, with all worked out beforehand that pays off for so many observations."""
        del samples
        return self


Network = TypeVar("Network")


def prepared(networks: Network, samples: int) -> Network:
    """The same players, networks or trees of them with every encoder prepared for so many observations.

    Whoever plays or learns does this before going through time: then what does not depend on the observation is worked
    out once.
    """
    is_encoder = lambda node: isinstance(node, Encoder)
    prepare = lambda node: node.prepared(samples) if is_encoder(node) else node
    return jax.tree.map(prepare, networks, is_leaf=is_encoder)


@runtime_checkable
class PairView(Protocol):
    """What a relation network looks at: an observation in, its pairs out, as rows of a table of all there can be.

    The table has so many `rows`; `rest_size` numbers come with the pairs, for after the sum.
    """

    @property
    def rows(self) -> int: ...

    @property
    def rest_size(self) -> int: ...

    def table(self) -> np.ndarray:
        """The features of every pair there can be, a row each."""
        ...

    def __call__(self, observation: Any) -> tuple[Int[Array, "pairs"], Vector]:
        """The rows of an observation's pairs, and the rest."""
        ...

    def permutation(self, observation: Any) -> Permutation:
        """Which action each one is as seen from here."""
        ...


class Decision(NamedTuple):
    """What a player makes of what it sees.

    The logits are the whole distribution, not a sample: encounters sample from it (or take the best), learners
    re-evaluate it, oracles read it.
    """

    logits: Float[Array, "actions"]
    memory: Any
    info: dict[str, Array]  # what a person may want to see, such as the belief; never needed to go on


@runtime_checkable
class Player(Protocol):
    """Whoever takes a seat in a game."""

    def start(self, key: Key) -> Any:
        """The memory before the first observation of an episode."""
        ...

    def decide(self, seen: Seen, memory: Any) -> Decision:
        """The distribution over actions, given what is seen now and what is remembered."""
        ...


def check_is_player(who: str, given: Any) -> None:
    """A sentence unless it has all that a player needs. Nothing of it is called."""
    if isinstance(given, type):
        raise Unfit(f"{who} must be a player, not the class {given.__name__}; write {given.__name__}(...)")
    check_method(given, "start", ("key",))
    check_method(given, "decide", ("seen", "memory"))


def check_decision(who: str, given: Any, actions: int | None = None) -> Decision:
    """What a player has decided, if it fits a seat with so many actions; else a sentence.

    Only kinds and shapes are looked at, while a program is traced.
    """
    if not isinstance(given, Decision):
        raise Unfit(f"{who} must return a coadapt.Decision(logits, memory, info), not {shape_of(given)}")
    logits = given.logits
    fits = is_array(logits) and jnp.ndim(logits) == 1 and jnp.issubdtype(jnp.result_type(logits), jnp.floating)
    if not fits or actions not in (None, len(logits)):
        number = "every action" if actions is None else f"each of the {actions} actions of its seat, float32[{actions}]"
        raise Unfit(f"{who} must return logits that are a number for {number}, not {shape_of(logits)}")
    return given


@runtime_checkable
class Belief(Protocol):
    """Whoever forms an opinion of the partner while watching."""

    def start(self) -> Any:
        """The memory before the first observation of an episode."""
        ...

    def update(self, seen: Seen, memory: Any) -> tuple[Vector, Any]:
        """The belief after seeing this, and the memory to go on with."""
        ...


@runtime_checkable
class Policy(Protocol):
    """A memoryless way to act on what is seen and a belief about the partner."""

    def __call__(self, seen: Seen, belief: Vector) -> Vector:
        """The logits over actions."""
        ...


@runtime_checkable
class Critic(Protocol):
    """Whoever estimates the return to come. Centralised: in training it is told the partner's true label."""

    def start(self) -> Any:
        """The memory before the first observation of an episode."""
        ...

    def value(self, seen: Seen, label: Vector, memory: Any) -> tuple[Scalar, Any]:
        """The expected discounted return from here, and the memory to go on with."""
        ...
