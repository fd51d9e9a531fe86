"""What a population of partners is: whoever can be met, with the truth about them."""

from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax.numpy as jnp

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

    def draw(self, key: Key, games: int) -> Partners:
        """Whom so many games are played with: as many partners, or fewer that take part in the same number each."""
        ...


class FixedPopulation(NamedTuple):
    """A few partners that are all met all the time, each in its share of the games.

    Partners with networks of their own are best met like this: the games with one of them share its weights.
    """

    partners: Partners

    def draw(self, key: Key, games: int) -> Partners:
        del key
        if games % len(self.partners.ids):
            raise ValueError(
                f"{games} games cannot be shared out among {len(self.partners.ids)} partners; choose a multiple"
            )
        return self.partners


def label_by_game(games: int, partners: Partners) -> Float[Array, "games label"]:
    """The partner's label in each game, those of one partner together."""
    return jnp.repeat(partners.labels, games // len(partners.ids), axis=0)
