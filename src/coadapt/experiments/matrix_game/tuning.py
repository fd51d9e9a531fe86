"""The search for the matrix game's training settings: the same for every method, on seeds that no result uses.

Each method has a grid of candidates. All are tried at a third of the budget with some of the alphas; the best few are
tried again at the whole of it, with all alphas and another seed, and the best of those is chosen. The score is how much
of the exact ceiling is reached, averaged over the alphas; for the predictor, how many times the least possible error it
makes.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.agents.behaviour_conditioned import BehaviourConditioned
from coadapt.evaluation.episodes import play_episodes, step_scores
from coadapt.evaluation.tables import Table
from coadapt.experiments.matrix_game.config import MatrixGameConfig
from coadapt.experiments.matrix_game.scores import bayes_player, ceilings_of
from coadapt.experiments.matrix_game.training import STAGES, partners_of
from coadapt.experiments.stages import Runs, all_runs, keys_for
from coadapt.progress import Progress
from coadapt.storage.results import make_folder, provenance, write_json, write_text

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


class Trial(NamedTuple):
    """One candidate and its scores."""

    settings: dict[str, float]
    budget: float  # the share of the whole number of iterations
    seeds: Sequence[int]
    score: float
    score_by_alpha: list[float]


def tune(config: MatrixGameConfig, methods: Sequence[str], folder: Path, progress: Progress) -> None:
    """Search for each of the methods and write what was tried; nothing is changed."""
    make_folder(folder)
    origin = provenance()  # before anything is written, or a tree with results in it would no longer be clean
    records = []
    for method in methods:
        records.append(search(config, method, progress))
        write_json(folder / "tuning.json", {"searches": records} | origin)
        write_text(folder / "tuning.md", "\n".join([PREFACE, *(_markdown(config, record) for record in records)]))


def search(config: MatrixGameConfig, method: str, progress: Progress) -> dict[str, Any]:
    """Both rounds for one method: all that was tried, the best first, and what is chosen."""
    grid = GRIDS[method]
    candidates = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    first = _try(replace(config, alphas=FIRST_ALPHAS), method, candidates, 1 / 3, FIRST_SEEDS, progress)
    best = [trial.settings for trial in first[:FINALISTS]]
    final = _try(config, method, best, 1.0, FINAL_SEEDS, progress)
    return {
        "method": method,
        "chosen": final[0].settings,
        "final": [trial._asdict() for trial in final],
        "first": [trial._asdict() for trial in first],
    }


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


def _try(
    config: MatrixGameConfig,
    method: str,
    candidates: list[dict[str, float]],
    budget: float,
    seeds: tuple[int, ...],
    progress: Progress,
) -> list[Trial]:
    """Train every candidate with every alpha and seed, and score it: the best first."""
    training = getattr(config, method)
    iterations = int(training.iterations * budget) // config.curve_points * config.curve_points
    shortened = replace(config, **{method: replace(training, iterations=iterations)})
    networks = _train_all(shortened, method, candidates, seeds, progress)
    trials = [
        Trial(settings, budget, seeds, float(np.mean(of_alphas)), of_alphas.tolist())
        for settings, of_alphas in zip(candidates, _scores(config, method, networks, seeds), strict=True)
    ]
    return sorted(trials, key=lambda trial: trial.score, reverse=method != "predictor")


def _train_all(
    config: MatrixGameConfig,
    method: str,
    candidates: list[dict[str, float]],
    seeds: tuple[int, ...],
    progress: Progress,
) -> Any:
    """The finished networks by candidate and run: learning rates and the like are one more axis of the program."""
    runs = all_runs(config.alphas, seeds)
    settings = {name: jnp.array([candidate[name] for candidate in candidates], jnp.float32) for name in candidates[0]}
    chunk = getattr(config, method).iterations // config.curve_points

    def stage_of(settings):
        return STAGES[method](replace(config, **{method: replace(getattr(config, method), **settings)}))

    @jax.jit
    def go_on(states, settings, alphas):
        one = lambda state, setting, alpha: stage_of(setting).chunk(state, alpha, chunk)[0]
        return jax.vmap(jax.vmap(one, (0, None, 0)), (0, 0, None))(states, settings, alphas)

    state = jax.vmap(STAGES[method](config).start)(keys_for(runs, method))
    states = jax.tree.map(lambda leaf: jnp.stack([leaf] * len(candidates)), state)
    with progress.stage(f"{method}: {len(candidates)} candidates", config.curve_points) as advance:
        for _ in range(config.curve_points):
            states = jax.block_until_ready(go_on(states, settings, runs.alphas))
            advance()
    return STAGES[method](config).networks(states)


def _scores(config: MatrixGameConfig, method: str, networks: Any, seeds: tuple[int, ...]) -> np.ndarray:
    """The score of each candidate at each alpha, averaged over seeds."""
    runs = all_runs(config.alphas, seeds)
    measured = np.asarray(jax.jit(jax.vmap(lambda n: _measure_runs(config, method, n, runs)))(networks))
    by_alpha = measured.reshape(len(measured), len(config.alphas), len(seeds)).mean(-1)
    exact = ceilings_of(config)
    if method == "predictor":
        return by_alpha / np.array([ceiling.bayes_error_by_step[-1] for ceiling in exact])
    return 1 + by_alpha / np.array([ceiling.bayes_last_step for ceiling in exact])


def _measure_runs(config: MatrixGameConfig, method: str, networks: Any, runs: Runs) -> jax.Array:
    """For each run the predictor's last error, or the last reward less the Bayes player's on the same episodes."""

    def one(key, alpha, network):
        for_partners, for_play = jax.random.split(key)
        partners = partners_of(config, alpha).draw(for_partners, EPISODES)
        bayes = bayes_player(config, alpha)
        scores = lambda agent: step_scores(play_episodes(for_play, config.game, partners, agent), partners)
        if method == "predictor":
            return scores(BehaviourConditioned(network, bayes.policy)).prediction_error[-1]
        agent = network if method == "rl2" else BehaviourConditioned(bayes.belief, network)
        return scores(agent).reward[-1] - scores(bayes).reward[-1]

    return jax.vmap(one)(keys_for(runs, "evaluation"), runs.alphas, networks)


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
