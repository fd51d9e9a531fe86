"""The matrix game's results as people look at them: a summary, a table, two figures."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from coadapt.evaluation.episodes import StepScores
from coadapt.evaluation.figures import Line, Panel, draw_panels
from coadapt.evaluation.statistics import Estimate, over_seeds
from coadapt.experiments.matrix_game.config import FAST, MatrixGameConfig
from coadapt.experiments.matrix_game.scores import METHODS, TRAINED
from coadapt.oracles.matrix import Optima
from coadapt.pipeline.pages import Story
from coadapt.tables import Table

STORY = Story(
    "The matrix game",
    "A partner's preferences among five actions stay hidden; ten steps are there to find them out and to profit.",
    {
        "learning": "Reward of the last step against training, a panel for each concentration of the partners: the"
        " nearer to the dashed line, the exact Bayes-optimal player, the better.",
        "adaptation": "Within one episode: reward rises and prediction error falls as the partner shows itself.",
    },
    place=0,
)

NAMES = {
    "behaviour_conditioned": "behaviour-conditioned",
    "rl2": "RL2",
    "bayes": "Bayes-optimal",
    "oracle_label": "oracle label",
    "prior_mean_label": "prior-mean label",
    "shuffled_label": "shuffled label",
}
COLOURS = {
    "behaviour_conditioned": "tab:blue",
    "rl2": "tab:orange",
    "bayes": "black",
    "oracle_label": "tab:green",
    "prior_mean_label": "tab:grey",
    "shuffled_label": "tab:red",
}


COMPARISONS = (
    ("oracle_label", "behaviour_conditioned"),
    ("behaviour_conditioned", "prior_mean_label"),
    ("behaviour_conditioned", "shuffled_label"),
    ("behaviour_conditioned", "rl2"),
)
"""Whose rewards are compared, the one expected to earn more first."""


class Results(NamedTuple):
    """Everything measured. Arrays are by replicate unless said otherwise; replicates are by alpha, then seed."""

    config: MatrixGameConfig
    optima: list[Optima]  # by alpha
    scores: dict[tuple[str, str], StepScores]  # by method and mode
    curves: dict[str, np.ndarray]  # by method: point, replicate
    curve_steps: dict[str, np.ndarray]  # by method: environment steps consumed at each point
    diagnostics: dict[str, dict[str, np.ndarray]]  # by stage and name: point, replicate
    parameters: dict[str, dict[str, int]]  # by method and network
    environment_steps: dict[str, int]  # by stage

    def of_alpha(self, by_replicate: ArrayLike, number: int) -> np.ndarray:
        """The seeds of one alpha, out of an array whose last axis is the replicate."""
        seeds = len(self.config.seeds)
        return np.asarray(by_replicate)[..., number * seeds : (number + 1) * seeds]

    def last_step_rewards(self, method: str, mode: str, number: int) -> np.ndarray:
        """The reward of the last step at one alpha, by seed."""
        return self.of_alpha(self.scores[method, mode].reward[:, -1], number)


def summary(results: Results) -> dict[str, Any]:
    """All numbers, ready for JSON. Nothing in it depends on the clock."""
    config = results.config
    return {
        "experiment": "matrix_game",
        "story": STORY._asdict(),
        "verdict": verdict(results),
        "rows": _rows(results),
        "optima": [
            {
                "alpha": alpha,
                "bayes_last_step": optimum.bayes_last_step,
                "bayes_mean_step": optimum.bayes_mean_step,
                "bayes_prediction_error": optimum.bayes_error_by_step[-1],
                "known_distribution": optimum.known_distribution,
                "known_distribution_standard_error": optimum.known_distribution_error,
            }
            for alpha, optimum in zip(config.alphas, results.optima, strict=True)
        ],
        "comparisons": _comparisons(results),
        "parameters": results.parameters,
        "environment_steps": results.environment_steps,
        "curves": {
            method: {"environment_steps": results.curve_steps[method], "last_step_reward": _by_alpha(results, curve)}
            for method, curve in results.curves.items()
        },
        "diagnostics": {
            stage: {name: _by_alpha(results, values) for name, values in of_stage.items()}
            for stage, of_stage in results.diagnostics.items()
        },
    }


def headline(results: Results) -> dict[str, float]:
    """What runs are compared by: the share of the optimum, over all alphas, then the reward at each of them."""
    rewards = {
        (method, number): float(results.last_step_rewards(method, "sample", number).mean())
        for method in TRAINED
        for number in range(len(results.config.alphas))
    }
    exact = [optimum.bayes_last_step for optimum in results.optima]
    shares = {
        f"{NAMES[method]}, share of the optimum": sum(rewards[method, n] for n in range(len(exact))) / sum(exact)
        for method in TRAINED
        if sum(exact) > 0
    }
    return shares | {
        f"{NAMES[method]}, alpha {results.config.alphas[number]:g}": reward
        for (method, number), reward in rewards.items()
    }


def verdict(results: Results) -> str:
    """What was beaten by how much, in a sentence or two."""
    said = {method: _shares_told(results, method) for method in TRAINED}
    if not all(said.values()):
        return ""  # where the best reward is not above zero there are no shares
    ours, theirs = (said[method] for method in TRAINED)
    steps = results.environment_steps
    more = steps["rl2"] / (steps["predictor"] + steps["policy"])
    budget = "as many steps" if more == 1 else f"{more:.2f} times as many steps"
    learning = "; RL2 was still learning when its training was over" if _still_learning(results, "rl2") else ""
    of_fast = steps["rl2"] / (FAST.rl2.iterations * FAST.rl2.steps_per_iteration)
    few = f"; it had {of_fast:.0%} of the fast preset's steps, which may be too few for it" if of_fast < 1 else ""
    return (
        f"With partners it has never met the agent earns {ours} of what the exact Bayes-optimal player earns, and RL2,"
        f" which had {budget}, {theirs}{learning}{few}."
    )


def _shares_told(results: Results, method: str) -> str:
    """From which share of the optimum to which, over all alphas."""
    rewards = [results.last_step_rewards(method, "sample", number).mean() for number in range(len(results.optima))]
    exact = [optimum.bayes_last_step for optimum in results.optima]
    if min(exact) <= 0:
        return ""
    shares = [reward / most for reward, most in zip(rewards, exact, strict=True)]
    return f"{min(shares):.1%} to {max(shares):.1%}"


STILL_LEARNING = 0.01
"""So much of what can be had is gained in the last fifth of training by one that has not learnt all it can."""


def _still_learning(results: Results, method: str) -> bool:
    """Whether the reward still rose at the end of training, at any alpha by more than a little and than by chance."""
    curve, exact = results.curves[method], [optimum.bayes_last_step for optimum in results.optima]
    late = max(0, len(curve) - 1 - max(1, len(curve) // 5))
    by_alpha = [results.of_alpha(curve, number) for number in range(len(exact))]
    risen = [over_seeds(of[-1] - of[late]) for of in by_alpha]
    by_chance = lambda rise: rise.low <= 0  # which one seed alone does not tell
    return any(
        rise.mean > STILL_LEARNING * most and not by_chance(rise) for rise, most in zip(risen, exact, strict=True)
    )


def _rows(results: Results) -> list[dict[str, Any]]:
    config = results.config
    replicates = [(alpha, seed) for alpha in config.alphas for seed in config.seeds]
    return [
        {
            "method": method,
            "alpha": alpha,
            "seed": seed,
            "mode": mode,
            "episodes": config.episodes_of(mode),
            "last_step_reward": scores.reward[replicate, -1],
            "mean_step_reward": scores.reward[replicate].mean(),
            "prediction_error": scores.prediction_error[replicate, -1],
        }
        for (method, mode), scores in results.scores.items()
        for replicate, (alpha, seed) in enumerate(replicates)
    ]


def _comparisons(results: Results) -> list[dict[str, Any]]:
    """Differences in the reward of the last step, seed by seed on the same partners, with 95% intervals over seeds."""
    compared = []
    for first, second in COMPARISONS:
        for number, alpha in enumerate(results.config.alphas):
            of_first, of_second = (results.last_step_rewards(method, "sample", number) for method in (first, second))
            estimate = over_seeds(of_first - of_second)
            names = {"first": first, "second": second, "alpha": alpha}
            compared.append(names | {"difference": estimate.mean, "low": estimate.low, "high": estimate.high})
    return compared


def _by_alpha(results: Results, values: np.ndarray) -> dict[str, np.ndarray]:
    """Values by point and replicate as, for each alpha, one row a seed."""
    return {str(alpha): results.of_alpha(values, number).T for number, alpha in enumerate(results.config.alphas)}


def reward_table(results: Results, mode: str = "sample") -> Table:
    """The reward of the last step: every method beside the exact optima."""
    learned = [method for method in METHODS if method != "bayes"]
    rows = []
    for number, (alpha, optimum) in enumerate(zip(results.config.alphas, results.optima, strict=True)):
        estimates = {method: over_seeds(results.last_step_rewards(method, mode, number)) for method in learned}
        shares = [_share(estimates[method].mean, optimum.bayes_last_step) for method in TRAINED]
        exact = [f"{optimum.bayes_last_step:.4f}", f"{optimum.known_distribution:.4f}"]
        rows.append([f"{alpha:g}", *map(_with_deviation, estimates.values()), *exact, *shares])
    seeds = len(results.config.seeds)
    actions = "sampled" if mode == "sample" else "greedy"
    return Table(
        f"Reward of the last step, actions {actions}, mean ± standard deviation over {seeds} seeds",
        [
            "alpha",
            *(NAMES[method] for method in learned),
            "Bayes optimum",
            "full-information optimum",
            *(f"share of the optimum: {NAMES[method]}" for method in TRAINED),
        ],
        rows,
    )


def _with_deviation(estimate: Estimate) -> str:
    mean = f"{estimate.mean:.4f}"
    return mean if np.isnan(estimate.deviation) else f"{mean} ± {estimate.deviation:.4f}"


def _share(reward: float, optimum: float) -> str:
    return f"{reward / optimum:.1%}" if optimum > 0 else "–"


def comparison_table(results: Results) -> Table:
    """How much more one earns than another."""
    cells = {(row["first"], row["second"], row["alpha"]): _with_interval(row) for row in _comparisons(results)}
    rows = [
        [f"{alpha:g}", *(cells[first, second, alpha] for first, second in COMPARISONS)]
        for alpha in results.config.alphas
    ]
    return Table(
        "Differences in the reward of the last step, on the same partners, with 95% intervals over seeds",
        ["alpha", *(f"{NAMES[first]} less {NAMES[second]}" for first, second in COMPARISONS)],
        rows,
    )


def _with_interval(row: dict[str, Any]) -> str:
    difference = f"{row['difference']:+.4f}"
    return difference if np.isnan(row["low"]) else f"{difference} [{row['low']:+.4f}, {row['high']:+.4f}]"


def size_table(results: Results) -> Table:
    """What each method has and consumes."""
    steps = results.environment_steps
    consumed = {"behaviour_conditioned": steps["predictor"] + steps["policy"], "rl2": steps["rl2"]}
    rows = [
        [
            NAMES[method],
            " + ".join(f"{number:,} {network}" for network, number in networks.items()),
            f"{sum(networks.values()):,}",
            f"{consumed[method]:,}",
        ]
        for method, networks in results.parameters.items()
    ]
    return Table("Size and budget", ["method", "parameters", "in all", "environment steps a replicate"], rows)


def draw_learning(results: Results) -> dict[str, bytes]:
    """The reward of the last step against training, a panel an alpha, with the exact optimum."""
    panels = []
    for number, (alpha, optimum) in enumerate(zip(results.config.alphas, results.optima, strict=True)):
        lines = []
        for method, curve in results.curves.items():
            of_alpha = results.of_alpha(curve, number)
            x = results.curve_steps[method] / 1e6
            lines.append(Line(NAMES[method], x, of_alpha.mean(1), _spread(of_alpha), colour=COLOURS[method]))
        ends = np.array([0, max(steps[-1] for steps in results.curve_steps.values())]) / 1e6
        best = np.full(2, optimum.bayes_last_step)
        lines.append(Line("exact Bayes optimum", ends, best, style="--", colour="black"))
        panels.append(Panel(f"alpha = {alpha:g}", lines))
    return draw_panels(
        panels,
        "environment steps consumed by all networks of the method (millions)",
        "reward of the last step",
        "Learning to play with a partner never met: mean and standard deviation over seeds",
    )


def draw_adaptation(results: Results) -> dict[str, bytes]:
    """Reward, and error of the prediction, against the step within the episode."""
    steps = np.arange(1, results.config.max_steps + 1)
    rewards, errors = [], []
    for number, (alpha, optimum) in enumerate(zip(results.config.alphas, results.optima, strict=True)):
        measured = {method: results.scores[method, "sample"] for method in METHODS if method != "bayes"}
        best = [Line("exact Bayes optimum", steps, optimum.bayes_by_step, style="--", colour="black")]
        least = [Line("exact Bayes optimum", steps, optimum.bayes_error_by_step, style="--", colour="black")]
        for method, scores in measured.items():
            for lines, by_replicate in ((best, scores.reward), (least, scores.prediction_error)):
                of_alpha = results.of_alpha(by_replicate.T, number)
                lines.append(Line(NAMES[method], steps, of_alpha.mean(1), _spread(of_alpha), colour=COLOURS[method]))
        rewards.append(Panel(f"reward, alpha = {alpha:g}", best))
        errors.append(Panel(f"squared prediction error, alpha = {alpha:g}", least))
    return draw_panels(
        [*rewards, *errors],
        "step of the episode",
        "",
        "Finding out within one episode how the partner acts",
        columns=min(3, len(rewards)),
    )


def _spread(by_seed: np.ndarray) -> np.ndarray | None:
    """The standard deviation over seeds, the last axis, if there is more than one."""
    return by_seed.std(axis=-1, ddof=1) if by_seed.shape[-1] > 1 else None
