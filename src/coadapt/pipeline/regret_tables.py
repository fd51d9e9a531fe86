"""Everybody's regret against the exact best response, and where it is lost: estimates, and tables of them."""

from collections.abc import Iterator
from typing import NamedTuple

from coadapt.evaluation.statistics import Estimate, crossed
from coadapt.evaluation.wording import interval
from coadapt.pipeline.methods import methods_of
from coadapt.pipeline.results import Results
from coadapt.pipeline.wording import ACTING, titles
from coadapt.tables import Table


def regret_table(results: Results) -> Table:
    """How far every method is from the exact best response: the paper, ours and the optimum, side by side."""
    rows = [
        [titles(results)[method], type_, *_beside_it(results, method, type_), *_regret_columns(regret)]
        for method, type_, regret in each_regret(results)
        if method in results.study.methods
    ]
    title = (
        "Return: the paper's, ours, and the exact best response's to each partner. Ours and the best are from the same"
        f" starts on {results.layouts} layouts, the main agent {ACTING[results.mode]}; gained is the"
        " share of the way from the label-blind control's return to the best response's"
    )
    return Table(title, ["method", "partner", "paper", "gained", *REGRET_COLUMNS], rows, left=(1,))


def knowing_table(results: Results) -> Table:
    """The same of those who know more than an agent can."""
    rows = [
        [titles(results)[who], type_, *_regret_columns(regret)]
        for who, type_, regret in each_regret(results)
        if who not in results.study.methods
    ]
    knowing = "the conditioned policy on the exact posterior and with the oracle label, and best responses"
    title = f"The same for players that know more: {knowing}"
    return Table(title, ["who", "partner", *REGRET_COLUMNS], rows, left=(1,))


class RegretOfType(NamedTuple):
    """How far a method is from the best response to the partners of one type."""

    best_total: float
    best_length: float
    lost: Estimate  # of the return
    longer: Estimate  # in steps


def regret_of(results: Results, who: str, type_: str) -> RegretOfType:
    """With intervals for new seeds, partners and layouts; who was not trained has no seeds."""
    found = results.regret_of_untrained if who in results.untrained else results.regret
    of = lambda what: found(who, type_, what)
    return RegretOfType(of("best_total").mean(), of("best_length").mean(), crossed(of("lost")), crossed(of("longer")))


def each_regret(results: Results) -> Iterator[tuple[str, str, RegretOfType]]:
    """Of everybody with partners of each type."""
    for who in (*regretting(results), *results.untrained):
        yield from ((who, type_, regret_of(results, who, type_)) for type_ in reversed(results.types))


REGRET_COLUMNS = ("return", "best response", "regret", "95% interval", "steps", "steps at best")


def _regret_columns(regret: RegretOfType) -> list[str]:
    best, lost = regret.best_total, regret.lost
    steps = [f"{regret.best_length + regret.longer.mean:.2f}", f"{regret.best_length:.2f}"]
    return [f"{best - lost.mean:.4f}", f"{best:.4f}", f"{lost.mean:.4f}", interval(lost), *steps]


def _beside_it(results: Results, method: str, type_: str) -> list[str]:
    """The paper's return, and the share gained."""
    paper, share = results.paper.get((method, type_)), share_gained(results, method, type_)
    return ["" if paper is None else f"{paper.total:.3f}", "" if share is None else f"{share:.0%}"]


def share_gained(results: Results, method: str, type_: str) -> float | None:
    """The share of the way from the label-blind control's return to the best response's, if there is that control."""
    blind = next((name for name, each in methods_of(results.study).items() if each.is_blind), None)
    if blind in (None, method) or method not in results.study.methods:
        return None
    lost, lost_blindly = (results.regret(each, type_, "lost").mean() for each in (method, str(blind)))
    return float(1 - lost / lost_blindly)


def regretting(results: Results) -> list[str]:
    """Whose regret was measured, in the order of the tables."""
    there = {method for method, _, _ in results.regrets}
    return [method for method in titles(results) if method in there]


def loss_table(results: Results) -> Table:
    """Where the agent's return is lost, by how much less is lost by those who know more."""
    cells = lambda part: (f"{part.mean:.4f}", interval(part))
    rows = [
        [type_, *(c for part in losses(results, type_).values() for c in cells(part))]
        for type_ in reversed(results.types)
    ]
    lost = losses(results, results.types[0])
    columns = ["partner", *(column for of in lost for column in (of, "95% interval"))]
    ours = titles(results)[str(results.main)]
    return Table(f"Where the {ours} agent loses its return against the best response", columns, rows)


LOST = (
    "by its predictor",
    "by what cannot be known so soon",
    "by acting, and by never having met them",
    "at most by not knowing which of its type it is",
)


def losses(results: Results, type_: str) -> dict[str, Estimate]:
    """The parts of the agent's regret with partners of one type, by where they are lost."""
    predicted, inferred, told = (results.regret(str(method), type_, "lost") for method in (results.main, *KNOWING_MORE))
    last = [told]
    if TO_TYPE in results.untrained:
        which = results.regret_of_untrained(TO_TYPE, type_, "lost")
        last = [told - which, which]
    return dict(zip(LOST, map(crossed, (predicted - inferred, inferred - told, *last)), strict=False))


def tells_losses(results: Results) -> bool:
    """Whether all of those were measured by whom they are told apart."""
    return {results.main, *KNOWING_MORE} <= set(regretting(results))


KNOWING_MORE = ("exact_posterior", "oracle_label")
"""The main method's policy with a better and better idea of whom it plays with."""
TO_TYPE = "best_response_to_type"
"""The untrained player that does what is best with a partner that is, at every step, another one of its type."""
