"""The salesman's results as figures."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from coadapt.evaluation.adaptation import calibration
from coadapt.evaluation.figures import Bar, Line, Panel, draw_bars, draw_matrix, draw_panels
from coadapt.experiments.salesman.adaptation import ANNOUNCED, SOURCES, UNANNOUNCED
from coadapt.experiments.salesman.regrets import regret_of, regretting
from coadapt.experiments.salesman.results import Results
from coadapt.experiments.salesman.tables import by_step
from coadapt.experiments.salesman.wording import ACTING, NAMES, SOURCE_NAMES
from coadapt.experiments.salesman.world import KINDS

COLOURS = {
    "behaviour_conditioned": "tab:blue",
    "lstm": "tab:orange",
    "lstm_matched": "tab:red",
    "label_blind": "tab:grey",
    "exact_posterior": "tab:cyan",
    "true_label": "tab:green",
}
KIND_COLOURS = {"novice": "tab:red", "intermediate": "tab:orange", "skilled": "tab:green", None: "black"}
"""Of each kind, and of all of them."""
STYLES = {"predictor": "-", "posterior": "--"}

Pictures = dict[str, bytes]
"""The contents of a figure's files, by their ending."""


def figures(results: Results) -> Iterator[tuple[str, Pictures]]:
    """All that there is something to draw of, by name."""
    if results.curves:
        yield "learning", draw_learning(results)
    if results.regrets:
        yield "regret", draw_regret(results)
    if results.opinions:
        yield "adaptation", draw_adaptation(results)
        yield "calibration", draw_calibration(results)
    if results.exchanges:
        yield "exchange", draw_exchange(results)
    if results.crossplay:
        yield "crossplay", draw_crossplay(results)


def draw_regret(results: Results) -> Pictures:
    """What everybody loses against the exact best response, with partners of each kind."""
    bars = []
    for method in regretting(results):
        estimates = [regret_of(results, method, kind).lost for kind in reversed(KINDS)]
        means = np.array([of.mean for of in estimates])
        reach = np.array([[of.mean - of.low for of in estimates], [of.high - of.mean for of in estimates]])
        bars.append(Bar(NAMES[method], means, None if np.isnan(reach).any() else reach, COLOURS[method]))
    title = f"Return lost against the exact best response (95% intervals), the main agent {ACTING[results.mode]}"
    return draw_bars([f"{kind} partners" for kind in reversed(KINDS)], bars, "regret", title)


def draw_adaptation(results: Results) -> Pictures:
    """Accuracy and log loss against the steps since the meeting: of the belief, and of the exact posterior."""
    steps = np.arange(results.config.world.game.max_steps)
    titles = {
        "correct": "how often the likeliest kind is the true one",
        "log_loss": "log loss (0 is certain and right)",
    }
    panels = [
        Panel(
            title,
            [
                Line(
                    f"{kind or 'all'}, {SOURCE_NAMES[source]}",
                    steps,
                    by_step(results.opinion(source, kind), name),
                    style=STYLES[source],
                    colour=KIND_COLOURS[kind],
                )
                for kind in (*KINDS, None)
                for source in SOURCES
            ],
        )
        for name, title in titles.items()
    ]
    return draw_panels(
        panels,
        "steps since the meeting",
        "",
        "Finding out within one episode how skilled a partner is",
        legend_columns=2,
    )


def draw_calibration(results: Results) -> Pictures:
    """How often a belief is right, by how certain it is."""
    panels = []
    for source in SOURCES:
        found = calibration(results.opinion(source, kept=False))
        some = found.share > 0
        title = f"{SOURCE_NAMES[source]}: {found.error:.3f} apart on average"
        right = Line("how often it is right", found.said[some], found.was[some], style="o-", colour="tab:blue")
        ideal = Line("as often as it says", np.array([0.3, 1]), np.array([0.3, 1]), style=":", colour="tab:grey")
        panels.append(Panel(title, [right, ideal]))
    return draw_panels(panels, "probability of the likeliest kind", "share", "Does it know how much it knows?")


def draw_exchange(results: Results) -> Pictures:
    """How soon the belief notices that another partner has taken over."""
    after = results.config.measures.exchange_after
    since = np.arange(results.config.world.game.max_steps - after)
    panels = []
    for first in KINDS:
        lines = []
        for second in (kind for kind in KINDS if kind != first):
            for name, style, manner in ((UNANNOUNCED, "-", "unannounced"), (ANNOUNCED, "--", "announced")):
                accuracy = by_step(results.after_exchange(name, first, second), "correct")
                label = f"then {second}, {manner}"
                lines.append(Line(label, since, accuracy, style=style, colour=KIND_COLOURS[second]))
        panels.append(Panel(f"{first} at first", lines))
    title = f"After step {after} somebody else plays on: how often the agent knows the new partner's kind"
    return draw_panels(panels, "steps since the exchange", "accuracy", title, legend_columns=3)


def draw_crossplay(results: Results) -> Pictures:
    """Every agent with every partner."""
    partners = results.met_in_crossplay
    order = [n for kind in reversed(KINDS) for n, partner in enumerate(partners) if partner.endswith(f"-{kind}")]
    runs = [(method, seed) for method, seed, mode in results.crossplay if mode == results.mode]
    runs.sort(key=lambda run: list(NAMES).index(run[0]))
    values = np.array(
        [[results.crossplay[method, seed, results.mode][n].total for n in order] for method, seed in runs]
    )
    rows = [f"{NAMES[method]} {seed}" for method, seed in runs]
    references = set(results.reference_ids)
    columns = [partners[n] + ("" if partners[n] in references else " *") for n in order]
    known = "; * is a partner that agents were trained with" if set(partners) > references else ""
    title = f"Return of every agent with every partner, {ACTING[results.mode]}{known}"
    return draw_matrix(rows, columns, values, values - values.max(axis=0), title, "behind the best")


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
