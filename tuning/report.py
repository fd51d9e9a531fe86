"""The search for the matrix game's training settings: the same for every method, on seeds that no result uses.

Each method has a grid of candidates. All are tried at a third of the budget with some of the alphas; the best few are
tried again at the whole of it, with all alphas and another seed, and the best of those is chosen. The score is how much
of the exact optimum is reached, averaged over the alphas; for the predictor, how many times the least possible error it
makes.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from coadapt.configs.data import plain
from coadapt.experiments.matrix_game.config import MatrixGameConfig
from coadapt.runs.experiment import Experiment, Report
from coadapt.runs.stage import Inputs
from coadapt.storage.files import write_json, write_text
from coadapt.storage.provenance import provenance
from coadapt.tables import Table
from tuning.search import (
    EPISODES,
    FINAL_SEEDS,
    FINALISTS,
    FIRST_ALPHAS,
    FIRST_SEEDS,
    Round,
    TuningConfig,
    candidates_of,
    ranking,
    rounds,
    stages,
)


class Trial(NamedTuple):
    """One candidate and its scores."""

    settings: dict[str, float]
    budget: float  # the share of the whole number of iterations
    seeds: Sequence[int]
    score: float
    score_by_alpha: list[float]


PREFACE = f"""# The search for training settings

Every method has a grid of candidates. All are tried at a third of the budget, at alpha
{", ".join(f"{alpha:g}" for alpha in FIRST_ALPHAS)}, with seed {FIRST_SEEDS[0]}; the best {FINALISTS} are tried again at
the whole budget, at all alphas, with seed {FINAL_SEEDS[0]}. No reported result uses these seeds. What is chosen is one
setting for all alphas. Settings that are not in the grid are the fast preset's for every candidate: the size and number
of minibatches, the epochs and the span of the entropy bonus were settled before in trial runs of the policy, and RL2
has the same.

The score of a policy or of RL2 is the share of the exact Bayes reward of the last step that it reaches with sampled
actions, averaged over alphas ({EPISODES:,} episodes a run, with the Bayes player on the same episodes to take the luck
out). A policy is judged on the exact posterior, so that it does not depend on which predictor was at hand. The score of
a predictor is its squared error before the last action over the least possible one.
"""


def trials(of: Round, settings: Sequence[dict[str, float]], scores: np.ndarray) -> list[Trial]:
    """What was tried in a round, the best first."""
    means = scores[0].mean(-1, dtype=np.float64)
    return [
        Trial(settings[number], of.budget, of.config.seeds, float(means[number]), scores[0][number].tolist())
        for number in np.asarray(ranking(of, jnp.asarray(scores)))
    ]


def searched(config: TuningConfig, method: str, outcomes: Inputs) -> dict[str, Any]:
    """Both rounds for one method: all that was tried, the best first, and what is chosen."""
    first_round, final_round = rounds(config, method)
    first = trials(first_round, candidates_of(method), outcomes[first_round.scoring])
    best = [trial.settings for trial in first[: final_round.candidates]]
    final = trials(final_round, best, outcomes[final_round.scoring])
    return {
        "method": method,
        "chosen": final[0].settings,
        "final": [trial._asdict() for trial in final],
        "first": [trial._asdict() for trial in first],
    }


def report(config: TuningConfig, outcomes: Inputs, folder: Path) -> Report:
    """Write down what was tried and what was best; nothing is changed."""
    records = [searched(config, method, outcomes) for method in config.methods]
    pages = [_markdown(config.experiment, record) for record in records]
    write_json(folder / "tuning.json", plain({"searches": records} | provenance()))
    write_text(folder / "tuning.md", "\n".join([PREFACE, *pages]))
    headline = {f"{r['method']}, {name}": value for r in records for name, value in r["chosen"].items()}
    return Report([], headline, "What was tried, and what was best, is in results/tuning.md.")


TUNING = Experiment("matrix_game_tuning", TuningConfig, stages, report)


def _markdown(config: MatrixGameConfig, record: dict[str, Any]) -> str:
    """Both rounds of one search as tables, the best on top."""
    names = list(record["chosen"])
    digits = lambda value: f"{value:.3f}"

    def table(title: str, alphas: Sequence[float], trials: list[dict[str, Any]]) -> str:
        columns = [*names, "score", *(f"alpha {alpha:g}" for alpha in alphas)]
        rows = [
            [*(f"{t['settings'][n]:g}" for n in names), digits(t["score"]), *map(digits, t["score_by_alpha"])]
            for t in trials
        ]
        return Table(title, columns, rows).markdown()

    chosen = ", ".join(f"{name} {value:g}" for name, value in record["chosen"].items())
    return "\n".join(
        [
            f"## {record['method']}\n\nChosen: {chosen}.\n",
            table("The finalists at the whole budget", config.alphas, record["final"]),
            table("All candidates at a third of the budget", FIRST_ALPHAS, record["first"]),
        ]
    )
