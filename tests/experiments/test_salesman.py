"""The salesman's study: what it is made of, and what it refuses."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.experiments.salesman import FAST, PAPER, QUICK
from coadapt.experiments.salesman.oracle import on_average
from coadapt.experiments.salesman.presets import NEVER_MET
from coadapt.experiments.salesman.task import SalesmanTask
from coadapt.games.salesman.rules import Salesman
from coadapt.learning.ppo import PPOConfig
from coadapt.pipeline.methods.lstm import matched
from coadapt.pipeline.sources.self_play import SelfPlay
from coadapt.pipeline.stages import environment_steps


def test_the_matched_baseline_has_all_the_steps_of_ours():
    ours = sum(map(environment_steps, (FAST.clones, FAST.policy, FAST.predictor)))
    theirs = environment_steps(FAST.lstm_clones) + environment_steps(matched(FAST))
    one_point = FAST.lstm.steps_per_iteration * FAST.curve_points
    assert ours <= theirs < ours + one_point
    without_predictor = environment_steps(FAST.clones) + environment_steps(FAST.policy)
    assert environment_steps(FAST.lstm_clones) + environment_steps(FAST.lstm) == without_predictor


def test_partners_are_split_by_partner():
    for study in (FAST, PAPER):
        assert study.held_out == NEVER_MET
        for seed in study.seeds:
            assert not set(study.partners.clones(study, seed)) & set(NEVER_MET.clones(study))
            trained_with = {str(who) for who in study.partners.ids(study, seed)}
            assert not trained_with & {str(who) for who in study.held_out_ids}
    assert len(NEVER_MET.seeds) >= 3
    assert FAST.partners.clones(FAST, 3) == (3, 0, 1, 2, 4)
    assert FAST.partners.clones(FAST, 77) == (77, 0, 1, 2, 3)
    assert PAPER.partners.clones(PAPER, 3) == (3,)


def test_the_paper_preset_is_what_the_paper_states():
    assert PAPER.task == SalesmanTask(pairs="absolute")
    iterations = {
        "clones": 3_000,
        "policy": 1_000,
        "predictor": 5_000,
        "lstm_clones": 3_000,
        "lstm": 1_000,
    }
    for name, number in iterations.items():
        training = getattr(PAPER, name)
        assert training.iterations == number
        assert training.learning_rate == 5e-4
        assert training.steps_per_iteration == pytest.approx(4_000, rel=0.02)
    sizes = PAPER.task.sizes
    assert (sizes.before_sum, sizes.after_sum, sizes.lstm_units) == ((128,) * 7, (64, 64), 64)
    assert PAPER.partners == SelfPlay(seeds=(), own=True)


def test_partners_of_a_type_are_averaged_over_populations():
    """Two populations of three types: the first and the fourth are alike, and so on."""
    behaviours = jnp.array([0.0, 10, 20, 2, 14, 26])[:, None]
    average = on_average(behaviours, jnp.tile(jnp.eye(3), (2, 1)))
    np.testing.assert_allclose(average, [[1], [12], [23]])


SHORT = PPOConfig(iterations=80, num_envs=640, num_steps=20)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (
            lambda: SalesmanTask(Salesman(size=2, subgoals=4)),
            "size must leave room for 4 subgoals, a goal and two agents",
        ),
        (
            lambda: replace(FAST, held_out=SelfPlay((1, 100))),
            "held_out must be partners that nobody trains with, and the clone of seed 1 is",
        ),
        (
            lambda: replace(QUICK, held_out=SelfPlay((0,))),
            "held_out must be partners that nobody trains with, and the clone of seed 0 is",
        ),
        (
            lambda: replace(FAST, conditioning="luck"),
            "conditioning must be one of probabilities, map, sampled, not 'luck'",
        ),
        (lambda: replace(FAST, methods=("magic",)), "methods must be one of behaviour_conditioned"),
        (lambda: SalesmanTask(pairs="polar"), "pairs must be one of relative, turned, absolute, not 'polar'"),
        (
            lambda: replace(FAST, levels=((36.0, 30.0),)),
            r"levels must be pairs of lengths, the lower first, not \[36.0, 30.0\]",
        ),
        (lambda: replace(FAST, levels=((30.0,),)), "levels must be pairs of lengths"),
        (lambda: replace(FAST, levels=((30.0, 60.0),)), "levels must be a number from 1 to 50"),
        (lambda: replace(FAST, levels=()), "levels must be 1, one for each type in between, not 0"),
        (
            lambda: replace(FAST, levels=((30.0, 36.0), (20.0, 25.0))),
            "levels must be 1, one for each type in between, not 2",
        ),
        (lambda: replace(FAST, shares=(0.5,)), "give one of both"),
        (lambda: replace(FAST, levels=(), shares=(1.5,)), "shares must hold numbers from 0 to 1, not 1.5"),
        (lambda: replace(FAST, clones=None), "partners by self-play need clones"),
        (lambda: replace(FAST, batch=3_000), r"episodes \(2000\) must be a multiple of batch \(3000\)"),
        (lambda: replace(FAST, clones=SHORT), r"clones.num_steps must cover an episode \(50\)"),
        (
            lambda: replace(FAST, lstm=replace(FAST.lstm, num_envs=604)),
            "lstm.num_envs must be a multiple of the 15 training",
        ),
        (lambda: replace(FAST, curve_points=7), r"clones.iterations \(\d+\) must be a multiple of curve_points \(7\)"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(change, complaint):
    with pytest.raises(ValueError, match=complaint):
        change()
