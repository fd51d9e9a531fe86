"""The salesman's results as others work with them: a summary of all numbers, a headline, a model card."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from coadapt.evaluation.adaptation import calibration, calibration_by_step, steps_until_known
from coadapt.evaluation.statistics import over_seeds
from coadapt.experiments.salesman.adaptation import SOURCES
from coadapt.experiments.salesman.ceilings import Regret
from coadapt.experiments.salesman.config import SalesmanConfig
from coadapt.experiments.salesman.regrets import each_regret, losses, plans_of, tells_losses
from coadapt.experiments.salesman.results import Results
from coadapt.experiments.salesman.scores import Cell
from coadapt.experiments.salesman.tables import (
    budget,
    by_kind,
    by_step,
    overall,
    partner_table,
    score_table,
    trained_methods,
)
from coadapt.experiments.salesman.wording import NAMES, paper_row
from coadapt.experiments.salesman.world import KINDS


def summary(results: Results) -> dict[str, Any]:
    """All numbers, ready for JSON. Nothing in it depends on the clock."""
    config = results.config
    return {
        "experiment": "salesman",
        "verdict": verdict(results),
        "mode": results.mode,
        "feed": config.feed,
        "trained": config,
        "rows": list(_rows(results)),
        "layouts": results.layouts if results.regrets else 0,
        "regret": list(_regret_rows(results)),
        "regret_by_kind": list(_regret_by_kind(results)),
        "losses": [
            {"partner_kind": kind} | {name: part._asdict() for name, part in losses(results, kind).items()}
            for kind in (KINDS if tells_losses(results) else ())
        ],
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
    for who, cell in _each(results.met_in_crossplay, results.crossplay):
        yield who | _of_cell(cell)


def _regret_rows(results: Results) -> Iterator[dict[str, Any]]:
    for who, regret in _each(results.reference_ids, results.regrets):
        yield who | _of_regret(regret)
    for method, regrets in results.untrained.items():
        for partner, regret in zip(results.reference_ids, regrets, strict=True):
            yield {"method": method, "seed": None, "mode": "argmax"} | _whom(partner) | _of_regret(regret)


def _of_regret(regret: Regret) -> dict[str, float]:
    return {
        "best_response_return": regret.best_total,
        "best_response_length": regret.best_length,
        "regret_return": regret.lost.mean(),
        "regret_return_standard_error": _error_over_layouts(regret.lost),
        "regret_length": regret.longer.mean(),
        "regret_length_standard_error": _error_over_layouts(regret.longer),
    }


def _error_over_layouts(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / len(values) ** 0.5)


def _regret_by_kind(results: Results) -> Iterator[dict[str, Any]]:
    """In the headline's mode: what is lost with new seeds, partners and layouts."""
    for who, kind, regret in each_regret(results):
        paper = paper_row(results, who, kind)
        yield {
            "method": who,
            "mode": results.mode,
            "partner_kind": kind,
            "best_response_return": regret.best_total,
            "best_response_length": regret.best_length,
            "regret_return": regret.lost._asdict(),
            "regret_length": regret.longer._asdict(),
            "closed": None if paper is None else regret.closed(paper.total),
        }


def _each(
    partners: Sequence[str], measured: Mapping[tuple[str, int, str], list]
) -> Iterator[tuple[dict[str, Any], Any]]:
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
    measured |= {f"{name}_length": values for name, values in plans_of(results.config.world.game)._asdict().items()}
    measured |= {f"random_walker_{name}": values for name, values in walker._asdict().items()}
    estimates = {name: over_seeds(np.asarray(values)) for name, values in measured.items()}
    intervals = {name: {"mean": of.mean, "low": of.low, "high": of.high} for name, of in estimates.items()}
    return {"layouts": len(walker.total)} | intervals


def _adaptation_rows(results: Results) -> Iterator[dict[str, Any]]:
    """By steps since the meeting, from none on."""
    for (source, seed, mode), notes in results.opinions.items():
        for n, partner in enumerate(results.reference_ids):
            of_partner = jax.tree.map(lambda values, n=n: values[n], notes.kept)
            means = {name: by_step(of_partner, what) for name, what in BY_STEP.items()}
            yield {"source": source, "seed": seed, "mode": mode} | _whom(partner) | means


BY_STEP = {"accuracy": "correct", "brier": "brier", "log_loss": "log_loss"}


def _inference_rows(results: Results) -> Iterator[dict[str, Any]]:
    """Over all seeds and partners of a kind, or of all kinds."""
    for source in SOURCES if results.opinions else ():
        for kind in (*KINDS, None):
            opinion = results.opinion(source, kind)
            found: dict[str, Any] = {name: by_step(opinion, what) for name, what in BY_STEP.items()}
            found |= {"steps_to_90": steps_until_known(found["accuracy"])}
            found |= overall(results, source, kind)
            if kind is None:  # only of all kinds together a belief can be said to be calibrated
                certain = calibration(results.opinion(source, kept=False))
                found |= {"calibration": certain._asdict(), "calibration_error": certain.error}
                found |= {"calibration_error_by_step": [of.error for of in calibration_by_step(opinion)]}
            yield {"source": source, "mode": results.mode, "partner_kind": kind} | found


def _exchange_rows(results: Results) -> Iterator[dict[str, Any]]:
    for (method, seed, mode), exchange in results.exchanges.items():
        populations = np.repeat(results.config.references, len(KINDS) ** 2)
        for n, (population, (first, second)) in enumerate(zip(populations, results.exchanged_kinds, strict=True)):
            who = {"method": method, "seed": seed, "mode": mode, "population": int(population)}
            row = who | {"first": first, "second": second} | _of_cell(exchange.cells[n])
            if exchange.opinion is not None:
                about_the_second = jax.tree.map(lambda values, n=n: values[n], exchange.opinion)
                row["accuracy"] = by_step(about_the_second, "correct")
            yield row


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


def verdict(results: Results) -> str:
    """What was beaten by how much, in a sentence: nothing, where the paper has no numbers."""
    method = "behaviour_conditioned"
    papers = {kind: row for kind in reversed(KINDS) if (row := paper_row(results, method, kind))}
    if not papers or not results.cells or method not in results.config.methods:
        return ""
    returns = {kind: float(results.by_seed(method, results.mode, kind, "total").mean()) for kind in papers}
    more = [returns[kind] - row.total for kind, row in papers.items()]
    better = "more" if min(more) > 0 else "more (where it is negative: less)"
    return (
        f"With {_listed(list(papers))} partners it has never met the agent returns"
        f" {_listed([f'{value:.4f}' for value in returns.values()])}: {_listed([f'{value:.4f}' for value in more])}"
        f" {better} than the paper's."
    )


def _listed(words: Sequence[str]) -> str:
    """Words as one says them: one, two and three."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def model_card(results: Results) -> str:
    """What somebody should know who takes the weights of this run."""
    config, game = results.config, results.config.world.game
    shown = [score_table(results, results.mode)] if results.cells else []
    agents = "".join(line for method, line in AGENT_FILES.items() if method in config.methods)
    partners = _partner_files(config)
    card = CARD.format(
        agents=agents.format(feed=config.feed, mode=results.mode),
        partners=partners,
        measured="" if shown else UNMEASURED,
        size=game.size,
        subgoals=game.subgoals,
        company=" ".join(_company(config)),
    )
    return "\n".join([card, *(t.markdown() for t in (*shown, partner_table(results)))])


def _partner_files(config: SalesmanConfig) -> str:
    """What is said of the reference partners: where they are, if there are any."""
    if not config.references:
        return ""
    return PACKAGED_PARTNERS if config.pretrained_references else PARTNER_FILES


def _company(config: SalesmanConfig) -> Iterator[str]:
    """Which agents trained with whose clones, a sentence for each company."""
    companies: dict[tuple[int, ...], list[int]] = {}
    for seed in config.seeds:
        companies.setdefault(tuple(sorted(config.population_of(seed))), []).append(seed)
    for clones, seeds in companies.items():
        yield f"Agents of {_seeds(seeds)} trained with clones of {_seeds(clones)}."


def _seeds(seeds: Sequence[int]) -> str:
    *others, last = map(str, seeds)
    return f"seeds {', '.join(others)} and {last}" if others else f"seed {last}"


AGENT_FILES = {
    "behaviour_conditioned": "- `behaviour-conditioned/SEED`: a policy and a skill predictor, without value networks."
    " The policy is fed the\n  predictor's {feed}; the headline is with actions by `{mode}`.\n",
    "lstm": "- `lstm/SEED`: the baseline.\n",
    "lstm_matched": "- `lstm-matched/SEED`: the baseline with as many steps as policy and predictor together.\n",
    "label_blind": "- `label-blind/SEED`: the control.\n",
}
PARTNER_FILES = "- `partners/SEED-KIND`: the reference partners, which no agent was trained with.\n"
PACKAGED_PARTNERS = "- The reference partners, which no agent was trained with, are those that come with coadapt.\n"
UNMEASURED = " No agent was\nmeasured with partners it had not trained with."
CARD = """# Agents and partners of the travelling-salesman gridworld

Weights of small networks (relation networks, some with an LSTM) for a cooperative game of two on a grid, trained from
nothing by coadapt. Each file has a manifest beside it: the configuration, the seed, the commits that made the stages it
comes from (`stages`), the one that wrote the file (`commit`), and what was measured.

{agents}{partners}- `training-partners/SEED-KIND`: the partners that agents trained with. The package comes without.

**For** research on cooperation with unknown partners: as baselines, as partners, as opponents of your own methods.
**Not for** any decision about people: the partners are networks, and nothing was measured with human ones.
**Limits:** one grid size ({size}), one number of subgoals ({subgoals}), three kinds of partners that all come from
self-play. {company}{measured}
"""
