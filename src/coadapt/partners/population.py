"""What a population of partners is: whoever can be met, with the truth about them."""

from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Float, Int, Key
from coadapt.games.traced import Unfit, is_array, shape_of


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


def check_partners(given: Any) -> Partners:
    """The same partners, if they are that, each with a label; else a sentence."""
    if isinstance(given, Population):
        raise Unfit(
            f"partners are asked for, not a population ({type(given).__name__}); give its .partners, or draw some"
        )
    if not isinstance(given, Partners):
        raise Unfit(f"partners must be coadapt.Partners(players, labels, ids), not {shape_of(given)}")
    players, labels, ids = given
    if not (is_array(ids) and jnp.ndim(ids) == 1 and len(ids)):
        raise Unfit(f"the ids of partners must be a number for each of them, int32[partners], not {shape_of(ids)}")
    if not (is_array(labels) and jnp.ndim(labels) == 2 and len(labels) == len(ids)):
        raise Unfit(
            f"the labels of {len(ids)} partners must be a row for each of them, float32[{len(ids)},label], not"
            f" {shape_of(labels)}"
        )
    for leaf in jax.tree.leaves(players):
        if not is_array(leaf) or jnp.ndim(leaf) == 0 or len(leaf) != len(ids):
            raise Unfit(
                f"the players of {len(ids)} partners must be stacked along the first axis, and one of their fields is"
                f" {shape_of(leaf)}; players of several classes: coadapt.fixed_population_of"
            )
    return given


def check_population(given: Any) -> Population:
    """The same population, if it is one; else a sentence."""
    if isinstance(given, Partners):
        raise Unfit("a population is asked for, not Partners; write coadapt.FixedPopulation(partners)")
    if isinstance(given, type) or not isinstance(given, Population):
        raise Unfit(f"a population must have a method draw(self, key, games), as {shape_of(given)} has not")
    return given


def label_by_game(games: int, partners: Partners) -> Float[Array, "games label"]:
    """The partner's label in each game, those of one partner together."""
    return jnp.repeat(partners.labels, games // len(partners.ids), axis=0)
