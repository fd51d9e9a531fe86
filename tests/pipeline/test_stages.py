"""Stages by themselves: what is kept of a training, which chances it has, and what is evaluated."""

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.evaluation.episodes import StepScores
from coadapt.experiments.matrix_game import FAST, scores
from coadapt.experiments.matrix_game.replicates import all_replicates, keys_for
from coadapt.experiments.matrix_game.scores import Networks, curve_scores, curves_of, evaluation_of, final_scores
from coadapt.pipeline.experiment import stages_of
from coadapt.pipeline.regret_tables import losses
from coadapt.pipeline.stages import Learner, Trained, key_for, measuring_stage, training_stage
from coadapt.storage.fingerprint import modules_behind
from tests.experiments.small_salesman import SMALL


class Told(NamedTuple):
    before: jax.Array


def counting():
    """A learner that adds its condition once an iteration, and tells what it had before."""

    def chunk(state, condition, iterations):
        return jax.lax.scan(lambda s, _: (s + condition, Told(s)), state, length=iterations)

    return Learner(lambda key, condition: jnp.float32(0), chunk, lambda s: s, iterations=120, steps_per_iteration=7)


@pytest.mark.parametrize("keep_all", [True, False])
def test_a_learning_curve_counted_by_hand(keep_all):
    """Two points of sixty iterations, in chunks of twenty; one replicate counts by one and the other by two.

    Before the iterations of the first point there were 0 to 59, 29.5 on average, and 60 to 119 before the others.
    """
    keys = jax.random.split(jax.random.key(0), 2)
    conditions = lambda inputs: jnp.array([1.0, 2.0])
    stage = training_stage("count", (__name__,), {}, counting(), keys, conditions, points=2, keep_all=keep_all)
    assert (stage.chunks, stage.iterations, stage.steps) == (6, 20, 14)
    state, go_on = stage.begin({}), jax.jit(lambda state: stage.go_on(state, {}))
    infos = []
    for _ in range(stage.chunks):
        state, info = go_on(state)
        infos.append(info["before"])
    curve = stage.outcome(state)
    np.testing.assert_allclose(infos[-1], [109.5, 219], rtol=1e-6)
    np.testing.assert_allclose(curve.infos["before"], [[29.5, 59], [89.5, 179]], rtol=1e-6)
    assert curve.networks.tolist() == ([[60, 120], [120, 240]] if keep_all else [120, 240])


@pytest.mark.parametrize("replicates", [1, 2])
@pytest.mark.parametrize("keep_all", [True, False])
def test_what_is_kept_is_made_of_one_replicate_at_a_time(keep_all, replicates):
    """Two numbers of each, side by side: what it has counted, and that it began with none."""
    learner = replace(counting(), networks=lambda state: jnp.stack([jnp.zeros_like(state), state]))
    keys, conditions = jax.random.split(jax.random.key(0), replicates), jnp.arange(1.0, 1 + replicates)
    stage = training_stage("count", (__name__,), {}, learner, keys, lambda _: conditions, points=2, keep_all=keep_all)
    state = stage.begin({})
    for _ in range(stage.chunks):
        state, _ = stage.go_on(state, {})
    finished = [[0, 120 * number] for number in range(1, 1 + replicates)]
    found = stage.outcome(state).networks
    assert (found[-1] if keep_all else found).tolist() == finished


def test_every_part_of_a_measurement_is_kept_in_its_place():
    measure = lambda inputs, key, part: (inputs["first"] * (part + 1), {})
    stage = measuring_stage("look", (__name__,), {}, measure, jax.random.key(0), 3, ("first",))
    inputs = {"first": jnp.int32(10)}
    state = stage.begin(inputs)
    for _ in range(stage.chunks):
        state, _ = stage.go_on(state, inputs)
    assert stage.outcome(state).tolist() == [10, 20, 30]


def test_every_seed_and_every_purpose_has_chances_of_its_own():
    data = lambda key: tuple(jax.random.key_data(key).ravel().tolist())
    ways = [(seed, purpose) for seed in (0, 1) for purpose in ("policy", "evaluation")]
    assert len({data(key_for(*way)) for way in ways}) == 4
    replicates = all_replicates((0.1, 1.0), (0, 1))
    drawn = [data(key) for purpose in ("policy", "evaluation") for key in keys_for(replicates, purpose)]
    assert len(set(drawn)) == 8


CONFIG = replace(FAST, alphas=(0.1, 1.0), seeds=(5,), batch=100, curve_points=2)
REPLICATES = all_replicates(CONFIG.alphas, CONFIG.seeds)


@pytest.fixture
def shown(monkeypatch):
    """In place of scores: the networks that are asked for, and at which alpha."""

    def score(key, alpha, networks, **how):
        return {"networks": StepScores(jnp.stack(networks), alpha[None])}

    monkeypatch.setattr(scores, "score_all", score)
    by_point = lambda first: jnp.array([[first + 0.1, first + 0.2], [first + 0.3, first + 0.4]])
    return {name: Trained(by_point(n), {}) for n, name in enumerate(Networks._fields)}


def test_the_finished_networks_are_evaluated(shown):
    """Those of the last point of the curve, each at its own alpha."""
    stage = evaluation_of("sample", CONFIG, REPLICATES)
    state, _ = stage.go_on(stage.begin(shown), shown)
    found = jax.tree.map(lambda leaf: leaf[0], stage.outcome(state))["networks"]
    np.testing.assert_allclose(found.reward, [[0.3, 1.3, 2.3], [0.4, 1.4, 2.4]], rtol=1e-6)
    np.testing.assert_allclose(found.prediction_error[:, 0], [0.1, 1.0])


def test_a_curve_has_the_networks_of_each_point(shown):
    stage = curves_of(CONFIG, REPLICATES)
    state = stage.begin(shown)
    for _ in range(stage.chunks):
        state, _ = stage.go_on(state, shown)
    rewards = stage.outcome(state)["networks"].reward
    np.testing.assert_allclose(rewards[:, :, 0], [[0.1, 0.2], [0.3, 0.4]], rtol=1e-6)


def test_final_scores_are_means_over_batches():
    batches = lambda *numbers: {"bayes": StepScores(jnp.array(numbers)[:, None, None], jnp.zeros((2, 1, 1)))}
    found = final_scores({"evaluation": batches(1.0, 2.0), "greedy_evaluation": batches(3.0, 5.0)})
    assert found["bayes", "sample"].reward.tolist() == [[1.5]]
    assert found["bayes", "argmax"].reward.tolist() == [[4.0]]


def test_the_luck_of_the_bayes_player_is_taken_off():
    """It has earned 0.6 where 0.5 are to be expected, so everybody had a luck of 0.1."""
    last = lambda reward: StepScores(jnp.array([[[9.0, reward]]]), jnp.zeros((1, 1, 2)))
    played = {"behaviour_conditioned": last(0.55), "rl2": last(0.45), "bayes": last(0.6)}
    found = curve_scores({"curves": played}, np.array([[0.5]]))
    assert {method: float(values[0, 0]) for method, values in found.items()} == pytest.approx(
        {"behaviour_conditioned": 0.45, "rl2": 0.35}
    )


class Regrets:
    """Two seeds and two partners, on one layout: what each way to know the partner loses, whoever it is."""

    main = "behaviour_conditioned"

    def __init__(self, untrained=("best_response_to_type",)):
        self.untrained = dict.fromkeys(untrained)

    def regret(self, method, type_, what):
        return np.full((2, 2), {"behaviour_conditioned": 0.10, "exact_posterior": 0.07, "oracle_label": 0.06}[method])

    def regret_of_untrained(self, who, type_, what):
        return np.full((2, 2), 0.02)


def test_losses_are_told_apart_by_who_knows_more():
    """0.10 in all: 0.03 by the predictor, 0.01 by what cannot be known yet, 0.04 by acting, 0.02 by which it is."""
    parts = [estimate.mean for estimate in losses(Regrets(), "novice").values()]  # pyright: ignore[reportArgumentType]
    assert parts == pytest.approx([0.03, 0.01, 0.04, 0.02])


def test_where_no_oracle_knows_the_best_response_to_a_type_acting_and_not_knowing_which_are_one():
    parts = [estimate.mean for estimate in losses(Regrets(()), "novice").values()]  # pyright: ignore[reportArgumentType]
    assert parts == pytest.approx([0.03, 0.01, 0.06])


def test_what_is_trained_depends_on_no_measure():
    """A measure, a table or a setting more is no reason to train anything again."""
    trainings = [stage for stage in stages_of(SMALL) if stage.steps]
    assert len(trainings) == 9
    for stage in trainings:
        behind = {name for module in stage.code for name in modules_behind(module)}
        assert "coadapt.pipeline.co_op" in behind or "coadapt.pipeline.self_play" in behind
        above = ("study", "evaluation", "adaptation", "regret", "seats", "results", "tables", "report", "experiment")
        assert not {f"coadapt.pipeline.{module}" for module in above} & behind, stage.name
