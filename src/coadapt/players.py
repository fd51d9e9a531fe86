"""The interfaces of everything that acts or infers.

A `Player` sits in a seat and acts. A `Belief` watches and says what it thinks of the partner. A `Critic` judges, in
training only, and may see the truth. All three keep what they must remember in a *memory*: any tree of arrays, with no
leaves at all for those that need none.

Everything here is written for one game; callers `vmap`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

from coadapt.arrays import Array, Float, Key, Scalar, Vector

View = Callable[[Any], Vector]
"""What a network looks at: an observation in, a vector out."""


class Decision(NamedTuple):
    """What a player makes of one observation.

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

    def decide(self, observation: Any, memory: Any) -> Decision:
        """The distribution over actions, given what is seen now and what is remembered."""
        ...


@runtime_checkable
class Belief(Protocol):
    """Whoever forms an opinion of the partner while watching."""

    def start(self) -> Any:
        """The memory before the first observation of an episode."""
        ...

    def update(self, observation: Any, memory: Any) -> tuple[Vector, Any]:
        """The belief after this observation, and the memory to go on with."""
        ...


@runtime_checkable
class Policy(Protocol):
    """A memoryless way to act on an observation and a belief about the partner."""

    def __call__(self, observation: Any, belief: Vector) -> Vector:
        """The logits over actions."""
        ...


@runtime_checkable
class Critic(Protocol):
    """Whoever estimates the return to come. Centralised: in training it is told the partner's true label."""

    def start(self) -> Any:
        """The memory before the first observation of an episode."""
        ...

    def value(self, observation: Any, label: Vector, memory: Any) -> tuple[Scalar, Any]:
        """The expected discounted return from here, and the memory to go on with."""
        ...
