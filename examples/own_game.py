"""A game and partners of your own: a walk around a lake with a friend who goes one way or the other.

There are five places, and being side by side pays 1 a step. Nobody tells which way the friend goes: the agent must see.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

import coadapt as ca


class Lake:
    num_actions, max_steps = (3, 3), 8  # both the agent and the friend can go back, stay or go on

    def reset(self, key):
        return jnp.int32(0), jax.random.randint(key, (2,), 0, 5)  # steps taken; where the agent and the friend are

    def step(self, state, actions, key):
        taken, places = state[0] + 1, (state[1] + jnp.stack(actions) - 1) % 5
        reward = jnp.float32(places[0] == places[1])
        return (taken, places), ca.Outcome(reward, terminated=jnp.bool_(False), truncated=taken == self.max_steps)

    def starts(self):  # with the next, all that can happen: then what is best is worked out exactly
        return (jnp.zeros(25, jnp.int32), jnp.indices((5, 5)).reshape(2, 25).T), jnp.full(25, 1 / 25)

    def outcomes(self, state, actions):
        return ca.for_certain(*self.step(state, actions, None))

    def observe(self, state, seat):
        agent, friend = state[1]
        return {"gap": jax.nn.one_hot((friend - agent) % 5, 5), "friend": jax.nn.one_hot(friend, 5)}


class Walks(NamedTuple):
    way: int
    slips: float  # how often it takes any action

    def start(self, key):
        return ()  # nothing to remember

    def decide(self, seen, memory):
        return ca.Decision(jnp.log((1 - self.slips) * jax.nn.one_hot(self.way, 3) + self.slips / 3), memory, {})


def friends(*slips):
    return ca.Scripted({"goes on": [Walks(2, s) for s in slips], "goes back": [Walks(0, s) for s in slips]})


study = ca.Study(
    task=ca.Task("lake", Lake(), types=("goes on", "goes back")),
    partners=friends(0.05, 0.15),
    held_out=friends(0.0),  # whom nobody trains with, and all are tried with
    methods=("behaviour_conditioned", "label_blind", "lstm", "rl2"),
    seeds=range(2),
)

if __name__ == "__main__":
    ca.run(study, "runs/lake")
