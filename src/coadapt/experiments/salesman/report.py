"""The salesman's results as people look at them: a summary, tables beside the paper's, figures."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from coadapt.evaluation.figures import Line, Panel, draw_panels
from coadapt.evaluation.statistics import crossed, over_seeds
from coadapt.evaluation.tables import Table
from coadapt.experiments.salesman.ceilings import Regret
from coadapt.experiments.salesman.config import TRAININGS, SalesmanConfig
from coadapt.experiments.salesman.scores import LABEL_SOURCES, MODES, Cell
from coadapt.experiments.salesman.world import KINDS

NAMES = {
    "behaviour_conditioned": "behaviour-conditioned",
    "lstm": "LSTM",
    "lstm_matched": "LSTM, as many steps as ours",
    "label_blind": "label-blind",
    "true_label": "told the truth",
    "shuffled_label": "told another's label",
    "always_skilled": "always told skilled",
    "always_novice": "always told novice",
}
COLOURS = {
    "behaviour_conditioned": "tab:blue",
    "lstm": "tab:orange",
    "lstm_matched": "tab:red",
    "label_blind": "tab:grey",
}
KIND_COLOURS = {"novice": "tab:red", "intermediate": "tab:orange", "skilled": "tab:green"}

PAPER_ROWS = {
    ("behaviour_conditioned", "skilled"): (15.9, 0.080),
    ("behaviour_conditioned", "intermediate"): (22.9, 0.011),
    ("behaviour_conditioned", "novice"): (28.0, -0.040),
    ("lstm", "skilled"): (17.8, 0.062),
    ("lstm", "intermediate"): (25.4, -0.015),
    ("lstm", "novice"): (31.8, -0.084),
}
"""Mean length and return that the paper prints. Its lengths most likely count from zero, so are one less than ours."""

ACTING = {"sample": "sampling its actions", "argmax": "taking its likeliest action"}

SHOWN_STEPS = (1, 2, 3, 5, 8, 10, 15, 20)
FEWEST_LASTING = 0.01
"""Of a step that fewer episodes than this share get to, nothing is said of beliefs: the few are no longer typical."""


class Partner(NamedTuple):
    """A partner as it was left behind by clone training."""

    seed: int
    kind: str
    iteration: int  # of clone training
    length: float  # of its self-play
    total: float  # the return of its self-play

    @property
    def id(self) -> str:
        return f"{self.seed}-{self.kind}"


class Results(NamedTuple):
    """Everything measured. What was not made in this run is empty."""

    config: SalesmanConfig
    mode: str  # how the agents act in the headline
    cells: dict[tuple[str, int, str], list[Cell]]  # by method, seed and mode: one for each reference partner
    beliefs: dict[int, dict[str, np.ndarray]]  # by seed and name, with sampled actions: reference partner, step
    regrets: dict[tuple[str, int, str], list[Regret]]  # by method, seed and mode: one for each reference partner
    partners: Sequence[Partner] = ()  # of all clones
    rehearsal: Mapping[tuple[str, str, int], list[Cell]] = MappingProxyType({})  # by feed, mode and seed
    accuracies: Mapping[int, tuple[float, float]] = MappingProxyType({})  # by seed: in training, and in execution then
    curves: Mapping[tuple[str, int], dict[str, np.ndarray]] = MappingProxyType({})  # by training, seed and name: points

    @property
    def reference_ids(self) -> list[str]:
        return [f"{seed}-{kind}" for seed in self.config.references for kind in KINDS]

    @property
    def methods(self) -> list[str]:
        """All that were evaluated, in the order of the tables."""
        there = {method for method, _, _ in self.cells}
        return [method for method in NAMES if method in there]

    def by_seed(self, method: str, mode: str, kind: str, what: str) -> np.ndarray:
        """A number of one method with the reference partners of one kind: seed, partner."""
        return np.array([self._of_kind(method, seed, mode, kind, what) for seed in self.config.seeds])

    def regret(self, method: str, kind: str, what: str) -> np.ndarray:
        """A number of one method's regret with the reference partners of one kind, in the headline: seed, partner."""
        of = [self.regrets[method, seed, self.mode] for seed in self.config.seeds]
        return np.array([[getattr(regret, what) for regret in self._only(kind, regrets)] for regrets in of])

    def _of_kind(self, method: str, seed: int, mode: str, kind: str, what: str) -> list[float]:
        return [getattr(cell, what) for cell in self._only(kind, self.cells[method, seed, mode])]

    def _only(self, kind: str, of_partners: list) -> list:
        """What belongs to the reference partners of one kind."""
        each = zip(self.reference_ids, of_partners, strict=True)
        return [of_partner for partner, of_partner in each if partner.endswith(f"-{kind}")]


def best_mode(rehearsal: Mapping[tuple[str, str, int], list[Cell]], feed: str) -> str:
    """How the agents are to act, chosen on training partners by the mean return over all of them."""
    mean = lambda mode: np.mean(
        [[c.total for c in cells] for (f, m, _), cells in rehearsal.items() if (f, m) == (feed, mode)]
    )
    return max(MODES, key=mean) if rehearsal else "sample"


def summary(results: Results) -> dict[str, Any]:
    """All numbers, ready for JSON. Nothing in it depends on the clock."""
    config = results.config
    return {
        "experiment": "salesman",
        "mode": results.mode,
        "feed": config.feed,
        "rows": list(_rows(results)),
        "regret": list(_regret_rows(results)),
        "partners": [partner._asdict() | {"partner_id": partner.id} for partner in results.partners],
        "references": list(config.references),
        "beliefs": {
            str(seed): {name: dict(zip(results.reference_ids, values, strict=True)) for name, values in of_seed.items()}
            for seed, of_seed in results.beliefs.items()
        },
        "rehearsal": [
            {"feed": feed, "mode": mode, "seed": seed, "kind": kind, "mean_return": total}
            for (feed, mode, seed), cells in results.rehearsal.items()
            for kind, total in _by_kind(cells).items()
        ],
        "accuracy": {
            str(seed): {"training": training, "execution": execution}
            for seed, (training, execution) in results.accuracies.items()
        },
        "environment_steps": {method: _budget(config, method) for method in config.methods},
        "curves": {f"{training}_{seed}": values for (training, seed), values in results.curves.items()},
    }


def _rows(results: Results) -> Iterator[dict[str, Any]]:
    for who, cell in _each(results, results.cells):
        yield who | {
            "episodes": results.config.episodes,
            "mean_length": cell.length,
            "mean_return": cell.total,
            "return_standard_error": cell.total_error,
            "finished": cell.finished,
        }


def _regret_rows(results: Results) -> Iterator[dict[str, Any]]:
    for who, regret in _each(results, results.regrets):
        yield who | {
            "best_response_return": regret.best_total,
            "best_response_length": regret.best_length,
            "regret_return": regret.total,
            "regret_return_standard_error": regret.total_error,
            "regret_length": regret.length,
        }


def _each(results: Results, measured: Mapping[tuple[str, int, str], list]) -> Iterator[tuple[dict[str, Any], Any]]:
    """Whatever was measured with reference partners, one by one, with who played with whom."""
    for (method, seed, mode), of_partners in measured.items():
        for partner, found in zip(results.reference_ids, of_partners, strict=True):
            kind = partner.partition("-")[2]
            who = {"method": method, "seed": seed, "partner_kind": kind, "partner_id": partner, "mode": mode}
            yield who, found


def _by_kind(cells: list[Cell]) -> dict[str, float]:
    """The mean return with the partners of each kind; partners come in turns of all kinds."""
    totals = np.array([cell.total for cell in cells]).reshape(-1, len(KINDS)).mean(axis=0)
    return dict(zip(KINDS, totals.tolist(), strict=True))


def _budget(config: SalesmanConfig, method: str) -> dict[str, int]:
    """The steps of the game that each of a method's trainings takes."""
    clones = ("clones",) if "lstm_clones" not in TRAININGS[method] else ()
    return {training: config.environment_steps(training) for training in (*clones, *TRAININGS[method])}


def headline(results: Results) -> dict[str, float]:
    """What runs are compared by: the return with partners of each kind."""
    trained = [method for method in results.methods if method not in LABEL_SOURCES]
    returns = {
        f"{NAMES[method]}, {kind}": float(results.by_seed(method, results.mode, kind, "total").mean())
        for method in trained
        for kind in reversed(KINDS)
    }
    rehearsed = {
        f"with the {kind} partners it trained with": float(
            np.mean(
                [_by_kind(results.rehearsal[results.config.feed, results.mode, s])[kind] for s in results.config.seeds]
            )
        )
        for kind in reversed(KINDS)
        if results.rehearsal
    }
    return returns or rehearsed


def tables(results: Results) -> list[Table]:
    """What the command prints, and what is there of it."""
    made = [partner_table(results)] if results.partners else []
    if results.rehearsal:
        made = [rehearsal_table(results), *made]
    if results.cells:
        other = next(mode for mode in MODES if mode != results.mode)
        made = [score_table(results, results.mode), score_table(results, other), source_table(results), *made]
    if results.regrets:
        made.insert(1, regret_table(results))
    if results.beliefs:
        made.append(belief_table(results))
    return [*made, budget_table(results)]


def score_table(results: Results, mode: str) -> Table:
    """Table 2 of the paper, with our rows beside it."""
    trained = [method for method in results.methods if method not in LABEL_SOURCES]
    rows = [_score_row(results, method, mode, kind) for method in trained for kind in reversed(KINDS)]
    seeds, references = len(results.config.seeds), len(results.config.references)
    title = (
        f"With partners never met ({seeds} seeds, {references} reference populations), the main agent {ACTING[mode]}"
    )
    ours = ["length", "return", "deviation over seeds", "finished"]
    columns = ["method", "partner", *ours, "paper: length, from zero", "paper: return"]
    return Table(title, columns, rows, left=(1,))


def _score_row(results: Results, method: str, mode: str, kind: str) -> list[str]:
    length, total, finished = (
        results.by_seed(method, mode, kind, what).mean(axis=1) for what in ("length", "total", "finished")
    )
    estimate = over_seeds(total)
    paper = PAPER_ROWS.get((method, kind))
    theirs = ["", ""] if paper is None else [f"{paper[0]:.1f}", f"{paper[1]:.3f}"]
    ours = [f"{length.mean():.2f}", f"{estimate.mean:.4f}", _number(estimate.deviation), f"{finished.mean():.2%}"]
    return [NAMES[method], kind, *ours, *theirs]


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.4f}"


def source_table(results: Results) -> Table:
    """What the label is worth: the same policy, told by its own belief, or something else."""
    told = [method for method in ("behaviour_conditioned", *LABEL_SOURCES) if method in results.methods]
    mean = lambda method, kind: results.by_seed(method, results.mode, kind, "total").mean()
    rows = [
        ["told by its belief" if m == "behaviour_conditioned" else NAMES[m], *(f"{mean(m, k):.4f}" for k in KINDS)]
        for m in told
    ]
    return Table("The same policy with other labels: return with reference partners", ["label", *KINDS], rows)


def regret_table(results: Results) -> Table:
    """How far everyone is from the exact best response."""
    methods = [method for method in NAMES if (method, results.config.seeds[0], results.mode) in results.regrets]
    rows = [_regret_row(results, method, kind) for method in methods for kind in reversed(KINDS)]
    columns = ["method", "partner", "best response", "return", "regret", "95% interval", "steps more", "closed"]
    layouts = len(results.regret(methods[0], KINDS[0], "by_layout")[0, 0])
    title = (
        f"Beside the exact best response to each partner, from the same starts on {layouts} layouts, the main agent"
        f" {ACTING[results.mode]}; closed is the share of the way from the paper's return to the best response's"
    )
    return Table(title, columns, rows, left=(1,))


def _regret_row(results: Results, method: str, kind: str) -> list[str]:
    """The return is that of the tables above, over many more layouts; the best response's is so much more."""
    estimate = crossed(results.regret(method, kind, "by_layout"))
    ours = results.by_seed(method, results.mode, kind, "total").mean()
    best, longer = ours + estimate.mean, results.regret(method, kind, "length").mean()
    interval = "–" if np.isnan(estimate.low) else f"{estimate.low:.4f} to {estimate.high:.4f}"
    paper = PAPER_ROWS.get((method, kind))
    closed = "" if paper is None else f"{(ours - paper[1]) / (best - paper[1]):.0%}"
    return [NAMES[method], kind, *(f"{n:.4f}" for n in (best, ours, estimate.mean)), interval, f"{longer:.2f}", closed]


def rehearsal_table(results: Results) -> Table:
    """What is chosen on training partners: what the policy is fed, and how the agent acts."""
    ways = dict.fromkeys((feed, mode) for feed, mode, _ in results.rehearsal)
    rows = []
    for feed, mode in ways:
        kinds = [_by_kind(results.rehearsal[feed, mode, seed]) for seed in results.config.seeds]
        means = [float(np.mean([of[kind] for of in kinds])) for kind in KINDS]
        chosen = "chosen" if (feed, mode) == (results.config.feed, results.mode) else ""
        rows.append([feed, mode, *(f"{mean:.4f}" for mean in means), f"{np.mean(means):.4f}", chosen])
    training, execution = (np.mean([a[n] for a in results.accuracies.values()]) for n in range(2))
    title = (
        "With the partners it trained with, return by what the policy is fed of the belief and how it acts; "
        f"the predictor's accuracy was {training:.1%} at the end of training and is {execution:.1%} in execution"
    )
    return Table(title, ["fed", "acting", *KINDS, "all", ""], rows, left=(1, 6))


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


def belief_table(results: Results) -> Table:
    """How soon the predictor knows whom it plays with."""
    rows = []
    for step in (s for s in SHOWN_STEPS if s <= results.config.world.game.max_steps):
        accuracy = [_belief(results, "correct", kind)[step - 1] for kind in KINDS]
        brier = [_belief(results, "brier", kind)[step - 1] for kind in KINDS]
        shown = lambda value, how: "–" if np.isnan(value) else format(value, how)
        rows.append([f"{step}", *(shown(a, ".1%") for a in accuracy), *(shown(b, ".3f") for b in brier)])
    columns = ["step", *(f"accuracy, {kind}" for kind in KINDS), *(f"Brier, {kind}" for kind in KINDS)]
    title = (
        "The predictor with reference partners, by step of the episode, over the episodes that last so long; the agent"
        " samples its actions"
    )
    return Table(title, columns, rows)


def _belief(results: Results, name: str, kind: str) -> np.ndarray:
    """A mean over seeds and the reference partners of one kind, by step."""
    partners = [n for n, partner in enumerate(results.reference_ids) if partner.endswith(f"-{kind}")]
    values = np.array([of_seed[name][partners] for of_seed in results.beliefs.values()])
    counted = np.array([of_seed["counted"][partners] for of_seed in results.beliefs.values()])
    weights = np.where(counted > 0, counted, np.nan)
    lasting = np.nansum(weights, axis=(0, 1))
    means = np.nansum(values * weights, axis=(0, 1)) / np.where(lasting > 0, lasting, np.nan)
    return np.where(lasting >= FEWEST_LASTING * lasting[0], means, np.nan)


def budget_table(results: Results) -> Table:
    """What each method consumes."""
    rows = []
    for method in results.config.methods:
        budget = _budget(results.config, method)
        parts = " + ".join(f"{steps:,} {training}" for training, steps in budget.items())
        rows.append([NAMES[method], parts, f"{sum(budget.values()):,}"])
    return Table(
        "Steps of the game a seed, not counting the clones of others", ["method", "steps", "in all"], rows, left=(1,)
    )


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


def draw_learning(results: Results) -> dict[str, bytes]:
    """The length of episodes against training: clones with themselves, then each method with partners of each kind."""
    clones = [
        _curve(f"clones {seed}", results, "clones", [seed], "length", None)
        for training, seed in results.curves
        if training == "clones"
    ]
    panels = [Panel("self-play", [line._replace(label="") for line in clones])]
    trainings = [t for t in ("policy", "label_blind", "lstm", "lstm_matched") if t in results.config.trainings]
    for kind in reversed(KINDS):
        lines = []
        for training in trainings:
            method = "behaviour_conditioned" if training == "policy" else training
            label = "conditioned policy, told the truth" if training == "policy" else NAMES[method]
            seeds = results.config.seeds
            lines.append(_curve(label, results, training, seeds, f"length_{kind}", COLOURS[method]))
        panels.append(Panel(f"training with {kind} partners", lines))
    return draw_panels(
        panels[::-1], "environment steps of this training (millions)", "steps an episode", LEARNING, columns=4
    )


LEARNING = "Learning: mean and standard deviation over seeds, on training partners, actions sampled"


def _curve(label: str, results: Results, training: str, seeds: Any, name: str, colour: str | None) -> Line:
    by_seed = np.array([results.curves[training, seed][name] for seed in seeds])
    points = np.arange(1, by_seed.shape[1] + 1) / by_seed.shape[1]
    steps = points * results.config.environment_steps(training) / 1e6
    deviation = by_seed.std(axis=0, ddof=1) if len(by_seed) > 1 else None
    return Line(label, steps, by_seed.mean(axis=0), deviation, colour=colour)


def draw_adaptation(results: Results) -> dict[str, bytes]:
    """Accuracy and Brier score of the belief against the step of the episode, on reference partners."""
    steps = np.arange(1, results.config.world.game.max_steps + 1)
    titles = {
        "correct": "how often the likeliest kind is the true one",
        "brier": "Brier score (0 is certain and right)",
    }
    panels = [
        Panel(title, [Line(kind, steps, _belief(results, name, kind), colour=KIND_COLOURS[kind]) for kind in KINDS])
        for name, title in titles.items()
    ]
    return draw_panels(panels, "step of the episode", "", "Finding out within one episode how skilled a partner is")
