from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.encounters import rollouts_with_each
from coadapt.games.game import PARTNER
from coadapt.games.matrix import MatrixGame
from coadapt.partners.dirichlet import Stationary
from coadapt.partners.mixed import Cast, OneOf, fixed_population_of
from coadapt.partners.population import label_by_game
from coadapt.players import Decision, seen_first, shown_first

CERTAINLY = 100.0
GAME = MatrixGame(jnp.eye(2), max_steps=3)


class Alternating:
    """Takes turns between two actions, beginning with the first; no tree of arrays, and with a memory."""

    def start(self, key):
        return jnp.int32(0)

    def decide(self, seen, memory):
        return Decision(CERTAINLY * jax.nn.one_hot(memory % 2, 2), memory + 1, {"turn": memory})


@dataclass
class Always:
    """Never changes its mind; cannot be hashed, and has neither arrays nor a memory."""

    action: int

    def start(self, key):
        return ()

    def decide(self, seen, memory):
        return Decision(jnp.log(jax.nn.one_hot(self.action, 2)), memory, {})


class Copying(NamedTuple):
    """Does as the other did in the step before, and anything in the first."""

    def start(self, key):
        return ()

    def decide(self, seen, memory):
        return Decision(CERTAINLY * seen.observation.other_action, memory, {})


class Moody(NamedTuple):
    """Draws at the start what it likes for the whole episode."""

    def start(self, key):
        return jax.random.uniform(key, (2,))

    def decide(self, seen, memory):
        return Decision(memory, memory, {})


POPULATION = fixed_population_of({"steady": [Always(0), Always(1)], "lively": [Alternating()], "pliant": [Copying()]})


def actions_against(population, main, steps):
    """What each partner does in one game with a main agent that always takes one action."""
    partners = population.draw(jax.random.key(0), len(population.partners.ids))
    keys = jax.random.split(jax.random.key(1), (len(partners.ids), 1))
    someone = Stationary(CERTAINLY * jax.nn.one_hot(main, 2))
    transitions = rollouts_with_each(keys, GAME, partners.players, lambda _: someone, partners.ids, steps)
    return transitions.actions[PARTNER].tolist()


def test_labels_are_types_in_the_order_they_were_listed():
    assert POPULATION.partners.labels.tolist() == [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert POPULATION.partners.ids.tolist() == [0, 1, 2, 3]
    by_game = label_by_game(8, POPULATION.draw(jax.random.key(0), 8))
    assert jnp.argmax(by_game, axis=1).tolist() == [0, 0, 0, 0, 1, 1, 2, 2]


def test_everybody_plays_as_it_would_alone_and_forgets_when_an_episode_ends():
    """Episodes last three steps. Whoever copies the other has seen nothing of it in the first of them."""
    zeros, ones, turns, copies = actions_against(POPULATION, main=1, steps=6)
    assert zeros == [0] * 6
    assert ones == [1] * 6
    assert turns == [0, 1, 0, 0, 1, 0]
    assert copies[1:3] == copies[4:6] == [1, 1]


def test_the_chosen_one_decides_and_all_remember(key):
    seen = seen_first(GAME, GAME.reset(key), PARTNER)
    cast = Cast((Alternating(), Always(1)))
    turns, always = (OneOf(cast, jnp.int32(chosen)) for chosen in (0, 1))
    first = always.decide(seen, always.start(key))
    assert first.logits.tolist() == [-np.inf, 0]
    assert first.memory == (1, ())
    assert turns.decide(seen, first.memory).logits.tolist() == [0, CERTAINLY]
    assert first.info == {}


def test_every_member_starts_with_luck_of_its_own(key):
    one, other = OneOf(Cast((Moody(), Moody())), jnp.int32(0)).start(key)
    assert (one != other).all()


def test_a_population_passes_through_compiled_functions(key):
    decide = lambda partner: partner.decide(seen_first(GAME, GAME.reset(key), PARTNER), partner.start(key)).logits
    logits = jax.jit(jax.vmap(decide))(POPULATION.partners.players)
    np.testing.assert_array_equal(jnp.argmax(logits, axis=1), [0, 1, 0, 0])
    assert not jnp.isnan(logits).any()


def test_players_made_of_arrays_can_be_traced():
    def probability_of_the_second(logits):
        player = jax.tree.map(
            lambda rows: rows[1], fixed_population_of({"a": [Always(0)], "b": [Stationary(logits)]}).partners
        )
        return jax.nn.softmax(player.players.decide(shown_first(None), player.players.start(jax.random.key(0))).logits)[
            1
        ]

    slope = jax.jit(jax.grad(probability_of_the_second))(jnp.zeros(2))
    np.testing.assert_allclose(slope, [-0.25, 0.25])


@pytest.mark.parametrize(
    ("types", "sentence"),
    [
        ({}, "a population needs at least one type of partner"),
        ({"steady": [Always(0)], "shy": []}, "nobody is of type 'shy': list at least one player"),
    ],
)
def test_a_population_without_anybody_is_refused(types, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        fixed_population_of(types)


def test_players_of_different_games_are_refused():
    population = fixed_population_of({"two": [Always(0)], "three": [Stationary(jnp.zeros(3))]})
    with pytest.raises(ValueError, match=r"the same number of actions, not 2 \(Always\), 3 \(Stationary\)"):
        actions_against(population, main=0, steps=1)
