"""The matrix game's results as people look at them: a summary, a table, two figures."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from coadapt.configs.data import plain
from coadapt.evaluation.episodes import StepScores
from coadapt.evaluation.figures import Line, Panel, draw_panels
from coadapt.evaluation.statistics import Estimate, over_seeds
from coadapt.experiments.matrix_game.config import FAST, MatrixGameConfig
from coadapt.experiments.matrix_game.scores import TRAINED
from coadapt.oracles.matrix import Optima
from coadapt.pipeline.pages import Story
from coadapt.runs.experiment import Report
from coadapt.storage.files import write_bytes, write_json, write_text
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
    "oracle_label": "oracle label",
    "prior_mean_label": "prior-mean label",
    "shuffled_label": "shuffled label",
}
"""What has learnt something, as people call it. The Bayes-optimal player is known exactly, and shown as an optimum."""
COLOURS = dict(zip(NAMES, ("tab:blue", "tab:orange", "tab:green", "tab:grey", "tab:red"), strict=True))

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

    @property
    def by_alpha(self) -> Iterator[tuple[int, float, Optima]]:
        """Each alpha with its number, and what no agent can beat there."""
        return zip(range(len(self.optima)), self.config.alphas, self.optima, strict=True)

    def curve_steps(self, method: str) -> np.ndarray:
        """The environment steps that a method had consumed at each point of its learning curve."""
        points = self.config.curve_points
        return np.arange(1, points + 1) / points * consumed(self.environment_steps)[method]


def consumed(environment_steps: dict[str, int]) -> dict[str, int]:
    """The environment steps of all that is trained for a method, by method."""
    of = environment_steps
    return {"behaviour_conditioned": of["predictor"] + of["policy"], "rl2": of["rl2"]}


def write_report(results: Results, folder: Path) -> Report:
    """Write everything into the folder, and say what there is to see."""
    write_json(folder / "summary.json", plain(summary(results)))
    rewards = reward_table(results), reward_table(results, "argmax")
    tables = [*rewards, comparison_table(results), size_table(results)]
    write_text(folder / "table.md", "\n".join(table.markdown() for table in tables))
    for name, draw in {"learning": draw_learning, "adaptation": draw_adaptation}.items():
        for ending, picture in draw(results).items():
            write_bytes(folder / f"{name}.{ending}", picture)
    closing = f"The pictures to look at are learning.png and adaptation.png. {verdict(results)}".strip()
    return Report(tables, headline(results), closing)


def summary(results: Results) -> dict[str, Any]:
    """All numbers, ready for JSON. Nothing in it depends on the clock."""
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
            for _, alpha, optimum in results.by_alpha
        ],
        "comparisons": [
            {"first": first, "second": second, "alpha": alpha, "difference": of.mean, "low": of.low, "high": of.high}
            for (first, second, alpha), of in _comparisons(results).items()
        ],
        "parameters": results.parameters,
        "environment_steps": results.environment_steps,
        "curves": {
            method: {"environment_steps": results.curve_steps(method), "last_step_reward": _by_alpha(results, curve)}
            for method, curve in results.curves.items()
        },
        "diagnostics": {
            stage: {name: _by_alpha(results, values) for name, values in of_stage.items()}
            for stage, of_stage in results.diagnostics.items()
        },
    }


def headline(results: Results) -> dict[str, float]:
    """What runs are compared by: the share of the optimum, over all alphas, then the reward at each of them."""
    rewards = {method: _mean_rewards(results, method) for method in TRAINED}
    best = sum(optimum.bayes_last_step for optimum in results.optima)
    shares = {f"{NAMES[m]}, share of the optimum": sum(each) / best for m, each in rewards.items() if best > 0}
    at_each = {m: zip(results.config.alphas, each, strict=True) for m, each in rewards.items()}
    return shares | {f"{NAMES[m]}, alpha {alpha:g}": reward for m, each in at_each.items() for alpha, reward in each}


def _mean_rewards(results: Results, method: str) -> list[float]:
    """Of the last step, with sampled actions, at each alpha."""
    return [float(results.last_step_rewards(method, "sample", n).mean()) for n in range(len(results.optima))]


def verdict(results: Results) -> str:
    """What was beaten by how much, in a sentence or two."""
    best = [optimum.bayes_last_step for optimum in results.optima]
    if min(best) <= 0:
        return ""  # where the best reward is not above zero there are no shares
    shares = {m: [mine / most for mine, most in zip(_mean_rewards(results, m), best, strict=True)] for m in TRAINED}
    ours, theirs = (f"{min(of_method):.1%} to {max(of_method):.1%}" for of_method in shares.values())
    steps = consumed(results.environment_steps)
    more = steps["rl2"] / steps["behaviour_conditioned"]
    budget = "as many steps" if more == 1 else f"{more:.2f} times as many steps"
    learning = "; RL2 was still learning when its training was over" if _still_learning(results, "rl2") else ""
    of_fast = steps["rl2"] / (FAST.rl2.iterations * FAST.rl2.steps_per_iteration)
    few = f"; it had {of_fast:.0%} of the fast preset's steps, which may be too few for it" if of_fast < 1 else ""
    return (
        f"With partners it has never met the agent earns {ours} of what the exact Bayes-optimal player earns, and RL2,"
        f" which had {budget}, {theirs}{learning}{few}."
    )


STILL_LEARNING = 0.01
"""So much of what can be had is gained in the last fifth of training by one that has not learnt all it can."""


def _still_learning(results: Results, method: str) -> bool:
    """Whether the reward still rose at the end of training, at any alpha by more than a little and than by chance."""
    curve = results.curves[method]
    late = max(0, len(curve) - 1 - max(1, len(curve) // 5))
    for number, optimum in enumerate(results.optima):
        rise = over_seeds(results.of_alpha(curve[-1] - curve[late], number))
        by_chance = rise.low <= 0  # which one seed alone does not tell
        if rise.mean > STILL_LEARNING * optimum.bayes_last_step and not by_chance:
            return True
    return False


def _rows(results: Results) -> list[dict[str, Any]]:
    config, rows = results.config, []
    for (method, mode), scores in results.scores.items():
        for replicate, (alpha, seed) in enumerate(product(config.alphas, config.seeds)):
            who = {"method": method, "alpha": alpha, "seed": seed, "mode": mode, "episodes": config.episodes_of(mode)}
            rewards = scores.reward[replicate]
            of_rewards = {"last_step_reward": rewards[-1], "mean_step_reward": rewards.mean()}
            rows.append(who | of_rewards | {"prediction_error": scores.prediction_error[replicate, -1]})
    return rows


def _comparisons(results: Results) -> dict[tuple[str, str, float], Estimate]:
    """Differences in the reward of the last step, seed by seed on the same partners, with 95% intervals over seeds."""
    rewards = lambda method, number: results.last_step_rewards(method, "sample", number)
    return {
        (first, second, alpha): over_seeds(rewards(first, number) - rewards(second, number))
        for first, second in COMPARISONS
        for number, alpha in enumerate(results.config.alphas)
    }


def _by_alpha(results: Results, values: np.ndarray) -> dict[str, np.ndarray]:
    """Values by point and replicate as, for each alpha, one row a seed."""
    return {str(alpha): results.of_alpha(values, number).T for number, alpha in enumerate(results.config.alphas)}


def reward_table(results: Results, mode: str = "sample") -> Table:
    """The reward of the last step: every method beside the exact optima."""
    cell = lambda of: f"{of.mean:.4f}" if np.isnan(of.deviation) else f"{of.mean:.4f} ± {of.deviation:.4f}"
    rows = []
    for number, alpha, optimum in results.by_alpha:
        estimates = {method: over_seeds(results.last_step_rewards(method, mode, number)) for method in NAMES}
        best = optimum.bayes_last_step
        shares = [f"{estimates[method].mean / best:.1%}" if best > 0 else "–" for method in TRAINED]
        exact = [f"{best:.4f}", f"{optimum.known_distribution:.4f}"]
        rows.append([f"{alpha:g}", *map(cell, estimates.values()), *exact, *shares])
    seeds, actions = len(results.config.seeds), "sampled" if mode == "sample" else "greedy"
    title = f"Reward of the last step, actions {actions}, mean ± standard deviation over {seeds} seeds"
    optima = ["Bayes optimum", "full-information optimum"]
    shares = [f"share of the optimum: {NAMES[method]}" for method in TRAINED]
    return Table(title, ["alpha", *NAMES.values(), *optima, *shares], rows)


def comparison_table(results: Results) -> Table:
    """How much more one earns than another."""
    cell = lambda of: f"{of.mean:+.4f}" if np.isnan(of.low) else f"{of.mean:+.4f} [{of.low:+.4f}, {of.high:+.4f}]"
    found, alphas = _comparisons(results), results.config.alphas
    rows = [[f"{alpha:g}", *(cell(found[(*methods, alpha)]) for methods in COMPARISONS)] for alpha in alphas]
    title = "Differences in the reward of the last step, on the same partners, with 95% intervals over seeds"
    return Table(title, ["alpha", *(f"{NAMES[first]} less {NAMES[second]}" for first, second in COMPARISONS)], rows)


def size_table(results: Results) -> Table:
    """What each method has and consumes."""
    steps, rows = consumed(results.environment_steps), []
    for method, networks in results.parameters.items():
        parts = " + ".join(f"{number:,} {network}" for network, number in networks.items())
        rows.append([NAMES[method], parts, f"{sum(networks.values()):,}", f"{steps[method]:,}"])
    return Table("Size and budget", ["method", "parameters", "in all", "environment steps a replicate"], rows)


def draw_learning(results: Results) -> dict[str, bytes]:
    """The reward of the last step against training, a panel an alpha, with the exact optimum."""
    millions = {method: results.curve_steps(method) / 1e6 for method in results.curves}
    whole = np.array([0, max(steps[-1] for steps in millions.values())])
    panels = []
    for number, alpha, optimum in results.by_alpha:
        lines = [_line(of, millions[of], results.of_alpha(curve, number)) for of, curve in results.curves.items()]
        panels.append(Panel(f"alpha = {alpha:g}", [*lines, _optimum(whole, np.full(2, optimum.bayes_last_step))]))
    x_label = "environment steps consumed by all networks of the method (millions)"
    title = "Learning to play with a partner never met: mean and standard deviation over seeds"
    return draw_panels(panels, x_label, "reward of the last step", title)


def draw_adaptation(results: Results) -> dict[str, bytes]:
    """Reward, and error of the prediction, against the step within the episode."""
    steps = np.arange(1, results.config.max_steps + 1)
    panels = []
    for title, name, exact in (
        ("reward", "reward", "bayes_by_step"),
        ("squared prediction error", "prediction_error", "bayes_error_by_step"),
    ):
        measured = {method: getattr(results.scores[method, "sample"], name).T for method in NAMES}
        for number, alpha, optimum in results.by_alpha:
            lines = [_line(method, steps, results.of_alpha(values, number)) for method, values in measured.items()]
            panels.append(Panel(f"{title}, alpha = {alpha:g}", [_optimum(steps, getattr(optimum, exact)), *lines]))
    title = "Finding out within one episode how the partner acts"
    return draw_panels(panels, "step of the episode", "", title, columns=min(3, len(results.optima)))


def _line(method: str, x: np.ndarray, by_seed: np.ndarray) -> Line:
    """The mean over seeds, the last axis, and the standard deviation if there is more than one."""
    deviation = by_seed.std(axis=-1, ddof=1) if by_seed.shape[-1] > 1 else None
    return Line(NAMES[method], x, by_seed.mean(-1), deviation, colour=COLOURS[method])


def _optimum(x: np.ndarray, y: np.ndarray) -> Line:
    return Line("exact Bayes optimum", x, y, style="--", colour="black")
