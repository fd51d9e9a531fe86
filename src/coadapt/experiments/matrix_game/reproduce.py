"""The matrix-game experiment from beginning to end."""

from collections.abc import Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.configs.data import plain
from coadapt.experiments.matrix_game.config import MatrixGameConfig
from coadapt.experiments.matrix_game.replicates import all_replicates
from coadapt.experiments.matrix_game.report import (
    Results,
    comparison_table,
    draw_adaptation,
    draw_learning,
    headline,
    reward_table,
    size_table,
    summary,
    verdict,
)
from coadapt.experiments.matrix_game.scores import (
    MODES,
    curve_scores,
    curves_of,
    evaluation_of,
    final_scores,
    optima_of,
)
from coadapt.experiments.matrix_game.training import LEARNERS, training_of
from coadapt.runs.experiment import Experiment, Report
from coadapt.runs.stage import Inputs, Stage
from coadapt.storage.files import write_bytes, write_json, write_text
from coadapt.tables import Table


def stages(config: MatrixGameConfig) -> list[Stage]:
    """Train both methods in all replicates, then let them play."""
    replicates = all_replicates(config.alphas, config.seeds)
    return [
        *(training_of(name, config, replicates) for name in LEARNERS),
        *(evaluation_of(mode, config, replicates) for mode in MODES),
        curves_of(config, replicates),
    ]


def report(config: MatrixGameConfig, outcomes: Inputs, folder: Path) -> Report:
    """Write everything into the folder, and say what there is to see."""
    results = gather(config, outcomes)
    write_json(folder / "summary.json", plain(summary(results)))
    write_text(folder / "table.md", "\n".join(table.markdown() for table in tables(results)))
    for name, draw in {"learning": draw_learning, "adaptation": draw_adaptation}.items():
        for ending, picture in draw(results).items():
            write_bytes(folder / f"{name}.{ending}", picture)
    closing = f"The pictures to look at are learning.png and adaptation.png. {verdict(results)}".strip()
    return Report(tables(results), headline(results), closing)


EXPERIMENT = Experiment("matrix_game", MatrixGameConfig, stages, report)


def tables(results: Results) -> Sequence[Table]:
    """What the command prints."""
    return [
        reward_table(results),
        reward_table(results, "argmax"),
        comparison_table(results),
        size_table(results),
    ]


def gather(config: MatrixGameConfig, outcomes: Inputs) -> Results:
    """What all stages came to, beside the exact optima."""
    exact = optima_of(config)
    steps = {name: learner(config).environment_steps for name, learner in LEARNERS.items()}
    share = np.arange(1, config.curve_points + 1) / config.curve_points
    each_optimum = np.repeat([optimum.bayes_last_step for optimum in exact], len(config.seeds))
    return Results(
        config=config,
        optima=exact,
        scores=final_scores(outcomes),
        curves=curve_scores(outcomes, each_optimum),
        curve_steps={
            "behaviour_conditioned": share * (steps["predictor"] + steps["policy"]),
            "rl2": share * steps["rl2"],
        },
        diagnostics={name: outcomes[name].infos for name in LEARNERS},
        parameters=_parameters(config),
        environment_steps=steps,
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
