"""An agent from nothing: self-play, a policy for partners of all types, a predictor, and evaluations on the way.

It answers in a process of its own, so that compiling counts. A request is answered after a few iterations, with how far
it is; the time that evaluation took is told, too, for it is no part of the training.
"""

import itertools
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import jax
import jax.numpy as jnp

from benchmarks.ours import PACKAGES as PACKAGES
from coadapt.agents.behaviour_conditioned import ConditionedPolicy
from coadapt.arrays import Array, Float
from coadapt.catalogue import find, pretrained
from coadapt.configs.data import read_config
from coadapt.evaluation.returns import play_with_all, side_by_side
from coadapt.experiments.salesman import QUICK, SalesmanStudy
from coadapt.experiments.salesman.task import SalesmanTask
from coadapt.learning.ppo import PPOConfig
from coadapt.learning.supervised import SupervisedConfig
from coadapt.partners.population import Partners
from coadapt.pipeline.co_op import Beginning
from coadapt.pipeline.methods import METHODS
from coadapt.pipeline.self_play import Clones, as_partner, by_length, clones
from coadapt.pipeline.stages import Learner, key_for

METHOD = METHODS["behaviour_conditioned"]

Report = dict[str, Any]


@dataclass(frozen=True)
class FromScratchConfig:
    """How an agent is trained by itself: its training partners are what its own clones have left behind."""

    task: SalesmanTask
    clones: PPOConfig
    policy: PPOConfig
    predictor: SupervisedConfig
    levels: tuple[tuple[float, ...], ...]  # lengths of self-play that types in between have
    conditioning: str  # what the policy gets of a belief

    @property
    def study(self) -> SalesmanStudy:
        """The study that this is a part of, for those who train within one; all else in it is the quick preset's."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return replace(QUICK, curve_points=1, **own)


def train(seed: int, config: FromScratchConfig, goals: dict[str, Any]) -> Iterator[Report]:
    """Reports every few iterations, until the agent is as good as the goals ask for or its training is over."""
    skilled = yield from _self_play(seed, config, goals)
    if skilled is None:
        return
    partners = partners_from(skilled, config.task)
    policy = yield from _co_op(seed, config, goals, Beginning((skilled.trained, skilled.critic), partners))
    yield from _prediction(seed, config, goals, Beginning(policy, partners))


def _self_play(seed: int, config: FromScratchConfig, goals: dict[str, Any]) -> Generator[Report, None, Clones | None]:
    """Clone training, which ends as soon as it is good enough; nothing if it never is."""
    every, learner = goals["evaluate_every"], clones(config.task, config.clones, by_length(config.levels))
    for state, info in _chunks(learner, key_for(seed, "clones"), (), every):
        length = float(jnp.mean(info.metrics["length"]))
        skilled = length <= goals["length"]
        yield {"stage": "self-play", "steps": every * learner.steps_per_iteration, "length": length, "skilled": skilled}
        if skilled:
            return learner.networks(state)
    return None


def _co_op(
    seed: int, config: FromScratchConfig, goals: dict[str, Any], beginning: Beginning
) -> Generator[Report, None, ConditionedPolicy]:
    """The policy's training. It takes as long as it takes, for its learning rate has to fall."""
    training, _ = METHOD.trainings(config.study)
    every, learner = goals["evaluate_every"], training.learner(config.study, config.policy)
    policy, _ = beginning.networks
    for state, _ in _chunks(learner, key_for(seed, training.purpose), beginning, every):
        policy = learner.networks(state)
        yield {"stage": "policy", "steps": every * learner.steps_per_iteration}
    return policy


def _prediction(seed: int, config: FromScratchConfig, goals: dict[str, Any], beginning: Beginning) -> Iterator[Report]:
    """The predictor's training, which ends when the agent passes."""
    _, training = METHOD.trainings(config.study)
    every, learner = goals["evaluate_every"], training.learner(config.study, config.predictor)
    evaluate = _evaluation(config, goals["episodes"])
    # Other episodes every time.
    keys = (jax.random.fold_in(key_for(seed, "looks"), number) for number in itertools.count())
    for state, _ in _chunks(learner, key_for(seed, training.purpose), beginning, every):
        began = time.perf_counter()
        belief = learner.networks(state)
        returns = evaluate(next(keys), belief, beginning.networks)
        # An agent has to pass twice, for among many evaluations one may be lucky.
        passed = _passes(returns, goals) and _passes(evaluate(next(keys), belief, beginning.networks), goals)
        spent, steps = time.perf_counter() - began, every * learner.steps_per_iteration
        yield {"stage": "predictor", "steps": steps, "returns": returns, "passed": passed, "evaluating": spent}
        if passed:
            return


def partners_from(clones: Clones, task: SalesmanTask) -> Partners:
    """What clone training has left behind, as partners: one of each type."""
    players = jax.vmap(lambda policy: as_partner(policy, task))(clones.snapshots)
    return Partners(players, jnp.eye(len(task.types)), jnp.arange(len(task.types)))


def _passes(returns: dict[str, float], goals: dict[str, Any]) -> bool:
    return all(returns[name] >= least for name, least in goals["returns"].items())


def _chunks(learner: Learner, key: Any, condition: Any, every: int) -> Iterator[tuple[Any, Any]]:
    """A training in steps of a few iterations, to its end: the state and the info after each."""
    state = jax.jit(learner.start)(key, condition)
    go_on = jax.jit(lambda state, condition: learner.chunk(state, condition, every))
    for _ in range(learner.iterations // every):
        state, info = jax.block_until_ready(go_on(state, condition))
        yield state, info


def _evaluation(config: FromScratchConfig, episodes: int) -> Callable[[Any, Any, Any], dict[str, float]]:
    """From a key, a belief and a policy: what the agent, acting on its own predictions, earns with held-out partners.

    It is a mean for each of their types, over so many episodes with each partner.
    """
    partners, types = held_out_partners(), config.task.types

    @jax.jit
    def earned(key: Any, belief: Any, policy: Any) -> Float[Array, "types"]:
        agent = METHOD.player({"belief": belief, "policy": policy}, config.task, config.conditioning)
        told = jnp.zeros((len(partners.ids) * side_by_side(episodes), 0))
        means, _ = play_with_all(key, config.task.game, partners, lambda _: agent, told, episodes, greedy=True)
        return means.total @ partners.labels / jnp.sum(partners.labels, axis=0)

    return lambda key, belief, policy: dict(zip(types, map(float, earned(key, belief, policy)), strict=True))


def held_out_partners() -> Partners:
    """All pretrained partners, with whom nobody has trained."""
    saved = [find(name) for name in pretrained() if name.startswith("salesman/partners/")]
    players = jax.tree.map(lambda *leaves: jnp.stack(leaves), *(each.player() for each in saved))
    types = [each.task.types.index(each.about["type"]) for each in saved]
    return Partners(players, jax.nn.one_hot(jnp.asarray(types), len(saved[0].task.types)), jnp.arange(len(saved)))


UNDER_WAY: list[Iterator[Report]] = []


def answer(request: dict[str, Any]) -> Report:
    """The first request says what to train; each lets it go on for a few iterations. In the end, `over` is all."""
    if not UNDER_WAY:
        config = read_config(FromScratchConfig, request["config"])
        UNDER_WAY.append(train(request["seed"], config, request["goals"]))
    return next(UNDER_WAY[0], {"over": True})
