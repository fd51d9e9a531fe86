"""The exact truths of any game that can list its chances and has few states: an oracle for free.

Beside the best response, which knows whom it plays with, stand players that have to find out and do so exactly: one
does what is best with the likeliest partner, one with the likeliest type. A third is told the type and does what is
best with a partner that is, at every step, another one of its type.
"""

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.agents.tabular import CannotTell, RespondsByTable, StatePosterior, what_is_shown
from coadapt.arrays import Array, Float, Int, Key, Scalar
from coadapt.evaluation.starts import Played, with_each
from coadapt.games.game import MAIN
from coadapt.oracles.enumeration import MOST_STATES, EnumerableGame, Tables, check_enumerable, enumerate_states
from coadapt.oracles.tabular import (
    BestResponse,
    Outlook,
    behaviour_of,
    best_response,
    joint_optimum,
    on_average,
    outlook_of,
)
from coadapt.partners.population import Partners
from coadapt.pipeline.oracle import Optima


@dataclass(frozen=True)
class TabularOracle:
    """The exact truths of one game, all of whose starts are on one layout.

    Partners must be memoryless. What is best is what an agent could do that sees the state. If the main agent cannot
    tell the state from all it has seen and done, there is no posterior, nor anybody who acts on it.
    """

    game: EnumerableGame
    most_states: int = MOST_STATES  # a larger game is refused

    def __post_init__(self) -> None:
        check_enumerable(self.game)
        try:
            hash(self.game)
        except TypeError:
            raise ValueError(
                f"{type(self.game).__name__} cannot be told from other games by its value: make it a frozen dataclass"
                " whose fields are numbers, texts and tuples, and no arrays"
            ) from None

    def posterior(self, partners: Partners) -> StatePosterior | None:
        return None if self._shown is None else self._posterior(self._behaviours(partners), partners.labels)

    def starts(self, key: Key, number: int) -> Any:
        tables = self._tables
        probabilities = jnp.asarray(tables.start_probabilities)
        drawn = jax.random.choice(key, jnp.asarray(tables.starts), (number,), p=probabilities)
        return jax.tree.map(lambda leaf: jnp.asarray(leaf)[drawn], tables.states)

    def optima(self, key: Key, partners: Partners, starts: Any) -> Optima:
        at, labels, behaviours = self._numbers_of(starts), partners.labels, self._behaviours(partners)
        respond = partial(jax.lax.map, partial(best_response, self._tables))
        to_each, to_type = respond(behaviours), respond(on_average(behaviours, labels))
        inferring = {
            "best_response_to_likeliest": (jnp.eye(len(labels)), to_each),
            "best_response_to_likeliest_type": (labels, to_type),
        }

        def play(labels: Float[Array, "partners label"], response: BestResponse) -> Played:
            player = RespondsByTable(self._posterior(behaviours, labels), response.actions)
            return with_each(key, self.game, starts, at.shape, partners, lambda _: player, labels, greedy=True)

        informed = {} if self._shown is None else {name: play(*of) for name, of in inferring.items()}
        told = jax.lax.map(self._with_each, (to_type.actions[jnp.argmax(labels, axis=1)], behaviours))
        return Optima(_played(to_each.outlook, at), informed | {"best_response_to_type": _played(told, at)})

    def joint_optimum(self, key: Key) -> dict[str, Scalar]:
        del key  # there is one layout
        tables = self._tables
        probabilities = jnp.asarray(tables.start_probabilities)
        mean = lambda table: jnp.average(table[tables.starts], weights=probabilities)
        return {f"joint_optimum_{name}": mean(of) for name, of in joint_optimum(tables).outlook._asdict().items()}

    @property
    def _tables(self) -> Tables:
        return tables_of(self.game, self.most_states)

    @property
    def _shown(self) -> np.ndarray | None:
        return shown_of(self.game, self.most_states)

    def _behaviours(self, partners: Partners) -> Float[Array, "partners states actions"]:
        states = self._tables.states
        return jax.lax.map(lambda partner: behaviour_of(partner, self.game, states), partners.players)

    def _posterior(
        self, behaviours: Float[Array, "partners states actions"], labels: Float[Array, "partners label"]
    ) -> StatePosterior:
        shown, alike = jnp.asarray(self._shown, jnp.float32), jnp.full(len(labels), 1 / len(labels))
        return StatePosterior(self._tables, shown, behaviours, labels, alike)

    def _with_each(self, pair: tuple[Int[Array, "states"], Float[Array, "states actions"]]) -> Outlook:
        """What somebody comes to who does what a table says, with one partner."""
        actions, partner = pair
        return outlook_of(self._tables, jax.nn.one_hot(actions, self.game.num_actions[MAIN]), partner)

    def _numbers_of(self, starts: Any) -> Int[Array, "starts"]:
        """Which states they are."""
        tables = self._tables
        known = jax.tree.map(lambda leaf: jnp.asarray(leaf[tables.starts]), tables.states)
        alike = lambda leaf, of: jnp.all(leaf == of[None], axis=tuple(range(1, leaf.ndim)))
        which = lambda start: jnp.argmax(jnp.stack(jax.tree.leaves(jax.tree.map(alike, known, start))).all(axis=0))
        return jnp.asarray(tables.starts)[jax.vmap(which)(starts)]


@lru_cache(maxsize=8, typed=True)  # two games of different classes may be equal
def tables_of(game: EnumerableGame, most_states: int) -> Tables:
    """The tables of a game, which are worked out once."""
    return enumerate_states(game, most_states)


@lru_cache(maxsize=8, typed=True)
def shown_of(game: EnumerableGame, most_states: int) -> np.ndarray | None:
    """What the main agent sees in each of its states, if that tells them."""
    try:
        return what_is_shown(game, tables_of(game, most_states))
    except CannotTell:
        return None


def _played(outlook: Outlook, at: Int[Array, "starts"]) -> Played:
    """What is to come with each partner, from each start."""
    return Played(outlook.total[:, at], outlook.length[:, at])
