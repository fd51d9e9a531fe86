"""The salesman's results as tables, beside the paper's."""

import numpy as np

from coadapt.evaluation.adaptation import Opinion, calibration, calibration_by_step, steps_until_known
from coadapt.evaluation.statistics import crossed, interquartile_mean
from coadapt.experiments.salesman.adaptation import ANNOUNCED, SOURCES, TOLD, UNANNOUNCED
from coadapt.experiments.salesman.config import TRAININGS, SalesmanConfig
from coadapt.experiments.salesman.regrets import bounds_table, knowing_table, loss_table, regret_table, tells_losses
from coadapt.experiments.salesman.results import Results, only
from coadapt.experiments.salesman.scores import Cell
from coadapt.experiments.salesman.seats import LABEL_SOURCES
from coadapt.experiments.salesman.wording import ACTING, NAMES, SOURCE_NAMES, interval, number, paper_row
from coadapt.experiments.salesman.world import KINDS
from coadapt.tables import Table

EXCHANGE_NAMES = NAMES | {
    UNANNOUNCED: "the agent, told nothing",
    ANNOUNCED: "told that there is a new one",
    TOLD: "told its kind",
}
SHOWN_STEPS = (0, 1, 2, 3, 5, 8, 10, 15, 20, 30)
COMPARED_STEPS = (1, 3, 5, 10)


def tables(results: Results) -> list[Table]:
    """What the command prints, and what is there of it."""
    made: list[Table] = []
    if results.regrets:
        made.append(regret_table(results))
        made += [loss_table(results)] if tells_losses(results) else []
        made.append(knowing_table(results))
    if results.cells:
        others = dict.fromkeys(mode for _, _, mode in results.cells if mode != results.mode)
        made += [score_table(results, mode) for mode in (results.mode, *others)]
        led = "behaviour_conditioned" in results.config.methods and len(results.config.methods) > 1
        made += [lead_table(results)] if led else []
        made.append(source_table(results))
    if results.opinions:
        made += [inference_table(results), belief_table(results)]
    if results.exchanges:
        made.append(exchange_table(results))
    if results.bounds:
        made.append(bounds_table(results))
    if results.rehearsal:
        made.append(rehearsal_table(results))
    if results.partners:
        made.append(partner_table(results))
    return [*made, budget_table(results)]


def trained_methods(results: Results) -> list[str]:
    """All that were evaluated and are not told anything, in the order of the tables."""
    there = {method for method, _, _ in results.cells}
    return [method for method in NAMES if method in there and method not in LABEL_SOURCES]


def score_table(results: Results, mode: str) -> Table:
    """Table 2 of the paper, with our rows beside it."""
    rows = [_score_row(results, method, mode, kind) for method in trained_methods(results) for kind in reversed(KINDS)]
    config = results.config
    title = (
        f"With partners never met (seeds: {len(config.seeds)}, reference populations: {len(config.references)},"
        f" {config.episodes:,} episodes with each partner), the agent {ACTING[mode]}"
    )
    ours = ["length", "return", "95% interval", "interquartile mean", "deviation over seeds", "finished"]
    columns = ["method", "partner", *ours, "paper: length, probably one too low", "paper: return"]
    return Table(title, columns, rows, left=(1,))


def _score_row(results: Results, method: str, mode: str, kind: str) -> list[str]:
    length, total, finished = (results.by_seed(method, mode, kind, what) for what in ("length", "total", "finished"))
    estimate, paper = crossed(total), paper_row(results, method, kind)
    theirs = ["", ""] if paper is None else [f"{paper.length:.1f}", f"{paper.total:.3f}"]
    returns = [
        f"{estimate.mean:.4f}",
        interval(estimate),
        f"{interquartile_mean(total):.4f}",
        number(estimate.deviation),
    ]
    return [NAMES[method], kind, f"{length.mean():.2f}", *returns, f"{finished.mean():.2%}", *theirs]


def lead_table(results: Results) -> Table:
    """By how much the agent is ahead of each of the others, partner by partner."""
    rows = []
    for method in trained_methods(results):
        for kind in reversed(KINDS) if method != "behaviour_conditioned" else ():
            both = (results.by_seed(who, results.mode, kind, "total") for who in ("behaviour_conditioned", method))
            estimate = crossed(np.subtract(*both))
            rows.append([NAMES[method], kind, f"{estimate.mean:.4f}", interval(estimate)])
    title = f"Lead of the behaviour-conditioned agent in return, the main agent {ACTING[results.mode]}"
    return Table(title, ["over", "partner", "lead", "95% interval"], rows, left=(1,))


def source_table(results: Results) -> Table:
    """What the label is worth: the same policy, told by its own belief, or something else."""
    there = {method for method, _, _ in results.cells}
    told = [method for method in ("behaviour_conditioned", *LABEL_SOURCES) if method in there]
    mean = lambda method, kind: results.by_seed(method, results.mode, kind, "total").mean()
    rows = [
        ["told by its belief" if m == "behaviour_conditioned" else NAMES[m], *(f"{mean(m, k):.4f}" for k in KINDS)]
        for m in told
    ]
    return Table("The same policy with other labels: return with reference partners", ["label", *KINDS], rows)


def inference_table(results: Results) -> Table:
    """The predictor beside the exact posterior, in the same games."""
    compared = [step for step in COMPARED_STEPS if step < results.config.world.game.max_steps]
    rows = []
    for kind in (*KINDS, None):
        for source in SOURCES:
            accuracy = by_step(results.opinion(source, kind), "correct")
            known = steps_until_known(accuracy)
            scores = [f"{score:.3f}" for score in overall(results, source, kind).values()]
            error = f"{calibration(results.opinion(source, kept=False)).error:.3f}" if kind is None else ""
            shown = (f"{accuracy[step]:.1%}" for step in compared)
            rows.append(
                [kind or "all", SOURCE_NAMES[source], *shown, str("–" if known is None else known), *scores, error]
            )
    seen = (f"right after {step} step{'s' if step > 1 else ''}" for step in compared)
    columns = ["partner", "who says it", *seen, "right in 90% after", "log loss", "Brier score", "calibration error"]
    title = (
        "Who the partner is: the predictor, and the exact posterior of somebody who knows all reference partners and"
        " watches the same games; an episode that is over keeps its last belief, but counts no more for the last three"
    )
    return Table(title, columns, rows, left=(1,))


def overall(results: Results, source: str, kind: str | None) -> dict[str, float]:
    """What a belief is worth over all steps of all episodes."""
    opinion = results.opinion(source, kind, kept=False)
    scores = {"overall_log_loss": opinion.log_loss, "overall_brier": opinion.brier}
    return {name: float(np.sum(values) / np.sum(opinion.counted)) for name, values in scores.items()}


def belief_table(results: Results) -> Table:
    """How soon the predictor knows whom it plays with."""
    opinions = [results.opinion("predictor", kind) for kind in KINDS]
    accuracy, brier = ([by_step(opinion, what) for opinion in opinions] for what in ("correct", "brier"))
    certain = calibration_by_step(results.opinion("predictor"))
    steps = [step for step in SHOWN_STEPS if step < results.config.world.game.max_steps]
    at = lambda curves, step, how: [f"{curve[step]:{how}}" for curve in curves]
    rows = [
        [f"{step}", *at(accuracy, step, ".1%"), *at(brier, step, ".3f"), f"{certain[step].error:.3f}"] for step in steps
    ]
    columns = ["after step", *(f"accuracy, {kind}" for kind in KINDS), *(f"Brier, {kind}" for kind in KINDS)]
    title = "The predictor with reference partners, by steps since the meeting"
    return Table(title, [*columns, "calibration error"], rows)


def by_step(opinion: Opinion, what: str) -> np.ndarray:
    """A mean by the number of steps seen."""
    return np.asarray(getattr(opinion, what)) / np.asarray(opinion.counted)


def exchange_table(results: Results) -> Table:
    """What comes of it when another partner takes over."""
    there = {name for name, _, _ in results.exchanges}
    names = [name for name in (UNANNOUNCED, ANNOUNCED, TOLD, "label_blind", "lstm", "lstm_matched") if name in there]
    rows = [
        [f"{first}, then {second}", *(f"{exchange_return(results, name, first, second):.4f}" for name in names)]
        for first in KINDS
        for second in KINDS
    ]
    after = results.config.measures.exchange_after
    title = (
        f"Another partner takes over after {after} steps: return over all episodes, also those that are over by then,"
        f" the main agent {ACTING[results.mode]}; where both are the same, nothing is exchanged"
    )
    return Table(title, ["partners", *(EXCHANGE_NAMES[name] for name in names)], rows)


def exchange_return(results: Results, name: str, first: str, second: str) -> float:
    """The mean over seeds and reference populations."""
    of = [results.exchanges[name, seed, results.mode].cells for seed in results.config.seeds]
    return float(np.mean([cells[n].total for cells in of for n in results.pairs(first, second)]))


def rehearsal_table(results: Results) -> Table:
    """What is chosen on training partners: what the policy is fed, and how the agent acts."""
    ways = dict.fromkeys((feed, mode) for feed, mode, _ in results.rehearsal)
    rows = []
    for feed, mode in ways:
        kinds = [by_kind(results.rehearsal[feed, mode, seed]) for seed in results.config.seeds]
        means = [float(np.mean([of[kind] for of in kinds])) for kind in KINDS]
        chosen = "chosen" if (feed, mode) == (results.config.feed, results.mode) else ""
        rows.append([feed, mode, *(f"{mean:.4f}" for mean in means), f"{np.mean(means):.4f}", chosen])
    training, execution = (np.mean([a[n] for a in results.accuracies.values()]) for n in range(2))
    title = (
        "With the partners it trained with, return by what the policy is fed of the belief and how it acts; "
        f"the predictor's accuracy was {training:.1%} at the end of training and is {execution:.1%} in execution"
    )
    return Table(title, ["fed", "acting", *KINDS, "all", ""], rows, left=(1, 6))


def by_kind(cells: list[Cell]) -> dict[str, float]:
    """The mean return with the partners of each kind."""
    return {kind: float(np.mean([cell.total for cell in only(kind, cells)])) for kind in KINDS}


def partner_table(results: Results) -> Table:
    """All partners, measured in self-play."""
    references = set(results.config.references)
    rows = [
        [
            partner.id,
            "reference" if partner.seed in references else "training",
            f"{partner.iteration:,}",
            f"{partner.length:.2f}",
            f"{partner.total:.4f}",
        ]
        for partner in results.partners
    ]
    columns = ["partner", "met in", "iteration of its clone training", "length of its self-play", "return"]
    return Table("The partners, each measured with a copy of itself", columns, rows, left=(1,))


def budget(config: SalesmanConfig, method: str) -> dict[str, int]:
    """The steps of the game that each of a method's trainings takes."""
    clones = ("clones",) if "lstm_clones" not in TRAININGS[method] else ()
    return {training: config.environment_steps(training) for training in (*clones, *TRAININGS[method])}


def budget_table(results: Results) -> Table:
    """What each method consumes."""
    rows = []
    for method in results.config.methods:
        steps = budget(results.config, method)
        parts = " + ".join(f"{of:,} {training}" for training, of in steps.items())
        rows.append([NAMES[method], parts, f"{sum(steps.values()):,}"])
    return Table(
        "Steps of the game a seed, not counting the clones of others", ["method", "steps", "in all"], rows, left=(1,)
    )
