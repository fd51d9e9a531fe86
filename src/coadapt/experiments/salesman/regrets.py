"""How far everybody is from the best there is, and where what is lacking is lost: estimates, and tables of them."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import jax
import numpy as np

from coadapt.evaluation.statistics import Estimate, crossed, over_seeds
from coadapt.experiments.salesman.results import Results
from coadapt.experiments.salesman.wording import ACTING, NAMES, PaperRow, interval, is_the_papers, number, paper_row
from coadapt.experiments.salesman.world import KINDS
from coadapt.games.salesman.rules import Salesman
from coadapt.oracles.salesman_plans import Plans, best_plans
from coadapt.pipeline.stages import key_for
from coadapt.tables import Table


def regret_table(results: Results) -> Table:
    """How far every method is from the exact best response: the paper, ours and the optimum, side by side."""
    rows = [
        [NAMES[method], kind, *_beside_the_paper(regret, paper_row(results, method, kind)), *_regret_columns(regret)]
        for method, kind, regret in each_regret(results)
        if method in results.config.methods
    ]
    title = (
        "Return: the paper's, ours, and the exact best response's to each partner. Ours and the best are from the same"
        f" starts on {results.layouts} layouts, the main agent {ACTING[results.mode]}; closed is the"
        " share of the way from the paper's return of the same method to the best response's"
    )
    return Table(title, ["method", "partner", "paper", "closed", *REGRET_COLUMNS], rows, left=(1,))


def knowing_table(results: Results) -> Table:
    """The same of those who know more than an agent can."""
    rows = [
        [NAMES[who], kind, *_regret_columns(regret)]
        for who, kind, regret in each_regret(results)
        if who not in results.config.methods
    ]
    title = "The same for players that know more: the conditioned policy told who it is, and best responses"
    return Table(title, ["who", "partner", *REGRET_COLUMNS], rows, left=(1,))


class RegretOfKind(NamedTuple):
    """How far a method is from the best response to the partners of one kind."""

    best_total: float
    best_length: float
    lost: Estimate  # of the return
    longer: Estimate  # in steps

    def closed(self, paper: float) -> float:
        """The share of the way from the paper's return to the best response's."""
        return 1 - self.lost.mean / (self.best_total - paper)


def regret_of(results: Results, method: str, kind: str) -> RegretOfKind:
    """With intervals for new seeds, partners and layouts."""
    return _estimated(lambda what: results.regret(method, kind, what))


def _of_untrained(results: Results, who: str, kind: str) -> RegretOfKind:
    """There are partners and layouts, but no seeds."""
    return _estimated(lambda what: results.regret_of_untrained(who, kind, what))


def _estimated(of: Callable[[str], np.ndarray]) -> RegretOfKind:
    """From what was found of each seed and partner, or of each partner, by what it is."""
    return RegretOfKind(of("best_total").mean(), of("best_length").mean(), crossed(of("lost")), crossed(of("longer")))


def each_regret(results: Results) -> Iterator[tuple[str, str, RegretOfKind]]:
    """Of everybody with partners of each kind."""
    for method in regretting(results):
        yield from ((method, kind, regret_of(results, method, kind)) for kind in reversed(KINDS))
    for who in results.untrained:
        yield from ((who, kind, _of_untrained(results, who, kind)) for kind in reversed(KINDS))


REGRET_COLUMNS = ("return", "best response", "regret", "95% interval", "steps", "steps at best")


def _regret_columns(regret: RegretOfKind) -> list[str]:
    best, lost = regret.best_total, regret.lost
    steps = [f"{regret.best_length + regret.longer.mean:.2f}", f"{regret.best_length:.2f}"]
    return [f"{best - lost.mean:.4f}", f"{best:.4f}", f"{lost.mean:.4f}", interval(lost), *steps]


def _beside_the_paper(regret: RegretOfKind, paper: PaperRow | None) -> list[str]:
    """The paper's return, and how much of the way from there to the best response's is closed."""
    return ["", ""] if paper is None else [f"{paper.total:.3f}", f"{regret.closed(paper.total):.0%}"]


def regretting(results: Results) -> list[str]:
    """Whose regret was measured, in the order of the tables."""
    there = {method for method, _, _ in results.regrets}
    return [method for method in NAMES if method in there]


def loss_table(results: Results) -> Table:
    """Where the agent's return is lost, by how much less is lost by those who know more."""
    cells = lambda part: (f"{part.mean:.4f}", interval(part))
    rows = [[kind, *(c for part in losses(results, kind).values() for c in cells(part))] for kind in reversed(KINDS)]
    columns = ["partner", *(column for of in LOST for column in (of, "95% interval"))]
    return Table("Where the behaviour-conditioned agent loses its return against the best response", columns, rows)


LOST = (
    "by its predictor",
    "by what cannot be known so soon",
    "by acting, and by never having met them",
    "at most by not knowing which of its kind it is",
)


def losses(results: Results, kind: str) -> dict[str, Estimate]:
    """The parts of the agent's regret with partners of one kind, by where they are lost."""
    predicted, inferred, told = (results.regret(method, kind, "lost") for method in KNOWING_MORE)
    which = results.regret_of_untrained("best_response_to_kind", kind, "lost")
    return dict(zip(LOST, map(crossed, (predicted - inferred, inferred - told, told - which, which)), strict=True))


def tells_losses(results: Results) -> bool:
    """Whether all of those were measured by whom they are told apart."""
    return set(KNOWING_MORE) <= set(regretting(results))


KNOWING_MORE = ("behaviour_conditioned", "exact_posterior", "true_label")
"""The same policy with a better and better idea of whom it plays with."""


def bounds_table(results: Results) -> Table:
    """What the game allows."""
    assert results.bounds is not None
    walker = results.bounds.with_a_random_walker
    plans = plans_of(results.config.world.game)
    some = f"{PLANNED:,} starts"
    what: dict[str, tuple[Any, str, str]] = {
        "steps that two players need at least": (results.bounds.together, ".2f", ""),
        f"the same if they could wait, {some}": (plans.joint, ".2f", "12.9"),
        f"steps that one needs alone, {some}": (plans.alone, ".2f", "26.2"),
        "return of the best response to a random walker": (walker.total, ".4f", "-0.012 (by one alone)"),
        "steps it takes": (walker.length, ".2f", ""),
        "episodes it finishes": (walker.finished, ".2%", ""),
    }
    rows = []
    for name, (values, how, paper) in what.items():
        of = over_seeds(np.asarray(values))
        rows.append([name, number(of.mean, how), interval(of, how), paper if is_the_papers(results) else ""])
    layouts = len(walker.total)
    title = (
        f"The bounds of the game, exactly, on average over {layouts:,} layouts and all starts on each if nothing else"
        " is said"
    )
    return Table(title, ["", "mean", "95% interval", "paper"], rows)


PLANNED = 20_000
"""From so many starts the paper's two bounds are worked out."""


@cache
def plans_of(game: Salesman) -> Plans:
    """The best plans of two who may wait, and of one alone: the paper's bounds, from starts as the game has them."""
    state = jax.vmap(game.reset)(jax.random.split(key_for(0, "plans"), PLANNED))
    plans = best_plans(*(np.asarray(places) for places in (state.agents, state.subgoals, state.goal)))
    return plans._replace(alone=plans.alone[:, 0])
