"""What a population of partners is: whoever can be met, with the truth about them."""

from typing import Any, NamedTuple, Protocol, runtime_checkable

from coadapt.arrays import Array, Float, Int, Key


class Partners(NamedTuple):
    """Some partners, stacked along their first axis.

    The label is the ground truth that only training may see. The id says which member of the population it is.
    """

    players: Any
    labels: Float[Array, "partners label"]
    ids: Int[Array, "partners"]


@runtime_checkable
class Population(Protocol):
    """Whom an agent may meet."""

    def draw(self, key: Key, number: int) -> Partners:
        """Some partners at random."""
        ...
