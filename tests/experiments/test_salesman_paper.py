"""Two iterations of the paper's own settings, which take hours as a whole: how many is measured and printed."""

import time

import jax
import jax.numpy as jnp
import pytest

from coadapt.experiments.salesman import PAPER
from coadapt.experiments.salesman.baseline import lstm_clones
from coadapt.experiments.salesman.clones import clones, partners_from
from coadapt.experiments.salesman.training import LEARNERS, Beginning
from coadapt.pipeline.stages import key_for

CLONES = clones(PAPER.world, PAPER.clones, PAPER.intermediate_length)


@pytest.fixture(scope="module")
def left_behind():
    """What untrained clones would leave behind."""
    return CLONES.networks(CLONES.start(key_for(0, "clones"), ()))


@pytest.mark.slow
@pytest.mark.parametrize("training", ["clones", "lstm_clones", "policy", "predictor"])
def test_two_iterations_of_the_paper_preset(training, left_behind, capsys):
    partners = partners_from([left_behind])
    learner, beginning = {
        "clones": lambda: (CLONES, ()),
        "lstm_clones": lambda: (lstm_clones(PAPER.world, PAPER.lstm_clones), ()),
        "policy": lambda: (LEARNERS["policy"](PAPER), Beginning((left_behind.skilled, left_behind.critic), partners)),
        "predictor": lambda: (LEARNERS["predictor"](PAPER), Beginning(left_behind.skilled, partners)),
    }[training]()
    state = learner.start(key_for(0, training), beginning)
    go_on = jax.jit(lambda state, beginning: learner.chunk(state, beginning, 1))
    state, _ = jax.block_until_ready(go_on(state, beginning))
    began = time.monotonic()
    state, info = jax.block_until_ready(go_on(state, beginning))
    seconds = time.monotonic() - began
    with capsys.disabled():
        hours = seconds * learner.iterations / 3600
        print(f"\n{training} of the paper preset: {seconds:.1f} s an iteration, {hours:.1f} h in all")
    loss = info.loss if training == "predictor" else info.value_loss
    assert bool(jnp.all(jnp.isfinite(loss)))
    assert learner.steps_per_iteration == pytest.approx(4_000, rel=0.02)


def test_the_papers_pairs_are_too_many_for_a_table():
    """Absolute places make 117,128 different pairs, and a minibatch of 4,000 states has 48,000."""
    encoder = PAPER.world.new_policy(jax.random.key(0)).encoder
    assert encoder.view.rows == 2 * 4 * 121 * 121
    assert encoder.prepared(PAPER.clones.steps_per_iteration) is encoder
