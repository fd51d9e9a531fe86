"""An agent from nothing: self-play, a policy for partners of all kinds, a predictor, and looks at how good it is.

It answers in a process of its own, so that compiling counts. A request is answered after a few iterations, with how far
it is; the time that looking took is told, too, for it is no part of the training.
"""

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Float
from coadapt.benchmarks.ours import PACKAGES as PACKAGES
from coadapt.catalogue import find, published
from coadapt.configs.data import read_config
from coadapt.evaluation.returns import play_with_all, side_by_side
from coadapt.experiments.salesman.clones import Clones, clones, partners_from
from coadapt.experiments.salesman.config import SalesmanConfig
from coadapt.experiments.salesman.training import LEARNERS, Beginning, told_by
from coadapt.experiments.salesman.world import KINDS
from coadapt.partners.population import Partners
from coadapt.pipeline.stages import Learner, key_for

Report = dict[str, Any]


def grow_up(seed: int, config: SalesmanConfig, goals: dict[str, Any]) -> Iterator[Report]:
    """Reports every few iterations, until the agent is as good as the goals ask for or its training is over.

    Self-play ends as soon as it is good enough. The policy's training takes as long as it takes, for its learning rate
    has to fall. The predictor's ends when the agent passes.
    """
    every, key = goals["look_every"], lambda training: key_for(seed, training)
    learner = clones(config.world, config.clones, config.intermediate_length)
    found: Clones | None = None
    for state, info in _chunks(learner, key("clones"), (), every):
        length = float(jnp.mean(info.metrics["length"]))
        skilled = length <= goals["length"]
        yield {"stage": "self-play", "steps": every * learner.steps_per_iteration, "length": length, "skilled": skilled}
        if skilled:
            found = learner.networks(state)
            break
    if found is None:
        return
    partners = partners_from([found])
    learner, networks = LEARNERS["policy"](config), None
    for state, _ in _chunks(learner, key("policy"), Beginning((found.skilled, found.critic), partners), every):
        networks = learner.networks(state)
        yield {"stage": "policy", "steps": every * learner.steps_per_iteration}
    learner, look = LEARNERS["predictor"](config), _look(config, goals["episodes"])
    looks = (jax.random.fold_in(key("looks"), number) for number in itertools.count())  # at other episodes every time
    for state, _ in _chunks(learner, key("predictor"), Beginning(networks, partners), every):
        looked = time.perf_counter()
        returns = look(next(looks), learner.networks(state), networks)
        # Whoever passes has to do it twice, for among many looks one may be lucky.
        passed = _passes(returns, goals) and _passes(look(next(looks), learner.networks(state), networks), goals)
        steps = every * learner.steps_per_iteration
        spent = time.perf_counter() - looked
        yield {"stage": "predictor", "steps": steps, "returns": returns, "passed": passed, "looking": spent}
        if passed:
            return


def _passes(returns: dict[str, float], goals: dict[str, Any]) -> bool:
    return all(returns[kind] >= least for kind, least in goals["returns"].items())


def _chunks(learner: Learner, key: Any, condition: Any, every: int) -> Iterator[tuple[Any, Any]]:
    """A training in steps of a few iterations, to its end."""
    state = jax.jit(learner.start)(key, condition)
    go_on = jax.jit(lambda state, condition: learner.chunk(state, condition, every))
    for _ in range(learner.iterations // every):
        state, info = jax.block_until_ready(go_on(state, condition))
        yield state, info


def _look(config: SalesmanConfig, episodes: int) -> Callable[[Any, Any, Any], dict[str, float]]:
    """What the agent, acting on its own predictions, earns with the published reference partners of each kind."""
    partners = reference_partners()

    @jax.jit
    def earned(key: Any, belief: Any, policy: Any) -> Float[Array, "kinds"]:
        agent = told_by(belief, policy, config.feed)
        told = jnp.zeros((len(partners.ids) * side_by_side(episodes), 0))
        means, _ = play_with_all(key, config.world.game, partners, lambda _: agent, told, episodes, greedy=True)
        return means.total @ partners.labels / jnp.sum(partners.labels, axis=0)

    return lambda key, belief, policy: dict(zip(KINDS, map(float, earned(key, belief, policy)), strict=True))


def reference_partners() -> Partners:
    """All partners that come with the package, with whom nobody has trained."""
    saved = [find(name) for name in published() if name.startswith("salesman/partners/")]
    players = jax.tree.map(lambda *leaves: jnp.stack(leaves), *(each.player() for each in saved))
    labels = jnp.stack([jax.nn.one_hot(KINDS.index(each.about["kind"]), len(KINDS)) for each in saved])
    return Partners(players, labels, jnp.arange(len(saved)))


GROWING: list[Iterator[Report]] = []


def answer(request: dict[str, Any]) -> Report:
    """The first request says what to train; each lets it go on for a few iterations. In the end, `over` is all."""
    if not GROWING:
        config = read_config(SalesmanConfig, request["config"])
        GROWING.append(grow_up(request["seed"], config, request["goals"]))
    return next(GROWING[0], {"over": True})
