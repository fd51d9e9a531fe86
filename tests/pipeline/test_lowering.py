"""What is trained and measured here would run on other devices: every stage lowers for them, on this machine."""

import jax
import pytest

from coadapt.experiments import matrix_game, salesman
from coadapt.runs.experiment import plan
from tests.experiments.small_salesman import SMALL
from tests.experiments.test_matrix_game import TINY

PLANNED = {
    experiment.name: {each.stage.name: each for each in plan(experiment, config, {})}
    for experiment, config in ((salesman.EXPERIMENT, SMALL), (matrix_game.EXPERIMENT, TINY))
}


@pytest.mark.parametrize(
    ("experiment", "stage"),
    [("salesman", name) for name in ("clones_3", "policy_3", "predictor_3", "label_blind_3", "lstm_clones_3", "lstm_3")]
    + [("matrix_game", name) for name in ("predictor", "policy", "rl2")],
)
@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_every_training_step_lowers_for_other_devices(experiment, stage, platform):
    planned = PLANNED[experiment]
    state, inputs = planned[stage].state, {need: planned[need].outcome for need in planned[stage].stage.needs}
    lowered = jax.jit(planned[stage].stage.go_on).trace(state, inputs).lower(lowering_platforms=(platform,))
    assert "stablehlo" in lowered.as_text()
