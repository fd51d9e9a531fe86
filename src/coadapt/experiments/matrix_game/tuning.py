"""The search for the matrix game's training settings: the same for every method, on seeds that no result uses.

Each method has a grid of candidates. All are tried at a third of the budget with some of the alphas; the best few are
tried again at the whole of it, with all alphas and another seed, and the best of those is chosen. The score is how much
of the exact ceiling is reached, averaged over the alphas; for the predictor, how many times the least possible error it
makes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.agents.behaviour_conditioned import BehaviourConditioned
from coadapt.arrays import Array, Count, Float
from coadapt.configs.data import plain
from coadapt.evaluation.episodes import step_scores
from coadapt.evaluation.tables import Table
from coadapt.experiments.matrix_game.config import MatrixGameConfig
from coadapt.experiments.matrix_game.scores import bayes_player, ceilings_of, table_for
from coadapt.experiments.matrix_game.training import LEARNERS, remedy_for
from coadapt.experiments.planning import Experiment, Report
from coadapt.experiments.stages import (
    Info,
    Inputs,
    Learner,
    Replicates,
    Stage,
    all_replicates,
    keys_for,
    measuring_stage,
    training_stage,
)
from coadapt.storage.files import write_json, write_text
from coadapt.storage.provenance import provenance

FIRST_SEEDS, FIRST_ALPHAS = (1000,), (0.3, 1.0)  # at smaller alphas almost any candidate does well
FINAL_SEEDS = (2000,)
FINALISTS = 3
EPISODES = 50_000

PPO_GRID = {
    "learning_rate": (1e-3, 3e-3, 1e-2, 3e-2),
    "discount": (0.0, 0.9),
    "entropy_bonus": (0.1, 0.3, 1.0),
}
GRIDS = {
    "predictor": {"learning_rate": (5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2, 3.2e-2)},
    "policy": PPO_GRID,
    "rl2": PPO_GRID,
}


@dataclass(frozen=True)
class TuningConfig:
    """Whose settings are searched, and the experiment they are for."""

    experiment: MatrixGameConfig
    methods: tuple[str, ...] = tuple(GRIDS)

    def __post_init__(self):
        if not self.methods or not set(self.methods) <= set(GRIDS) or len(set(self.methods)) < len(self.methods):
            raise ValueError(f"methods must be some of {', '.join(GRIDS)}, each named once, not {list(self.methods)}")


@dataclass(frozen=True)
class Round:
    """One round of the search for one method: so many candidates, each in so many replicates."""

    method: str
    name: str
    config: MatrixGameConfig  # with the round's alphas, seeds and iterations
    budget: float  # the share of the whole number of iterations
    candidates: int

    @property
    def training(self) -> str:
        return f"{self.method}_{self.name}"

    @property
    def scoring(self) -> str:
        return f"{self.method}_{self.name}_scores"

    @property
    def replicates(self) -> Replicates:
        """Every alpha and seed, once for each candidate."""
        of_one = all_replicates(self.config.alphas, self.config.seeds)
        return jax.tree.map(lambda leaf: jnp.concatenate([leaf] * self.candidates), of_one)


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


def rounds(config: TuningConfig, method: str) -> tuple[Round, Round]:
    """All candidates for a third of the time; then the best for the whole of it, at all alphas, with another seed."""
    base = config.experiment
    training = getattr(base, method)
    shorter = replace(training, iterations=int(training.iterations / 3) // base.curve_points * base.curve_points)
    first = replace(base, alphas=FIRST_ALPHAS, seeds=FIRST_SEEDS, **{method: shorter})
    number = len(candidates_of(method))
    return (
        Round(method, "first", first, 1 / 3, number),
        Round(method, "final", replace(base, seeds=FINAL_SEEDS), 1.0, min(FINALISTS, number)),
    )


def candidates_of(method: str) -> list[dict[str, float]]:
    """Every combination of the grid's values."""
    grid = GRIDS[method]
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def stages(config: TuningConfig) -> list[Stage]:
    """For each method: train all, score all, train the best, score the best."""
    found = []
    for method in config.methods:
        first, final = rounds(config, method)
        found += [
            _training(first, partial(_everyone, method), ()),
            _scoring(first),
            _training(final, partial(_the_best, first, final.candidates), (first.scoring,)),
            _scoring(final),
        ]
    return found


def _everyone(method: str, inputs: Inputs) -> dict[str, Array]:
    """The settings of all candidates."""
    return {name: jnp.array([c[name] for c in candidates_of(method)], jnp.float32) for name in GRIDS[method]}


def _the_best(first: Round, number: int, inputs: Inputs) -> dict[str, Array]:
    """The settings of those that did best in the first round."""
    best = ranking(first, inputs[first.scoring])[:number]
    return {name: values[best] for name, values in _everyone(first.method, inputs).items()}


def ranking(of: Round, scores: Float[Array, "1 candidates alphas"]) -> Array:
    """The candidates from best to worst."""
    means = jnp.mean(scores[0], axis=-1)
    return jnp.argsort(means if of.method == "predictor" else -means)


def _training(of: Round, settings: Any, needs: tuple[str, ...]) -> Stage:
    """Learning rates and the like are conditions of the replicates, so a whole grid is one program."""
    replicates = of.replicates
    a_candidate = len(of.config.alphas) * len(of.config.seeds)

    def conditions(inputs: Inputs) -> Any:
        each = {name: jnp.repeat(values, a_candidate) for name, values in settings(inputs).items()}
        return replicates.alphas, each

    def chunk(state: Any, condition: Any, iterations: int) -> tuple[Any, Any]:
        alpha, tried = condition
        return LEARNERS[of.method](_with(of.config, of.method, tried)).chunk(state, alpha, iterations)

    learner = LEARNERS[of.method](of.config)
    return training_stage(
        of.training,
        __name__,
        {"round": of, "grid": GRIDS[of.method]},
        Learner(learner.start, chunk, learner.networks, learner.iterations, learner.steps_per_iteration),
        keys_for(replicates, of.method),
        conditions,
        points=1,
        needs=needs,
        remedy=remedy_for(of.method),
    )


def _with(config: MatrixGameConfig, method: str, settings: dict[str, Any]) -> MatrixGameConfig:
    return replace(config, **{method: replace(getattr(config, method), **settings)})


def _scoring(of: Round) -> Stage:
    """The score of each candidate at each alpha, averaged over seeds."""
    replicates = of.replicates
    ceilings = ceilings_of(of.config)
    least_errors = np.array([ceiling.bayes_error_by_step[-1] for ceiling in ceilings], np.float32)
    best_rewards = np.array([ceiling.bayes_last_step for ceiling in ceilings], np.float32)

    def measure(inputs: Inputs, part: Count) -> tuple[Array, Info]:
        networks = jax.tree.map(lambda leaf: leaf[-1], inputs[of.training].networks)
        measured = jax.vmap(lambda *one: _measure(of, *one))(
            keys_for(replicates, "evaluation"), replicates.alphas, networks
        )
        by_alpha = measured.reshape(of.candidates, len(of.config.alphas), len(of.config.seeds)).mean(-1)
        scores = by_alpha / least_errors[None] if of.method == "predictor" else 1 + by_alpha / best_rewards[None]
        return scores, {"score": scores.mean(-1)}

    settings = {"round": of, "episodes": EPISODES}
    return measuring_stage(of.scoring, __name__, settings, measure, 1, (of.training,), shown=("score",))


def _measure(of: Round, key: Any, alpha: Any, network: Any) -> Array:
    """The predictor's last error, or the last reward less the Bayes player's on the same episodes."""
    partners, play, _ = table_for(key, alpha, of.config, EPISODES, greedy=False)
    bayes = bayes_player(of.config, alpha)
    scores = lambda agent: step_scores(play(agent), partners)
    if of.method == "predictor":
        return scores(BehaviourConditioned(network, bayes.policy)).prediction_error[-1]
    agent = network if of.method == "rl2" else BehaviourConditioned(bayes.belief, network)
    return scores(agent).reward[-1] - scores(bayes).reward[-1]


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
