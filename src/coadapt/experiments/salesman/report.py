"""The salesman's results as others work with them: a summary of all numbers, a headline, a model card."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from coadapt.evaluation.adaptation import calibration, steps_until_known
from coadapt.evaluation.statistics import over_seeds
from coadapt.experiments.salesman.adaptation import SOURCES
from coadapt.experiments.salesman.ceilings import Regret
from coadapt.experiments.salesman.results import Results, partner_ids
from coadapt.experiments.salesman.scores import Cell
from coadapt.experiments.salesman.tables import (
    NAMES,
    budget,
    by_kind,
    by_step,
    partner_table,
    score_table,
    trained_methods,
)
from coadapt.experiments.salesman.world import KINDS


def summary(results: Results) -> dict[str, Any]:
    """All numbers, ready for JSON. Nothing in it depends on the clock."""
    config = results.config
    return {
        "experiment": "salesman",
        "mode": results.mode,
        "feed": config.feed,
        "rows": list(_rows(results)),
        "regret": list(_regret_rows(results)),
        "bounds": _bounds(results),
        "partners": [partner._asdict() | {"partner_id": partner.id} for partner in results.partners],
        "references": list(config.references),
        "adaptation": list(_adaptation_rows(results)),
        "inference": list(_inference_rows(results)),
        "exchange": list(_exchange_rows(results)),
        "crossplay": list(_crossplay_rows(results)),
        "rehearsal": [
            {"feed": feed, "mode": mode, "seed": seed, "kind": kind, "mean_return": total}
            for (feed, mode, seed), cells in results.rehearsal.items()
            for kind, total in by_kind(cells).items()
        ],
        "accuracy": {
            str(seed): {"training": training, "execution": execution}
            for seed, (training, execution) in results.accuracies.items()
        },
        "environment_steps": {method: budget(config, method) for method in config.methods},
        "curves": {f"{training}_{seed}": values for (training, seed), values in results.curves.items()},
    }


def _rows(results: Results) -> Iterator[dict[str, Any]]:
    for who, cell in _each(results.reference_ids, results.cells):
        yield who | {"episodes": results.config.episodes} | _of_cell(cell)


def _of_cell(cell: Cell) -> dict[str, float]:
    return {
        "mean_length": cell.length,
        "mean_return": cell.total,
        "return_standard_error": cell.total_error,
        "finished": cell.finished,
    }


def _crossplay_rows(results: Results) -> Iterator[dict[str, Any]]:
    for who, cell in _each(crossplay_ids(results), results.crossplay):
        yield who | {"episodes": results.config.measures.episodes} | _of_cell(cell)


def crossplay_ids(results: Results) -> list[str]:
    """Whom everybody played with."""
    met = {len(cells) for cells in results.crossplay.values()}
    everyone = partner_ids(results.config.all_clones)
    return everyone if met == {len(everyone)} else results.reference_ids


def _regret_rows(results: Results) -> Iterator[dict[str, Any]]:
    for who, regret in _each(results.reference_ids, results.regrets):
        yield who | _of_regret(regret)
    for partner, regret in zip(results.reference_ids, results.responding, strict=False):
        who = {"method": "best_response_to_likeliest", "seed": None, "mode": "argmax"}
        yield who | _whom(partner) | _of_regret(regret)


def _of_regret(regret: Regret) -> dict[str, float]:
    return {
        "best_response_return": regret.best_total,
        "best_response_length": regret.best_length,
        "regret_return": regret.total,
        "regret_return_standard_error": regret.total_error,
        "regret_length": regret.length,
    }


def _each(partners: list[str], measured: Mapping[tuple[str, int, str], list]) -> Iterator[tuple[dict[str, Any], Any]]:
    """Whatever was measured with these partners, one by one, with who played with whom."""
    for (method, seed, mode), of_partners in measured.items():
        for partner, found in zip(partners, of_partners, strict=True):
            yield {"method": method, "seed": seed, "mode": mode} | _whom(partner), found


def _whom(partner: str) -> dict[str, str]:
    return {"partner_kind": partner.partition("-")[2], "partner_id": partner}


def _bounds(results: Results) -> dict[str, Any]:
    if results.bounds is None:
        return {}
    walker = results.bounds.with_a_random_walker
    measured = {"joint_optimum_length": results.bounds.together}
    measured |= {f"random_walker_{name}": values for name, values in walker._asdict().items()}
    estimates = {name: over_seeds(np.asarray(values)) for name, values in measured.items()}
    intervals = {name: {"mean": of.mean, "low": of.low, "high": of.high} for name, of in estimates.items()}
    return {"layouts": len(walker.total)} | intervals


def _adaptation_rows(results: Results) -> Iterator[dict[str, Any]]:
    """By step of the episode, means over the episodes that last so long: as many as `counted` says."""
    for (source, seed), opinion in results.opinions.items():
        for n, partner in enumerate(results.reference_ids):
            counted, correct, brier, log_loss = (np.asarray(values)[n] for values in opinion[:4])
            with np.errstate(invalid="ignore"):
                means = {"accuracy": correct / counted, "brier": brier / counted, "log_loss": log_loss / counted}
            yield {"source": source, "seed": seed} | _whom(partner) | {"counted": counted} | means


def _inference_rows(results: Results) -> Iterator[dict[str, Any]]:
    """Over all seeds and partners of a kind, or of all kinds."""
    for source in SOURCES if results.opinions else ():
        for kind in (*KINDS, None):
            opinion = results.opinion(source, kind)
            certain = calibration(opinion)
            yield {
                "source": source,
                "partner_kind": kind,
                "steps_to_90": steps_until_known(by_step(opinion, "correct")),
                "log_loss": float(np.sum(opinion.log_loss) / np.sum(opinion.counted)),
                "calibration_error": certain.error,
                "calibration": certain._asdict(),
            }


def _exchange_rows(results: Results) -> Iterator[dict[str, Any]]:
    for (method, seed, mode), exchange in results.exchanges.items():
        populations = np.repeat(results.config.references, len(KINDS) ** 2)
        for n, (population, (first, second)) in enumerate(zip(populations, results.exchanged_kinds, strict=True)):
            who = {"method": method, "seed": seed, "mode": mode, "population": int(population)}
            yield who | {"first": first, "second": second} | _of_cell(exchange.cells[n])


def headline(results: Results) -> dict[str, float]:
    """What runs are compared by: the return with partners of each kind."""
    returns = {
        f"{NAMES[method]}, {kind}": float(results.by_seed(method, results.mode, kind, "total").mean())
        for method in trained_methods(results)
        for kind in reversed(KINDS)
    }
    rehearsed = {
        f"with the {kind} partners it trained with": float(
            np.mean(
                [by_kind(results.rehearsal[results.config.feed, results.mode, s])[kind] for s in results.config.seeds]
            )
        )
        for kind in reversed(KINDS)
        if results.rehearsal
    }
    return returns or rehearsed


def model_card(results: Results) -> str:
    """What somebody should know who takes the weights."""
    config = results.config
    shown = [score_table(results, results.mode)] if results.cells else []
    lines = {"lstm": "- `lstm/SEED`: the baseline.\n", "label_blind": "- `label-blind/SEED`: the control.\n"}
    others = "".join(line for method, line in lines.items() if method in config.methods)
    parts = [
        CARD.format(feed=config.feed, mode=results.mode, others=others),
        *(t.markdown() for t in (*shown, partner_table(results))),
    ]
    return "\n".join(parts)


CARD = """# Agents and partners of the travelling-salesman gridworld

Weights of small networks (relation networks, some with an LSTM) for a cooperative game of two on a grid, trained from
nothing by `coadapt reproduce salesman`. Each file has a manifest beside it: the configuration, the seed, the commit and
what was measured.

- `behaviour-conditioned/SEED`: a policy and a skill predictor, without value networks. The policy is fed the
  predictor's {feed}; the headline is with actions by `{mode}`.
{others}- `partners/SEED-KIND`: the reference partners, which no agent was trained with.

**For** research on cooperation with unknown partners: as baselines, as partners, as opponents of your own methods.
**Not for** any decision about people: the partners are networks, and nothing was measured with human ones.
**Limits:** one grid size, one number of subgoals, three kinds of partners that all come from self-play. All agents
trained with clones of the same five seeds.
"""
