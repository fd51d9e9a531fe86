"""Our side of the benchmark, in a process of its own as every contender: `worker` lets it answer.

A request says what to measure and how much of it. The same training goes on from request to request; it is compiled
when it is first asked for.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp

from coadapt.agents.encoders import RelationSpec
from coadapt.configs.data import plain, read_config
from coadapt.experiments.salesman.task import SalesmanTask
from coadapt.games.game import MAIN, PARTNER
from coadapt.games.salesman.rules import Salesman
from coadapt.learning.optimiser import TrainState
from coadapt.learning.ppo import PPOConfig
from coadapt.pipeline.methods.lstm import finding_out
from coadapt.pipeline.self_play import by_length, clones, self_play
from coadapt.pipeline.stages import Learner
from coadapt.pipeline.task import new_recurrent_policy

PACKAGES = ("coadapt", "jax", "jaxlib", "equinox", "optax", "numpy")

Request = dict[str, Any]


@dataclass(frozen=True)
class ArrangedTask(SalesmanTask):
    """A task in which the arrangement of relation networks can be said; without it, it is chosen by size as usual."""

    tabulated: bool | None = None

    def encoder(self, role: str) -> RelationSpec:
        return replace(super().encoder(role), tabulated=self.tabulated)


def arranged(task: SalesmanTask, tabulated: bool) -> ArrangedTask:
    """The same task with its relation networks tabulated, or pair by pair."""
    return ArrangedTask(**{each.name: getattr(task, each.name) for each in fields(SalesmanTask)}, tabulated=tabulated)


def training_request(learner: str, task: SalesmanTask, training: PPOConfig, iterations: int, seeds: int = 1) -> Request:
    """To train for so many iterations, with so many seeds in one program."""
    return {
        "what": "training",
        "learner": learner,
        "task": plain(task),
        "training": plain(training),
        "iterations": iterations,
        "seeds": seeds,
    }


def stepping_request(game: Salesman, num_envs: int, num_steps: int) -> Request:
    """To play at random: so many steps of so many games."""
    return {"what": "stepping", "game": plain(game), "num_envs": num_envs, "num_steps": num_steps}


def _clones(task: SalesmanTask, training: PPOConfig) -> Learner:
    """Which of its older versions a clone keeps does not matter here, but that it has to decide it does."""
    longest = task.game.max_steps
    return clones(task, training, by_length([(0.6 * longest, longest)]))


LEARNERS: dict[str, Callable[[SalesmanTask, PPOConfig], Learner]] = {
    "self-play": _clones,
    "lstm": lambda task, training: self_play(training, task, new_recurrent_policy, finding_out),
}


class Training:
    """A training on its way: each call is some iterations more."""

    def __init__(self, request: Request):
        task, training = read_config(ArrangedTask, request["task"]), read_config(PPOConfig, request["training"])
        learner = LEARNERS[request["learner"]](task, training)
        iterations, seeds = request["iterations"], request["seeds"]
        start = lambda key: learner.start(key, ())
        chunk = lambda state: learner.chunk(state, (), iterations)[0]
        # One seed alone is spared the axis, as it is in an experiment. Several learn one after the other: side by side
        # each would gather from a table of its own, which costs more than it saves.
        self.state = jax.jit(jax.vmap(start))(_keys(seeds)) if seeds > 1 else jax.jit(start)(jax.random.key(0))
        self.chunk = jax.jit((lambda states: jax.lax.map(chunk, states)) if seeds > 1 else chunk)
        self.amount = iterations * seeds * training.steps_per_iteration
        self.about = {"parameters": parameters_learnt(self.state) // seeds}

    def __call__(self) -> int:
        self.state = jax.block_until_ready(self.chunk(self.state))
        return self.amount


def parameters_learnt(state: Any) -> int:
    """How many numbers there are in all networks that are being trained."""
    is_state = lambda part: isinstance(part, TrainState)
    states = [part for part in jax.tree.leaves(state, is_leaf=is_state) if is_state(part)]
    return sum(leaf.size for each in states for leaf in jax.tree.leaves(each.network))


class Stepping:
    """Games played at random, each begun anew when it is over; both seats see every step."""

    def __init__(self, request: Request):
        self.game, self.num_steps = read_config(Salesman, request["game"]), request["num_steps"]
        self.keys = _keys(request["num_envs"])
        self.play = jax.jit(jax.vmap(self._play))
        self.amount = request["num_envs"] * self.num_steps
        self.about: dict[str, Any] = {}

    def _play(self, key):
        """A number that needs everything that was seen, so that the compiler leaves nothing of it out."""

        def step(carry, _):
            key, state, total = carry
            key, for_actions, for_reset = jax.random.split(key, 3)
            main, partner = (jax.random.uniform(for_actions, (2,)) * self.game.num_actions[0]).astype(jnp.int32)
            state, outcome = self.game.step(state, (main, partner))
            over = outcome.terminated | outcome.truncated
            state = jax.tree.map(lambda new, old: jnp.where(over, new, old), self.game.reset(for_reset), state)
            seen = jax.tree.leaves([self.game.observe(state, seat) for seat in (MAIN, PARTNER)])
            return (key, state, total + outcome.reward + sum(jnp.sum(leaf, dtype=jnp.float32) for leaf in seen)), None

        for_reset, key = jax.random.split(key)
        (_, _, total), _ = jax.lax.scan(step, (key, self.game.reset(for_reset), jnp.float32(0)), length=self.num_steps)
        return total

    def __call__(self) -> int:
        jax.block_until_ready(self.play(self.keys))
        return self.amount


def _keys(number: int):
    return jax.random.split(jax.random.key(0), number)


WORK: dict[str, Callable[[Request], Training | Stepping]] = {"training": Training, "stepping": Stepping}


@cache
def _prepared(request: str) -> Training | Stepping:
    asked = json.loads(request)
    return WORK[asked["what"]](asked)


def answer(request: Request) -> dict[str, Any]:
    """How many environment steps were made, the seconds they took, and what else is known of who made them."""
    work = _prepared(json.dumps(request))
    started = time.perf_counter()
    amount = work()
    return {"amount": amount, "seconds": time.perf_counter() - started, **work.about}
