"""The matrix-game experiment from beginning to end."""

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.experiments.matrix_game.config import MatrixGameConfig
from coadapt.experiments.matrix_game.replicates import all_replicates
from coadapt.experiments.matrix_game.report import Results, write_report
from coadapt.experiments.matrix_game.scores import (
    EVALUATIONS,
    curve_scores,
    curves_of,
    evaluation_of,
    final_scores,
    optima_of,
)
from coadapt.experiments.matrix_game.training import LEARNERS, training_of
from coadapt.runs.experiment import Experiment
from coadapt.runs.stage import Inputs, Stage


def stages(config: MatrixGameConfig) -> list[Stage]:
    """Train both methods in all replicates, then let them play."""
    replicates = all_replicates(config.alphas, config.seeds)
    return [
        *(training_of(name, config, replicates) for name in LEARNERS),
        *(evaluation_of(mode, config, replicates) for mode in EVALUATIONS),
        curves_of(config, replicates),
    ]


def gather(config: MatrixGameConfig, outcomes: Inputs) -> Results:
    """What all stages came to, beside the exact optima."""
    exact = optima_of(config)
    each_optimum = np.repeat([optimum.bayes_last_step for optimum in exact], len(config.seeds))
    return Results(
        config=config,
        optima=exact,
        scores=final_scores(outcomes),
        curves=curve_scores(outcomes, each_optimum),
        diagnostics={name: outcomes[name].infos for name in LEARNERS},
        parameters=_parameters(config),
        environment_steps={name: learner(config).environment_steps for name, learner in LEARNERS.items()},
    )


def _parameters(config: MatrixGameConfig) -> dict[str, dict[str, int]]:
    """How many numbers each network of each method learns."""
    alpha = jnp.float32(1)  # no size depends on it
    states = {n: jax.eval_shape(learner(config).start, jax.random.key(0), alpha) for n, learner in LEARNERS.items()}
    count = lambda network: sum(leaf.size for leaf in jax.tree.leaves(network))
    return {
        "behaviour_conditioned": {
            "predictor": count(states["predictor"].belief.network),
            "policy": count(states["policy"].policy.network),
            "value": count(states["policy"].critic.network),
        },
        "rl2": {"policy": count(states["rl2"].policy.network), "value": count(states["rl2"].critic.network)},
    }


EXPERIMENT = Experiment(
    "matrix_game",
    MatrixGameConfig,
    stages,
    lambda config, outcomes, folder: write_report(gather(config, outcomes), folder),
)
