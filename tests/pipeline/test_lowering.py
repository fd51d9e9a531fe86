"""What is trained here would train on other devices: every training step lowers for them, on this machine."""

import jax
import pytest

from coadapt.experiments import matrix_game, salesman
from coadapt.runs.experiment import plan
from tests.experiments.small_salesman import SMALL
from tests.experiments.test_matrix_game import TINY

EXPERIMENTS = {"salesman": (salesman.EXPERIMENT, SMALL), "matrix_game": (matrix_game.EXPERIMENT, TINY)}
TRAININGS = {
    "salesman": ("clones_3", "policy_3", "predictor_3", "label_blind_3", "lstm_clones_3", "lstm_3"),
    "matrix_game": ("predictor", "policy", "rl2"),
}


@pytest.fixture(scope="module", params=EXPERIMENTS)
def planned(request):
    experiment, config = EXPERIMENTS[request.param]
    stages = {each.stage.name: each for each in plan(experiment, config, {})}
    return stages, TRAININGS[request.param]


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_every_training_step_lowers_for_other_devices(planned, platform):
    stages, trainings = planned
    for name in trainings:
        stage, inputs = stages[name].stage, {need: stages[need].outcome for need in stages[name].stage.needs}
        lowered = jax.jit(stage.go_on).trace(stages[name].state, inputs).lower(lowering_platforms=(platform,))
        assert "stablehlo" in lowered.as_text(), name
