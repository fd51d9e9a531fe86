"""The results of a study as tables, beside a paper's where there is one."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from coadapt.evaluation.adaptation import Opinion, calibration, calibration_by_step, steps_until_known
from coadapt.evaluation.returns import Cell
from coadapt.evaluation.statistics import crossed, interquartile_mean
from coadapt.evaluation.wording import interval, number
from coadapt.pipeline.adaptation import ANNOUNCED, ORACLE
from coadapt.pipeline.diagnosis import diagnosis_tables
from coadapt.pipeline.methods import METHODS
from coadapt.pipeline.partners import populations
from coadapt.pipeline.regret_tables import knowing_table, loss_table, regret_table, tells_losses
from coadapt.pipeline.results import Results
from coadapt.pipeline.seats import label_titles
from coadapt.pipeline.self_play import CLONES
from coadapt.pipeline.stages import environment_steps
from coadapt.pipeline.wording import ACTING, source_title, titles
from coadapt.tables import Table

SWITCH_NAMES = {ANNOUNCED: "announced: told that there is a new one", ORACLE: "oracle label: told its type"}
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
        if results.main in results.study.methods:
            made += [lead_table(results)] if len(results.study.methods) > 1 else []
            made.append(label_table(results))
    if results.opinions:
        made += [inference_table(results), belief_table(results)]
    if results.switches:
        made.append(switch_table(results))
    if results.optimum and results.showing.optimum_table:
        made.append(results.showing.optimum_table(results.study.task, results.optimum))
    if results.validation:
        made.append(validation_table(results))
    if results.partners:
        made.append(partner_table(results))
    return [*made[:1], *diagnosis_tables(results), *made[1:], budget_table(results)]


def trained_methods(results: Results) -> list[str]:
    """All that were evaluated and are not told anything, in the order of the tables."""
    there = {method for method, _, _ in results.cells}
    return [method for method in METHODS if method in there]


def score_table(results: Results, mode: str) -> Table:
    """What every method comes to with held-out partners, beside the paper's rows."""
    each = product(trained_methods(results), reversed(results.types))
    rows = [_score_row(results, method, mode, type_) for method, type_ in each]
    study, met = results.study, populations(results.held_out_ids)
    of_what = (
        f"seeds: {len(study.seeds)}, held-out populations: {len(met)}, {study.episodes:,} episodes with each partner"
    )
    title = f"With partners never met ({of_what}), the agent {ACTING[mode]}"
    ours = ["length", "return", "95% interval", "interquartile mean", "deviation over seeds", "finished"]
    theirs = ["paper: length, probably one too low", "paper: return"] if results.paper else []
    return Table(title, ["method", "partner", *ours, *theirs], rows, left=(1,))


def _score_row(results: Results, method: str, mode: str, type_: str) -> list[str]:
    length, total, finished = (results.by_seed(method, mode, type_, what) for what in ("length", "total", "finished"))
    estimate, paper = crossed(total), results.paper.get((method, type_))
    theirs = [f"{paper.length:.1f}", f"{paper.total:.3f}"] if paper else ["", ""] if results.paper else []
    middle, deviation = f"{interquartile_mean(total):.4f}", number(estimate.deviation)
    returns = [f"{estimate.mean:.4f}", interval(estimate), middle, deviation]
    return [titles(results)[method], type_, f"{length.mean():.2f}", *returns, f"{finished.mean():.2%}", *theirs]


def lead_table(results: Results) -> Table:
    """By how much the main method is ahead of each of the others, partner by partner."""
    main, rows = results.main, []
    for method in trained_methods(results):
        for type_ in reversed(results.types) if method != main else ():
            both = (results.by_seed(who, results.mode, type_, "total") for who in (str(main), method))
            estimate = crossed(np.subtract(*both))
            rows.append([titles(results)[method], type_, f"{estimate.mean:.4f}", interval(estimate)])
    ours = titles(results)[str(main)]
    title = f"Lead of the {ours} agent in return, the main agent {ACTING[results.mode]}"
    return Table(title, ["over", "partner", "lead", "95% interval"], rows, left=(1,))


def label_table(results: Results) -> Table:
    """What the label is worth: the same policy on its own belief, or with other labels."""
    there = {method for method, _, _ in results.cells}
    told = {results.main: "its own belief"} | label_titles(results.all_types)
    mean = lambda method, type_: results.by_seed(method, results.mode, type_, "total").mean()
    shown = {method: title for method, title in told.items() if method in there}
    rows = [[title, *(f"{mean(who, type_):.4f}" for type_ in results.types)] for who, title in shown.items()]
    return Table("The same policy with other labels: return with held-out partners", ["label", *results.types], rows)


BY_STEP = {"accuracy": "correct", "brier": "brier", "log_loss": "log_loss"}


def inference(results: Results) -> Iterator[dict[str, Any]]:
    """What every belief is worth about the partners of each type, and of all types, over all seeds: ready for JSON."""
    for type_ in (*results.types, None):
        for source in results.sources:
            kept, lasting = (results.opinion(source, type_, kept=so) for so in (True, False))
            found: dict[str, Any] = {name: by_step(kept, what) for name, what in BY_STEP.items()}
            found["steps_to_90"] = steps_until_known(found["accuracy"])
            for name in ("log_loss", "brier"):
                found[f"overall_{name}"] = float(np.sum(getattr(lasting, name)) / np.sum(lasting.counted))
            if type_ is None:  # only of all types together a belief can be said to be calibrated
                certain = calibration(lasting)
                found |= {"calibration": certain._asdict(), "calibration_error": certain.error}
                found["calibration_error_by_step"] = [of.error for of in calibration_by_step(kept)]
            yield {"source": source, "mode": results.mode, "partner_type": type_} | found


def inference_table(results: Results) -> Table:
    """The predictor beside the exact posterior, in the same games."""
    compared = [step for step in COMPARED_STEPS if step < results.max_steps]
    rows = []
    for row in inference(results):
        shown = [f"{row['accuracy'][step]:.1%}" for step in compared]
        known = "–" if row["steps_to_90"] is None else str(row["steps_to_90"])
        scores = [f"{row[name]:.3f}" for name in ("overall_log_loss", "overall_brier")]
        error = f"{row['calibration_error']:.3f}" if "calibration_error" in row else ""
        who = [row["partner_type"] or "all", source_title(results, row["source"])]
        rows.append([*who, *shown, known, *scores, error])
    seen = (f"right after {step} step{'s' if step > 1 else ''}" for step in compared)
    columns = ["partner", "who says it", *seen, "right in 90% after", "log loss", "Brier score", "calibration error"]
    title = (
        "Who the partner is: the predictor, and the exact posterior of somebody who knows all held-out partners and"
        " watches the same games; an episode that is over keeps its last belief, but counts no more for the last three"
    )
    return Table(title, columns, rows, left=(1,))


def belief_table(results: Results) -> Table:
    """How soon the predictor knows whom it plays with."""
    opinions = [results.opinion("predictor", type_) for type_ in results.types]
    accuracy, brier = ([by_step(opinion, what) for opinion in opinions] for what in ("correct", "brier"))
    certain = calibration_by_step(results.opinion("predictor"))
    steps = [step for step in SHOWN_STEPS if step < results.max_steps]
    at = lambda curves, n, how: [f"{curve[n]:{how}}" for curve in curves]
    rows = [[f"{n}", *at(accuracy, n, ".1%"), *at(brier, n, ".3f"), f"{certain[n].error:.3f}"] for n in steps]
    of_each = [f"{what}, {type_}" for what in ("accuracy", "Brier") for type_ in results.types]
    title = "The predictor with held-out partners, by steps since the meeting"
    return Table(title, ["after step", *of_each, "calibration error"], rows)


def by_step(opinion: Opinion, what: str) -> np.ndarray:
    """A mean by the number of steps seen."""
    return np.asarray(getattr(opinion, what)) / np.asarray(opinion.counted)


def switch_table(results: Results) -> Table:
    """What comes of it when another partner takes over."""
    there = {name for name, _, _ in results.switches}
    order = dict.fromkeys((results.main, *SWITCH_NAMES, *METHODS))
    names = {name: SWITCH_NAMES.get(str(name), titles(results).get(str(name), "")) for name in order if name in there}
    rows = [
        [f"{first}, then {second}", *(f"{switch_return(results, str(name), first, second):.4f}" for name in names)]
        for first, second in product(results.types, repeat=2)
    ]
    title = (
        f"Partner switch after {results.study.measures.switch_after} steps: return over all episodes, also those that"
        f" are over by then, the main agent {ACTING[results.mode]}; where both types are the same, nobody is switched"
    )
    return Table(title, ["partners", *names.values()], rows)


def switch_return(results: Results, name: str, first: str, second: str) -> float:
    """The mean over seeds and held-out populations."""
    of = [results.switches[name, seed, results.mode].cells for seed in results.study.seeds]
    return float(np.mean([cells[n].total for cells in of for n in results.pairs(first, second)]))


def validation_table(results: Results) -> Table:
    """What is chosen on training partners: what of the belief the policy gets, and how the agent acts."""
    types = results.all_types
    ways = dict.fromkeys((way, mode) for way, mode, _ in results.validation)
    rows = []
    for way, mode in ways:
        found = [validated(results, results.validation[way, mode, seed], seed) for seed in results.study.seeds]
        means = [float(np.mean([of[type_] for of in found])) for type_ in types]
        chosen = "chosen" if (way, mode) == (results.study.conditioning, results.mode) else ""
        rows.append([way, mode, *(f"{mean:.4f}" for mean in means), f"{np.mean(means):.4f}", chosen])
    training, execution = (np.mean([a[n] for a in results.accuracies.values()]) for n in range(2))
    title = (
        "Validation: return with the partners it trained with, by what the policy gets of the belief and how it acts; "
        f"the predictor's accuracy was {training:.1%} at the end of training and is {execution:.1%} in execution"
    )
    return Table(title, ["conditioning", "acting", *types, "all", ""], rows, left=(1, len(types) + 3))


def validated(results: Results, cells: list[Cell], seed: int) -> dict[str, float]:
    """The mean return with the training partners of each type."""
    ids = results.study.partners.ids(results.study, seed)
    totals = lambda type_: [cell.total for who, cell in zip(ids, cells, strict=True) if who.type == type_]
    return {type_: float(np.mean(totals(type_))) for type_ in results.all_types}


def partner_table(results: Results) -> Table:
    """All partners, measured in self-play."""
    met = lambda partner: "held out" if partner.id.held_out else "training"
    numbers = lambda partner: [f"{partner.iteration:,}", f"{partner.length:.2f}", f"{partner.total:.4f}"]
    rows = [[str(partner.id), met(partner), *numbers(partner)] for partner in results.partners]
    columns = ["partner", "met in", "iteration of its clone training", "length of its self-play", "return"]
    return Table("The partners, each measured with a copy of itself", columns, rows, left=(1,))


def budget(results: Results, name: str) -> dict[str, int]:
    """The steps of the game that each of a method's trainings takes, and the clones that it goes on from."""
    trainings = METHODS[name].trainings(results.study)
    steps = {training.purpose: environment_steps(training.settings) for training in trainings}
    goes_on = any(training.starts == CLONES for training in trainings)
    return ({CLONES: environment_steps(results.study.clones)} if goes_on else {}) | steps


def budget_table(results: Results) -> Table:
    """What each method consumes."""
    rows = []
    for method in results.study.methods:
        steps = budget(results, method)
        parts = " + ".join(f"{of:,} {training}" for training, of in steps.items())
        rows.append([titles(results)[method], parts, f"{sum(steps.values()):,}"])
    title = "Steps of the game a seed, not counting the clones of others"
    return Table(title, ["method", "steps", "in all"], rows, left=(1,))
