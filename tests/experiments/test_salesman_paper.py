"""Two iterations of the paper's own settings, which take hours as a whole: how many is measured and printed."""

import time

import jax
import jax.numpy as jnp
import pytest

from coadapt.agents.encoders import RelationEncoder
from coadapt.experiments.salesman import PAPER
from coadapt.pipeline.co_op import beginning
from coadapt.pipeline.methods import METHODS
from coadapt.pipeline.self_play import by_length, clones
from coadapt.pipeline.stages import Trained, key_for
from coadapt.pipeline.task import new_policy

assert PAPER.clones is not None
CLONES = clones(PAPER.task, PAPER.clones, by_length(PAPER.levels))
TRAININGS = {each.purpose: each for method in METHODS.values() for each in method.trainings(PAPER)}


@pytest.fixture(scope="module")
def inputs():
    """What untrained clones would leave behind, and a policy that would go on from them, as stages hand them on."""
    left = CLONES.networks(CLONES.start(key_for(0, "clones"), ()))
    one_replicate = lambda networks: Trained(jax.tree.map(lambda leaf: leaf[None], networks), {})
    return {"clones_0": one_replicate(left), "policy_0": one_replicate(left.trained)}


@pytest.mark.slow
@pytest.mark.parametrize("training", ["clones", "lstm_clones", "policy", "predictor"])
def test_two_iterations_of_the_paper_preset(training, inputs, capsys):
    if training == "clones":
        learner, begun = CLONES, ()
    else:
        of = TRAININGS[training]
        learner, begun = of.learner(PAPER, of.settings), beginning(PAPER, of, 0, inputs)
    state = learner.start(key_for(0, training), begun)
    go_on = jax.jit(lambda state, begun: learner.chunk(state, begun, 1))
    state, _ = jax.block_until_ready(go_on(state, begun))
    began = time.monotonic()
    state, info = jax.block_until_ready(go_on(state, begun))
    seconds = time.monotonic() - began
    with capsys.disabled():
        hours = seconds * learner.iterations / 3600
        print(f"\n{training} of the paper preset: {seconds:.1f} s an iteration, {hours:.1f} h in all")
    loss = info.loss if training == "predictor" else info.value_loss
    assert bool(jnp.all(jnp.isfinite(loss)))
    assert learner.steps_per_iteration == pytest.approx(4_000, rel=0.02)


def test_the_papers_pairs_are_too_many_for_a_table():
    """Absolute places make 117,128 different pairs, and a minibatch of 4,000 states has 48,000."""
    encoder = new_policy(jax.random.key(0), PAPER.task).encoder
    assert isinstance(encoder, RelationEncoder)
    assert encoder.view.rows == 2 * 4 * 121 * 121
    assert PAPER.clones is not None
    assert encoder.prepared(PAPER.clones.steps_per_iteration) is encoder
