"""How settings are searched: candidates trained side by side in two rounds, and scored against the exact optima."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.agents.behaviour_conditioned import BehaviourConditioned
from coadapt.arrays import Array, Count, Float, Key
from coadapt.evaluation.episodes import step_scores
from coadapt.experiments.matrix_game.config import MatrixGameConfig
from coadapt.experiments.matrix_game.replicates import Replicates, all_replicates, keys_for
from coadapt.experiments.matrix_game.scores import bayes_player, optima_of, table_for
from coadapt.experiments.matrix_game.training import LEARNERS, remedy_for
from coadapt.pipeline.stages import Learner, measuring_stage, training_stage
from coadapt.runs.stage import Info, Inputs, Stage

FIRST_SEEDS, FIRST_ALPHAS = (1000,), (0.3, 1.0)  # at smaller alphas almost any candidate does well
FINAL_SEEDS = (2000,)
FINALISTS = 3
EPISODES = 50_000

PPO_GRID: dict[str, tuple[Any, ...]] = {
    "learning_rate": (1e-3, 3e-3, 1e-2, 3e-2),
    "discount": (0.0, 0.9),
    "entropy_coefficient": (0.1, 0.3, 1.0),
}
GRIDS: dict[str, dict[str, tuple[Any, ...]]] = {
    "predictor": {"learning_rate": (5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2, 3.2e-2)},
    "policy": PPO_GRID,
    "rl2": PPO_GRID,
}


@dataclass(frozen=True)
class TuningConfig:
    """Whose settings are searched, and the experiment they are for."""

    experiment: MatrixGameConfig
    methods: tuple[str, ...] = tuple(GRIDS)

    def __post_init__(self) -> None:
        if not self.methods or not set(self.methods) <= set(GRIDS) or len(set(self.methods)) < len(self.methods):
            raise ValueError(f"methods must be some of {', '.join(GRIDS)}, each named once, not {list(self.methods)}")
        for method in self.methods:
            rounds(self, method)  # which refuses what cannot be shortened


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


def _training(of: Round, settings: Callable[[Inputs], dict[str, Array]], needs: tuple[str, ...]) -> Stage:
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
        (__name__,),
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
    optima = optima_of(of.config)
    least_errors = np.array([optimum.bayes_error_by_step[-1] for optimum in optima], np.float32)
    best_rewards = np.array([optimum.bayes_last_step for optimum in optima], np.float32)

    def measure(inputs: Inputs, keys: Key, part: Count) -> tuple[Array, Info]:
        del part  # there is but one
        networks = jax.tree.map(lambda leaf: leaf[-1], inputs[of.training].networks)
        measured = jax.vmap(lambda *one: _measure(of, *one))(keys, replicates.alphas, networks)
        by_alpha = measured.reshape(of.candidates, len(of.config.alphas), len(of.config.seeds)).mean(-1)
        scores = by_alpha / least_errors[None] if of.method == "predictor" else 1 + by_alpha / best_rewards[None]
        return scores, {"score": scores.mean(-1)}

    settings = {"round": of, "episodes": EPISODES}
    keys = keys_for(replicates, "evaluation")
    return measuring_stage(of.scoring, (__name__,), settings, measure, keys, 1, (of.training,), shown=("score",))


def _measure(of: Round, key: Any, alpha: Any, network: Any) -> Array:
    """The predictor's last error, or the last reward less the Bayes player's on the same episodes."""
    partners, play, _ = table_for(key, alpha, of.config, EPISODES, greedy=False)
    bayes = bayes_player(of.config, alpha)
    scores = lambda agent: step_scores(play(agent), partners)
    if of.method == "predictor":
        return scores(BehaviourConditioned(network, bayes.policy)).prediction_error[-1]
    agent = network if of.method == "rl2" else BehaviourConditioned(bayes.belief, network)
    return scores(agent).reward[-1] - scores(bayes).reward[-1]
