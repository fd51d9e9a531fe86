"""The results of a study as others work with them: a summary of all numbers, a headline, a verdict."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from coadapt.evaluation.returns import Cell
from coadapt.evaluation.wording import listed
from coadapt.pipeline.diagnosis import diagnosis, why
from coadapt.pipeline.pages import Story
from coadapt.pipeline.partners import PartnerId, populations
from coadapt.pipeline.regret import Regret
from coadapt.pipeline.regret_tables import each_regret, losses, share_gained, tells_losses
from coadapt.pipeline.results import Results
from coadapt.pipeline.tables import BY_STEP, budget, by_step, inference, trained_methods, validated
from coadapt.pipeline.wording import titles

CAPTIONS = {
    "learning": "Steps an episode takes, against training: fewer are better.",
    "adaptation": "How soon the agent knows whom it plays with: dashed is the exact posterior of somebody who knows all"
    " partners. An episode that is over keeps its last belief.",
    "calibration": "On the dotted line a belief is right as often as it says.",
    "partner_switch": "Somebody else takes over in the middle of an episode: how soon the agent notices, and how soon"
    " if it is told that there is a new partner.",
    "evaluation_matrix": "Every trained agent with every partner: the seeds of one method should look alike, and no"
    " better with partners from their training, which have a star.",
}
"""Of the pictures that every study has."""


def story(results: Results) -> Story:
    """What is told of a study of any task."""
    showing = results.showing
    regret = (
        "What everybody loses against the exact best response, which knows the partner's mind: with the oracle label"
        " the policy knows its type alone; the rest is lost in finding out."
    )
    episodes = {
        f"episode_{type_}": f"An episode with a partner of type {type_}; the bars below are the agent's belief."
        for type_ in reversed(results.types)
    }
    return Story(showing.title, showing.about, {"regret": regret, **episodes, **CAPTIONS}, first_tables=2, place=1)


def summary(results: Results) -> dict[str, Any]:
    """All numbers, ready for JSON. Nothing in it depends on the clock."""
    study, held_out = results.study, results.held_out_ids
    return {
        "experiment": study.task.name,
        "story": story(results)._asdict(),
        "verdict": verdict(results),
        "diagnosis": diagnosis(results),
        "mode": results.mode,
        "conditioning": study.conditioning,
        "trained": study,
        "rows": [who | {"episodes": study.episodes} | _of_cell(cell) for who, cell in _each(held_out, results.cells)],
        "layouts": results.layouts if results.regrets else 0,
        "regret": list(_regret_rows(results)),
        "regret_by_type": list(_regret_by_type(results)),
        "losses": [
            {"partner_type": type_} | {name: part._asdict() for name, part in losses(results, type_).items()}
            for type_ in (results.types if tells_losses(results) else ())
        ],
        "joint_optimum": results.showing.optimum_summary(study.task, results.optimum) if results.optimum else {},
        "partners": [
            _whom(partner.id) | {name: value for name, value in partner._asdict().items() if name != "id"}
            for partner in results.partners
        ],
        "held_out": populations(held_out),
        "adaptation": list(_adaptation_rows(results)),
        "inference": list(inference(results)),
        "partner_switch": list(_switch_rows(results)),
        "evaluation_matrix": [who | _of_cell(cell) for who, cell in _each(results.met_in_matrix, results.matrix)],
        "validation": [
            {"conditioning": way, "mode": mode, "seed": seed, "partner_type": type_, "mean_return": total}
            for (way, mode, seed), cells in results.validation.items()
            for type_, total in validated(results, cells, seed).items()
        ],
        "accuracy": {
            str(seed): {"training": training, "execution": execution}
            for seed, (training, execution) in results.accuracies.items()
        },
        "environment_steps": {method: budget(results, method) for method in study.methods},
        "curves": {f"{training}_{seed}": values for (training, seed), values in results.curves.items()},
    }


def _of_cell(cell: Cell) -> dict[str, float]:
    means = {"mean_length": cell.length, "mean_return": cell.total}
    return means | {"return_standard_error": cell.total_error, "finished": cell.finished}


def _regret_rows(results: Results) -> Iterator[dict[str, Any]]:
    for who, regret in _each(results.held_out_ids, results.regrets):
        yield who | _of_regret(regret)
    for method, regrets in results.untrained.items():
        for partner, regret in zip(results.held_out_ids, regrets, strict=True):
            yield {"method": method, "seed": None, "mode": "argmax"} | _whom(partner) | _of_regret(regret)


def _of_regret(regret: Regret) -> dict[str, float]:
    error_over_layouts = lambda values: float(values.std(ddof=1) / len(values) ** 0.5)
    return {
        "best_response_return": regret.best_total,
        "best_response_length": regret.best_length,
        "regret_return": regret.lost.mean(),
        "regret_return_standard_error": error_over_layouts(regret.lost),
        "regret_length": regret.longer.mean(),
        "regret_length_standard_error": error_over_layouts(regret.longer),
    }


def _regret_by_type(results: Results) -> Iterator[dict[str, Any]]:
    """In the headline's mode: what is lost with new seeds, partners and layouts."""
    for who, type_, regret in each_regret(results):
        paper = results.paper.get((who, type_))
        yield {"method": who, "mode": results.mode, "partner_type": type_} | {
            "best_response_return": regret.best_total,
            "best_response_length": regret.best_length,
            "regret_return": regret.lost._asdict(),
            "regret_length": regret.longer._asdict(),
            "paper_return": None if paper is None else paper.total,
            "share_gained": share_gained(results, who, type_),
        }


def _each(
    partners: Sequence[PartnerId], measured: Mapping[tuple[str, int, str], list]
) -> Iterator[tuple[dict[str, Any], Any]]:
    """Whatever was measured with these partners, one by one, with who played with whom."""
    for (method, seed, mode), of_partners in measured.items():
        for partner, found in zip(partners, of_partners, strict=True):
            yield {"method": method, "seed": seed, "mode": mode} | _whom(partner), found


def _whom(partner: PartnerId) -> dict[str, Any]:
    return {"partner_type": partner.type, "partner_population": partner.population, "partner_id": str(partner)}


def _adaptation_rows(results: Results) -> Iterator[dict[str, Any]]:
    """By steps since the meeting, from none on."""
    for (source, seed, mode), notes in results.opinions.items():
        for n, partner in enumerate(results.held_out_ids):
            of_partner = jax.tree.map(lambda values, n=n: values[n], notes.kept)
            means = {name: by_step(of_partner, what) for name, what in BY_STEP.items()}
            yield {"source": source, "seed": seed, "mode": mode} | _whom(partner) | means


def _switch_rows(results: Results) -> Iterator[dict[str, Any]]:
    for (method, seed, mode), switch in results.switches.items():
        for n, (first, second) in enumerate(results.switched):
            who = {"method": method, "seed": seed, "mode": mode, "population": second.population}
            row = who | {"first": first.type, "second": second.type} | _of_cell(switch.cells[n])
            if switch.opinion is not None:
                about_the_second = jax.tree.map(lambda values, n=n: values[n], switch.opinion)
                row["accuracy"] = by_step(about_the_second, "correct")
            yield row


def headline(results: Results) -> dict[str, float]:
    """What runs are compared by: the return with partners of each type."""
    returns = {
        f"{titles(results)[method]}, {type_}": float(results.by_seed(method, results.mode, type_, "total").mean())
        for method in trained_methods(results)
        for type_ in reversed(results.types)
    }
    return returns or _validated(results)


def _validated(results: Results) -> dict[str, float]:
    if not results.validation:
        return {}
    chosen = results.study.conditioning, results.mode
    found = [validated(results, results.validation[*chosen, seed], seed) for seed in results.study.seeds]
    mean = lambda type_: float(np.mean([of[type_] for of in found]))
    return {f"with the {type_} partners it trained with": mean(type_) for type_ in reversed(results.all_types)}


def verdict(results: Results) -> str:
    """What was beaten by how much, and why the agent loses what it loses: a sentence of each that can be said."""
    return f"{_beside_the_paper(results)} {why(results)}".strip()


def _beside_the_paper(results: Results) -> str:
    """Nothing, where there is no paper's number."""
    main = str(results.main)
    papers = {type_: row for type_ in reversed(results.types) if (row := results.paper.get((main, type_)))}
    if not papers or not results.cells:
        return ""
    returns = {type_: float(results.by_seed(main, results.mode, type_, "total").mean()) for type_ in papers}
    more = [returns[type_] - row.total for type_, row in papers.items()]
    better = "more" if min(more) > 0 else "more (where it is negative: less)"
    ours, difference = (listed(f"{value:.4f}" for value in values) for values in (returns.values(), more))
    agent = f"With {listed(papers)} partners it has never met the agent"
    return f"{agent} returns {ours}: {difference} {better} than the paper's."
