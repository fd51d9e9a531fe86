"""A tiny game and its partners, for tests of what is said when one of them is not as it should be."""

import sys
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp

import coadapt as ca


class Lake:
    """A walk around a lake: being side by side pays."""

    num_actions, max_steps = (3, 3), 4

    def reset(self, key):
        return {"taken": jnp.int32(0), "places": jax.random.randint(key, (2,), 0, 5)}

    def step(self, state, actions, key):
        after = {"taken": state["taken"] + 1, "places": (state["places"] + jnp.stack(actions) - 1) % 5}
        reward = after["places"][0] == after["places"][1]
        return after, ca.Outcome(reward, terminated=jnp.bool_(False), truncated=after["taken"] == self.max_steps)

    def observe(self, state, seat):
        agent, friend = state["places"]
        return {"gap": jax.nn.one_hot((friend - agent) % 5, 5), "friend": jax.nn.one_hot(friend, 5)}


@dataclass(frozen=True)
class Walks:
    """Goes one way around the lake, mostly."""

    way: int
    slips: float = 0.1

    def start(self, key):
        return ()

    def decide(self, seen, memory):
        wanted = jax.nn.one_hot(self.way, 3)
        return ca.Decision(jnp.log((1 - self.slips) * wanted + self.slips / 3), memory, {})


TYPES = ("goes on", "goes back")


def friends(*slips: float) -> dict[str, list[Walks]]:
    return {name: [Walks(way, each) for each in slips] for name, way in zip(TYPES, (2, 0), strict=True)}


def study(game=None, partners=None, **settings) -> ca.Study:
    """Of this game and with these partners, held against others."""
    task = ca.Task("lake", game or Lake(), TYPES)
    return ca.Study(task, partners or ca.Scripted(friends(0.1)), ca.Scripted(friends(0.2)), seeds=(0,), **settings)


def study_file(monkeypatch, folder: Path, name: str, text: str) -> Path:
    """A file with a study, in the folder where commands are given from now on. Its name must be its own."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    file = folder / f"{name}.py"
    file.write_text(text)
    return file
