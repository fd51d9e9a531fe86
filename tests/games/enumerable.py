"""Small games that can list their chances, with optima that can be counted by hand."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from coadapt.games.game import MAIN, Outcome
from coadapt.games.salesman.layouts import Layout, start_on, states_of
from coadapt.games.salesman.rules import Salesman, number_of
from coadapt.oracles.enumeration import for_certain


def one_of(key, outcomes):
    """What happens by chance of all that can."""
    states, outcome, probabilities = outcomes
    drawn = jax.random.choice(key, len(probabilities), p=probabilities)
    return states[drawn], Outcome(*(each[drawn] for each in outcome[:3]))


@dataclass(frozen=True)
class Lake:
    """A walk around a lake: being side by side pays 1 a step. Nobody is shown the time."""

    places: int = 5
    max_steps: int = 8
    num_actions = (3, 3)  # back, stay, on

    def starts(self):
        main, partner = (place.ravel() for place in jnp.indices((self.places, self.places)))
        number = self.places**2
        return (jnp.zeros(number, int), jnp.stack([main, partner], axis=1)), jnp.full(number, 1 / number)

    def reset(self, key):
        return jnp.int32(0), jax.random.randint(key, (2,), 0, self.places)

    def step(self, state, actions, key=None):
        del key
        taken, places = state[0] + 1, (state[1] + jnp.stack(actions) - 1) % self.places
        reward = (places[0] == places[1]).astype(jnp.float32)
        return (taken, places), Outcome(reward, terminated=jnp.bool_(False), truncated=taken == self.max_steps)

    def outcomes(self, state, actions):
        return for_certain(*self.step(state, actions))

    def observe(self, state, seat):
        own, other = state[1] if seat == MAIN else state[1][::-1]
        return {"own": jax.nn.one_hot(own, self.places), "gap": (other - own) % self.places}


WAIT, PUSH = 0, 1


@dataclass(frozen=True)
class Door:
    """Who pushes alone opens a door with probability 1/4, and two who do with 1/2. That pays 1, and all is over."""

    max_steps: int = 2
    num_actions = (2, 2)
    certainty: float = 1.0  # what the probabilities sum to

    def starts(self):
        return jnp.zeros(1, int), jnp.ones(1)

    def reset(self, key):
        del key
        return jnp.int32(0)

    def step(self, state, actions, key):
        return one_of(key, self.outcomes(state, actions))

    def outcomes(self, state, actions):
        main, partner = (action.astype(jnp.float32) for action in actions)
        opens, states = (main + partner) / 4, jnp.stack([state + 1] * 2)
        is_open = jnp.array([True, False])
        outcome = Outcome(
            is_open.astype(jnp.float32), terminated=is_open, truncated=~is_open & (states == self.max_steps)
        )
        return states, outcome, jnp.stack([opens, self.certainty - opens])

    def observe(self, state, seat):
        del seat
        return state


PAYOFF = ((-9.0, -8.0, -7.0), (-6.0, -5.0, -9.0), (-1.0, -1.0, -1.0))


@dataclass(frozen=True)
class Forbidden:
    """Two rounds of a table of costs. The main agent's last action is legal in the second alone; the partner's first
    action never is, and nobody knows what would come of what is illegal.
    """

    max_steps: int = 2
    num_actions = (3, 3)

    def starts(self):
        return jnp.zeros(1, int), jnp.ones(1)

    def reset(self, key):
        del key
        return jnp.int32(0)

    def legal(self, state, seat):
        return (jnp.arange(3) < 2) | (state == 1) if seat == MAIN else jnp.arange(3) > 0

    def step(self, state, actions, key=None):
        del key
        legal = self.legal(state, 0)[actions[0]] & self.legal(state, 1)[actions[1]]
        reward = jnp.where(legal, jnp.array(PAYOFF)[actions], jnp.nan)
        after = jnp.where(legal, state + 1, 99)
        return after, Outcome(reward, terminated=after == self.max_steps, truncated=jnp.bool_(False))

    def outcomes(self, state, actions):
        return for_certain(*self.step(state, actions))

    def observe(self, state, seat):
        del seat
        return state


@dataclass(frozen=True)
class OnLayout:
    """The salesman's gridworld on one layout."""

    game: Salesman
    subgoals: tuple[tuple[int, int], ...]
    goal: tuple[int, int]

    @property
    def num_actions(self):
        return self.game.num_actions

    @property
    def max_steps(self):
        return self.game.max_steps

    @property
    def layout(self):
        return Layout(jnp.array(self.subgoals), jnp.array(self.goal))

    def starts(self):
        states, size = states_of(self.game, self.layout), self.game.size
        agents, taken = (number_of(cells, size) for cells in (states.agents, jnp.array([*self.subgoals, self.goal])))
        free = ~jnp.any(agents[:, :, None] == taken[None, None], axis=(1, 2)) & (agents[:, 0] != agents[:, 1])
        start = free & ~jnp.any(states.collected, axis=1)
        number = int(start.sum())
        return jax.tree.map(lambda leaf: leaf[start], states), jnp.full(number, 1 / number)

    def reset(self, key):
        return start_on(key, self.game, self.layout)

    def step(self, state, actions, key=None):
        return self.game.step(state, actions, key)

    def outcomes(self, state, actions):
        return for_certain(*self.step(state, actions))

    def observe(self, state, seat):
        return self.game.observe(state, seat)
