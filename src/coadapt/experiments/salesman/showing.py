"""What only the salesman has to show: the paper's numbers, the joint optimum, and pictures of the grid."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import jax
import numpy as np

from coadapt.evaluation.statistics import over_seeds
from coadapt.evaluation.wording import interval, number
from coadapt.experiments.salesman.oracle import UNTRAINED
from coadapt.experiments.salesman.task import SalesmanTask
from coadapt.games.salesman.render import episode_gif, episode_strip
from coadapt.games.salesman.rules import Salesman
from coadapt.oracles.salesman_plans import Plans, best_plans
from coadapt.pipeline.showing import PaperRow, Renderer, Showing
from coadapt.pipeline.stages import key_for
from coadapt.tables import Table

PAPER_ROWS = {
    ("behaviour_conditioned", "skilled"): PaperRow(15.9, 0.080),
    ("behaviour_conditioned", "intermediate"): PaperRow(22.9, 0.011),
    ("behaviour_conditioned", "novice"): PaperRow(28.0, -0.040),
    ("lstm", "skilled"): PaperRow(17.8, 0.062),
    ("lstm", "intermediate"): PaperRow(25.4, -0.015),
    ("lstm", "novice"): PaperRow(31.8, -0.084),
}
"""The learned rows of Table 2. Lengths are most likely counted from zero, and so one less than ours."""

PLANNED = 20_000
"""From so many starts the paper's two best plans are worked out."""


def optimum_table(task: SalesmanTask, optimum: Mapping[str, Any]) -> Table:
    """What the game allows."""
    plans, some = plans_of(task.game), f"{PLANNED:,} starts"
    what: dict[str, tuple[Any, str, str]] = {
        "steps that two players need at least": (optimum["joint_optimum_length"], ".2f", ""),
        f"the same if they could wait, {some}": (plans.joint, ".2f", "12.9"),
        f"steps that one needs alone, {some}": (plans.alone, ".2f", "26.2"),
        "return of the best response to a random walker": (
            optimum["random_walker_total"],
            ".4f",
            "-0.012 (by one alone)",
        ),
        "steps it takes": (optimum["random_walker_length"], ".2f", ""),
        "episodes it finishes": (optimum["random_walker_finished"], ".2%", ""),
    }
    rows = []
    for name, (values, how, paper) in what.items():
        of = over_seeds(np.asarray(values))
        rows.append([name, number(of.mean, how), interval(of, how), paper if task.game == Salesman() else ""])
    layouts = len(optimum["random_walker_total"])
    title = (
        f"What the game allows, exactly, on average over {layouts:,} layouts and all starts on each if nothing"
        " else is said"
    )
    return Table(title, ["", "mean", "95% interval", "paper"], rows)


def optimum_summary(task: SalesmanTask, optimum: Mapping[str, Any]) -> dict[str, Any]:
    """The same for programs."""
    plans = {f"{name}_length": values for name, values in plans_of(task.game)._asdict().items()}
    estimates = {name: over_seeds(np.asarray(values)) for name, values in {**optimum, **plans}.items()}
    intervals = {name: {"mean": of.mean, "low": of.low, "high": of.high} for name, of in estimates.items()}
    return {"layouts": len(optimum["random_walker_total"])} | intervals


@cache
def plans_of(game: Salesman) -> Plans:
    """The best plans of two who may wait, and of one alone: the paper's, from starts as the game has them."""
    state = jax.vmap(game.reset)(jax.random.split(key_for(0, "plans"), PLANNED))
    plans = best_plans(*(np.asarray(places) for places in (state.agents, state.subgoals, state.goal)))
    return plans._replace(alone=plans.alone[:, 0])


SHOWING = Showing(
    title="The travelling-salesman gridworld",
    about="Two agents share a grid with four subgoals. One of them has to find out within a few steps whether the other"
    " is skilled, half-trained or a random walker, and to divide the work accordingly.",
    limits=lambda task: f"one grid size ({task.game.size}), one number of subgoals ({task.game.subgoals})",
    paper=lambda task: PAPER_ROWS if task.game == Salesman() else {},
    untrained=dict(
        zip(
            UNTRAINED,
            (
                "best response to the likeliest partner",
                "best response to the likeliest type on average",
                "best response to its type on average",
            ),
            strict=True,
        )
    ),
    optimum_table=optimum_table,
    optimum_summary=optimum_summary,
    renderer=Renderer(episode_gif, episode_strip),
)
