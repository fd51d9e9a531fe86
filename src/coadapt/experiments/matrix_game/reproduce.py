"""The matrix-game experiment from beginning to end."""

import time
from pathlib import Path

import jax
import numpy as np

from coadapt.evaluation.tables import Table
from coadapt.experiments.matrix_game.config import MatrixGameConfig
from coadapt.experiments.matrix_game.report import (
    Results,
    comparison_table,
    draw_adaptation,
    draw_learning,
    reward_table,
    size_table,
    summary,
)
from coadapt.experiments.matrix_game.scores import ceilings_of, curve_scores, final_scores, networks_at
from coadapt.experiments.matrix_game.training import STAGES, train_all
from coadapt.experiments.stages import all_runs
from coadapt.progress import Progress
from coadapt.storage.results import make_folder, provenance, write_json, write_text


def reproduce(config: MatrixGameConfig, folder: Path, progress: Progress) -> Results:
    """Train, evaluate, and write everything into the folder."""
    make_folder(folder)
    origin = provenance()  # before anything is written, or a tree with results in it would no longer be clean
    began = time.monotonic()
    results = measure(config, progress)
    seconds = round(time.monotonic() - began, 1)
    write_json(folder / "config.json", config)
    write_json(folder / "summary.json", summary(results))
    write_json(folder / "provenance.json", origin | {"seconds": seconds})
    write_text(folder / "table.md", "\n".join(table.markdown() for table in tables(results)))
    draw_learning(results, folder)
    draw_adaptation(results, folder)
    return results


def tables(results: Results) -> list[Table]:
    """What the command prints."""
    return [
        reward_table(results),
        reward_table(results, "argmax"),
        comparison_table(results),
        size_table(results),
    ]


def measure(config: MatrixGameConfig, progress: Progress) -> Results:
    """Train both methods in all runs and evaluate them; nothing is written."""
    exact = ceilings_of(config)
    runs = all_runs(config.alphas, config.seeds)
    trained = train_all(config, runs, progress)
    steps = {name: stage(config).environment_steps for name, stage in STAGES.items()}
    share = np.arange(1, config.curve_points + 1) / config.curve_points
    return Results(
        config=config,
        ceilings=exact,
        scores=final_scores(config, runs, networks_at(trained, -1), progress),
        curves=curve_scores(config, runs, trained, progress),
        curve_steps={
            "behaviour_conditioned": share * (steps["predictor"] + steps["policy"]),
            "rl2": share * steps["rl2"],
        },
        diagnostics={name: _diagnostics(getattr(trained, name).infos) for name in STAGES},
        parameters=_parameters(config),
        environment_steps=steps,
    )


def _diagnostics(infos: list) -> dict[str, np.ndarray]:
    """The infos of all chunks as one array a name: point, run."""
    return {name: np.stack([np.asarray(getattr(info, name)) for info in infos]) for name in infos[0]._fields}


def _parameters(config: MatrixGameConfig) -> dict[str, dict[str, int]]:
    """How many numbers each network of each method learns."""
    states = {name: jax.eval_shape(stage(config).start, jax.random.key(0)) for name, stage in STAGES.items()}
    count = lambda network: sum(leaf.size for leaf in jax.tree.leaves(network))
    return {
        "behaviour_conditioned": {
            "predictor": count(states["predictor"].belief.network),
            "policy": count(states["policy"].policy.network),
            "value": count(states["policy"].critic.network),
        },
        "rl2": {"policy": count(states["rl2"].policy.network), "value": count(states["rl2"].critic.network)},
    }
