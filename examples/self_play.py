"""Partners by self-play, in a game that networks see as a grid of channels.

Two agents pick the berries on a small meadow. Clones that learn with copies of themselves leave partners behind: one
that knows nothing, one half-way, one that knows it all. The agent has to find out whom it picks berries with.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp

import coadapt as ca

MOVES = jnp.array([[-1, 0], [1, 0], [0, -1], [0, 1]])


class Meadow(NamedTuple):
    step: jax.Array
    places: jax.Array  # of both agents: row and column
    berries: jax.Array  # by cell: whether there is one


@dataclass(frozen=True)
class Picking:
    """Every berry pays 1, every step costs 0.1; the meadow is left when it is empty, or when it gets dark."""

    size: int = 4
    berries: int = 3
    max_steps: int = 12
    num_actions = (4, 4)

    def reset(self, key):
        cells = jax.random.permutation(key, self.size**2)
        agents, berries = cells[:2], cells[2 : 2 + self.berries]
        there = jnp.zeros((self.size, self.size), bool).at[berries // self.size, berries % self.size].set(True)
        return Meadow(jnp.int32(0), jnp.stack([agents // self.size, agents % self.size], axis=1), there)

    def step(self, state, actions, key):
        places = jnp.clip(state.places + MOVES[jnp.stack(actions)], 0, self.size - 1)
        left = state.berries.at[places[:, 0], places[:, 1]].set(False)
        picked = jnp.sum(state.berries) - jnp.sum(left)
        after, empty = Meadow(state.step + 1, places, left), ~jnp.any(left)
        dark = after.step >= self.max_steps
        return after, ca.Outcome(picked - 0.1, terminated=empty, truncated=dark & ~empty)

    def observe(self, state, seat):
        here = jax.vmap(lambda place: jnp.zeros((self.size, self.size)).at[place[0], place[1]].set(1.0))(state.places)
        return jnp.stack([here[seat], here[1 - seat], state.berries.astype(jnp.float32)])  # channels, rows, columns


SHORT = ca.PPOConfig(iterations=80, num_envs=192, num_steps=12, minibatches=4, learning_rate=2e-3)
study = ca.Study(
    task=ca.Task("picking berries", Picking(), types=("novice", "half-way", "skilled")),
    partners=ca.SelfPlay(seeds=(0, 1)),  # two clones leave a partner of every type each
    held_out=ca.SelfPlay(seeds=(100, 101)),  # two others, which nobody trains with
    methods=("behaviour_conditioned", "label_blind", "lstm"),
    clones=SHORT,
    policy=SHORT,
    lstm_clones=SHORT,
    lstm=SHORT,
    seeds=(0, 1),
)

if __name__ == "__main__":
    ca.run(study, "runs/picking_berries")
    agent = ca.load("runs/picking_berries/behaviour-conditioned/0", task=study.task)
    print(f"The agent of seed 0 can tell {', '.join(agent.types)} and takes {agent.num_actions} actions.")
