"""Tiny games with known answers: whoever cannot learn these has not understood value, discount or action."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from coadapt.games.game import MAIN, Outcome
from coadapt.networks.mlp import MLP
from coadapt.networks.recurrent import RecurrentNetwork
from coadapt.partners.dirichlet import Stationary
from coadapt.partners.population import Partners
from coadapt.players import Decision


class ProbeState(NamedTuple):
    step: Any
    cue: Any


class Probe:
    """One seat that matters, a cue of -1 or +1 drawn at the start, two actions: 0 means -1 and 1 means +1."""

    num_actions = (2, 1)
    max_steps = 1

    def reset(self, key):
        return ProbeState(jnp.int32(0), jnp.where(jax.random.bernoulli(key), 1.0, -1.0))

    def observe(self, state, seat):
        return jnp.stack([state.cue, state.step.astype(jnp.float32)])

    def step(self, state, actions, key):
        after = ProbeState(state.step + 1, state.cue)
        ended = after.step >= self.max_steps
        return after, Outcome(self.reward(state, 2 * actions[0].astype(jnp.float32) - 1), ended, jnp.bool_(False))

    def reward(self, state, action):
        raise NotImplementedError


class AlwaysOne(Probe):
    def reward(self, state, action):
        return jnp.float32(1)


class TheCue(Probe):
    def reward(self, state, action):
        return state.cue


class OneAtTheEnd(Probe):
    max_steps = 2

    def reward(self, state, action):
        return state.step.astype(jnp.float32)


class OneForEver(AlwaysOne):
    """Cut off after every step though it could go on."""

    def observe(self, state, seat):
        return jnp.ones(2)

    def step(self, state, actions, key):
        after, outcome = super().step(state, actions, key)
        return after, outcome._replace(terminated=jnp.bool_(False), truncated=jnp.bool_(True))


class TheAction(Probe):
    def reward(self, state, action):
        return action


class ActionLikeCue(Probe):
    def reward(self, state, action):
        return action * state.cue


class OneIsBarred(Probe):
    """Three actions that pay 2, 1 and 0, of which the first is illegal with a cue of -1."""

    num_actions = (3, 1)

    def step(self, state, actions, key):
        return ProbeState(state.step + 1, state.cue), Outcome(
            2 - actions[0].astype(jnp.float32), terminated=jnp.bool_(True), truncated=jnp.bool_(False)
        )

    def legal(self, state, seat):
        return jnp.stack([state.cue > 0, True, True]) if seat == MAIN else jnp.ones(1, bool)


class Lottery(Probe):
    """Pays 1 by chance, in one of four cases with the first action and in three with the second."""

    def step(self, state, actions, key):
        after, outcome = super().step(state, actions, key)
        wins = jax.random.bernoulli(key, jnp.where(actions[0] == 1, 0.75, 0.25))
        return after, outcome._replace(reward=wins.astype(jnp.float32))

    def reward(self, state, action):
        return jnp.float32(0)


class TwoArms(Probe):
    """The same of two arms pays 1 in each of three steps, and nobody sees which it is."""

    max_steps = 3

    def observe(self, state, seat):
        return jnp.zeros(2)

    def reward(self, state, action):
        return (action * state.cue > 0).astype(jnp.float32)


class RememberTheCue(Probe):
    """The cue is shown at the first step only, and only the second step pays for acting like it."""

    max_steps = 2

    def observe(self, state, seat):
        return jnp.stack([jnp.where(state.step == 0, state.cue, 0.0), state.step.astype(jnp.float32)])

    def reward(self, state, action):
        return jnp.where(state.step == 1, action * state.cue, 0.0)


class Nobody:
    """A population of partners that have one action and no label."""

    def draw(self, key, games):
        return Partners(Stationary(jnp.zeros((games, 1))), jnp.zeros((games, 0)), jnp.arange(games))


class Reactive(eqx.Module):
    """A memoryless player."""

    network: MLP

    def start(self, key):
        return ()

    def decide(self, seen, memory):
        return Decision(self.network(seen.observation), memory, {})


class Remembering(eqx.Module):
    """A player with a memory."""

    network: RecurrentNetwork

    def start(self, key):
        return self.network.start()

    def decide(self, seen, memory):
        logits, memory = self.network(seen.observation, memory)
        return Decision(logits, memory, {})


class Judge(eqx.Module):
    """A memoryless critic."""

    network: MLP

    def start(self):
        return ()

    def value(self, seen, label, memory):
        return self.network(seen.observation)[0], memory


class RememberingJudge(eqx.Module):
    """A critic with a memory."""

    network: RecurrentNetwork

    def start(self):
        return self.network.start()

    def value(self, seen, label, memory):
        value, memory = self.network(seen.observation, memory)
        return value[0], memory
