"""The results of a study as figures."""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from coadapt.evaluation.adaptation import calibration
from coadapt.evaluation.figures import Bar, Line, Panel, draw_bars, draw_matrix, draw_panels
from coadapt.pipeline.adaptation import ANNOUNCED
from coadapt.pipeline.methods import METHODS
from coadapt.pipeline.regret_tables import regret_of, regretting
from coadapt.pipeline.results import Results
from coadapt.pipeline.self_play import CLONES
from coadapt.pipeline.stages import environment_steps
from coadapt.pipeline.tables import by_step
from coadapt.pipeline.wording import ACTING, SOURCES, colours, source_title, titles, type_colours

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
    if results.switches and results.main:
        yield "partner_switch", draw_switch(results)
    if results.matrix:
        yield "evaluation_matrix", draw_evaluation_matrix(results)


def draw_regret(results: Results) -> Pictures:
    """What everybody loses against the exact best response, with partners of each type."""
    bars = []
    for method in regretting(results):
        estimates = [regret_of(results, method, type_).lost for type_ in reversed(results.types)]
        means = np.array([of.mean for of in estimates])
        reach = np.array([[of.mean - of.low for of in estimates], [of.high - of.mean for of in estimates]])
        has_interval = not np.isnan(reach).any()
        bars.append(Bar(titles(results)[method], means, reach if has_interval else None, colours(results)[method]))
    title = f"Return lost against the exact best response (95% intervals), the main agent {ACTING[results.mode]}"
    return draw_bars([f"{type_} partners" for type_ in reversed(results.types)], bars, "regret", title)


def draw_adaptation(results: Results) -> Pictures:
    """Accuracy and log loss against the steps since the meeting: of the belief, and of the exact posterior."""
    steps, panels = np.arange(results.max_steps), []
    sources = [source for source in results.sources if source in SOURCES]
    for name, title in {
        "correct": "how often the likeliest type is the true one",
        "log_loss": "log loss (0 is certain and right)",
    }.items():
        lines = []
        for type_, source in product((*results.types, None), sources):
            label, values = f"{type_ or 'all'}, {source_title(results, source)}", results.opinion(source, type_)
            colour = type_colours(results)[type_]
            lines.append(Line(label, steps, by_step(values, name), style=STYLES[source], colour=colour))
        panels.append(Panel(title, lines))
    title = "Finding out within one episode of which type a partner is"
    return draw_panels(panels, "steps since the meeting", "", title, legend_columns=2)


def draw_calibration(results: Results) -> Pictures:
    """How often a belief is right, by how certain it is."""
    panels = []
    for source in results.sources:
        found = calibration(results.opinion(source, kept=False))
        some = found.share > 0
        title = f"{source_title(results, source)}: {found.error:.3f} apart on average"
        right = Line("how often it is right", found.said[some], found.was[some], style="o-", colour="tab:blue")
        whole = np.array([1 / len(results.all_types), 1])  # nobody believes in the likeliest type less
        ideal = Line("as often as it says", whole, whole, style=":", colour="tab:grey")
        panels.append(Panel(title, [right, ideal]))
    return draw_panels(panels, "probability of the likeliest type", "share", "Does it know how much it knows?")


def draw_switch(results: Results) -> Pictures:
    """How soon the belief notices that another partner has taken over."""
    after = results.study.measures.switch_after
    since = np.arange(results.max_steps - after)
    panels = []
    for first in results.types:
        lines = []
        for second in (type_ for type_ in results.types if type_ != first):
            for name, style, manner in ((str(results.main), "-", "unannounced"), (ANNOUNCED, "--", "announced")):
                accuracy = by_step(results.after_switch(name, first, second), "correct")
                label = f"then {second}, {manner}"
                lines.append(Line(label, since, accuracy, style=style, colour=type_colours(results)[second]))
        panels.append(Panel(f"{first} at first", lines))
    title = f"After step {after} somebody else plays on: how often the agent knows the new partner's type"
    return draw_panels(panels, "steps since the partner switch", "accuracy", title, legend_columns=3)


def draw_evaluation_matrix(results: Results) -> Pictures:
    """Every agent with every partner."""
    partners = results.met_in_matrix
    order = [n for type_ in reversed(results.all_types) for n, partner in enumerate(partners) if partner.type == type_]
    runs = [(method, seed) for method, seed, mode in results.matrix if mode == results.mode]
    runs.sort(key=lambda run: list(METHODS).index(run[0]))
    values = np.array([[results.matrix[method, seed, results.mode][n].total for n in order] for method, seed in runs])
    rows = [f"{titles(results)[method]} {seed}" for method, seed in runs]
    columns = [str(partners[n]) + ("" if partners[n].held_out else " *") for n in order]
    known = "" if all(partner.held_out for partner in partners) else "; * is a partner that agents were trained with"
    title = f"Return of every agent with every partner, {ACTING[results.mode]}{known}"
    return draw_matrix(rows, columns, values, values - values.max(axis=0), title, "behind the best")


def draw_learning(results: Results) -> Pictures:
    """The length of episodes against training: clones with themselves, then each method with partners of each type."""
    steps = environment_steps(results.study.clones)
    lengths = [points["length"] for (training, _), points in results.curves.items() if training == CLONES]
    clones = [_curve("", [length], steps, None) for length in lengths]
    panels = [Panel("self-play", clones)] if clones else []
    for type_ in reversed(results.all_types):
        lines = []
        for name in results.study.methods:
            method = METHODS[name]
            (training,) = [t for t in method.trainings(results.study) if t.purpose == method.parts["policy"]]
            curves = [results.curves[training.purpose, seed][f"length_{type_}"] for seed in results.study.seeds]
            label = "conditioned policy, oracle label" if method.has_belief else method.title
            lines.append(_curve(label, curves, environment_steps(training.settings), method.colour))
        panels.append(Panel(f"training with {type_} partners", lines))
    x_label = "environment steps of this training (millions)"
    title = "Learning: mean and standard deviation over seeds, on training partners, actions sampled"
    return draw_panels(panels[::-1], x_label, "steps an episode", title, columns=len(panels))


def _curve(label: str, by_seed: Sequence[np.ndarray], steps: int, colour: str | None) -> Line:
    points = np.arange(1, len(by_seed[0]) + 1) / len(by_seed[0])
    deviation = np.std(by_seed, axis=0, ddof=1) if len(by_seed) > 1 else None
    return Line(label, points * steps / 1e6, np.mean(by_seed, axis=0), deviation, colour=colour)
