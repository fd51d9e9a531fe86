"""Every number in what the README says of results is the committed one.

When results are made again and a digit changes, the assertion that fails has what the README says on its left, and what
it should say on its right. A sentence in other words needs its pattern here in other words, too.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.sizes import FULL
from coadapt.evaluation.statistics import crossed
from coadapt.experiments.salesman.task import TYPES
from coadapt.pipeline.regret_tables import LOST
from tests.results import test_matrix_game_results as matrix_game
from tests.results import test_salesman_results as salesman

ROOT = Path(__file__).parents[2]
SECTIONS = ("The result", "The travelling-salesman gridworld", "How fast")
OURS = salesman.FAST.methods[0]
BEST_FIRST = tuple(reversed(TYPES))
PREDICTOR, TOO_SOON, ACTING, WHICH = LOST
NO_RESULTS = ("all 95% intervals", "the 26.2 steps of one agent alone")
"""What else has a number in it: how sure intervals are, and what the paper says."""


def prose_of(section):
    """A section's sentences on one line, without tables and their titles, commands, pictures and addresses of links."""
    (text,) = re.findall(
        rf"^## {section}\n(.*?)(?=^## |\Z)", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE
    )
    kept = [line for line in text.splitlines() if not line.startswith(("|", "**", "    ", "!["))]
    return re.sub(r"\]\([^)]*\)", "]", " ".join(" ".join(kept).split()))


PROSE = "\n".join(map(prose_of, SECTIONS))


def rounded(values, how):
    """One number, or from where to where, if not all are the same when they are rounded."""
    least, most = (f"{of(values):{how}}" for of in (min, max))
    return least if least == most else f"{least} to {most}"


def percent(share):
    return f"{share:.0%}"


ALPHAS = tuple(matrix_game.OPTIMA)


def rewards(method):
    return {alpha: matrix_game.rewards(method, alpha).mean() for alpha in ALPHAS}


def short_of_optimum(method):
    return {alpha: 1 - of / matrix_game.OPTIMA[alpha]["bayes_last_step"] for alpha, of in rewards(method).items()}


def within_the_optimum():
    return (f"{np.ceil(100 * max(short_of_optimum(OURS).values())):.0f}%",)


def rl2_behind():
    """At which alphas the 95% interval of the lead is above zero, and where RL2 lacks the most."""
    leads = [c for c in matrix_game.SUMMARY["comparisons"] if (c["first"], c["second"]) == (OURS, "rl2")]
    behind = [f"{lead['alpha']:g}" for lead in leads if lead["low"] > 0]
    lacking = short_of_optimum("rl2")
    worst = max(lacking, key=lacking.__getitem__)
    return *behind, percent(lacking[worst]), f"{worst:g}"


def settings_tried():
    searches = json.loads((ROOT / "results/matrix_game_tuning/tuning.json").read_text())["searches"]
    tried = {search["method"]: str(len(search["first"])) for search in searches}
    return tried["policy"], tried["predictor"], tried["rl2"]


def matrix_game_steps():
    steps = matrix_game.SUMMARY["environment_steps"]
    return (rounded([steps["policy"] + steps["predictor"], steps["rl2"]], ",d"),)


def told_the_truth():
    more = [told - rewards(OURS)[alpha] for alpha, told in rewards("oracle_label").items()]
    return f"{min(more):.3f}", f"{max(more):.3f}"


def told_the_average():
    return (f"{max(rewards('prior_mean_label').values()):.3f}",)


def told_anothers():
    others, truths = rewards("shuffled_label"), rewards("oracle_label")
    losing = [alpha for alpha, reward in others.items() if reward < 0]
    assert losing == [alpha for alpha in ALPHAS if alpha <= max(losing)]
    least = min(ALPHAS, key=lambda alpha: truths[alpha] - others[alpha])
    return f"{max(losing):g}", f"{least:g}", f"{others[least]:.3f}"


def lead(name, *others):
    ours = salesman.by_partner(OURS, name)
    return rounded([crossed(ours - salesman.by_partner(other, name)).mean for other in others], ".3f")


def leads_over(*others):
    return tuple(lead(name, *others) for name in BEST_FIRST)


def regret(name):
    (found,) = (row for row in salesman.of_type("regret_by_type", name) if row["method"] == OURS)
    return found


def gained():
    return tuple(percent(regret(name)["share_gained"]) for name in BEST_FIRST)


def lost(name, *where):
    (parts,) = salesman.of_type("losses", name)
    return percent(sum(parts[part]["mean"] for part in where) / regret(name)["regret_return"]["mean"])


def with_a_random_walker():
    optimum = salesman.SUMMARY["joint_optimum"]
    said = lambda name, how: [f"{optimum[name][part]:{how}}" for part in ("mean", "low", "high")]
    steps, total = said("random_walker_length", ".2f"), said("random_walker_total", ".4f")
    return *steps, f"{optimum['layouts']:,}", *total


def right_after_ten_steps(source):
    """About half-trained partners, and about all."""
    accuracy = {(row["source"], row["partner_type"]): row["accuracy"][10] for row in salesman.SUMMARY["inference"]}
    return tuple(percent(accuracy[source, name]) for name in ("intermediate", None))


def after_a_switch(*methods):
    found = {
        method: [row["mean_return"] for row in salesman.SUMMARY["partner_switch"] if _a_walker_takes_over(row, method)]
        for method in methods
    }
    return rounded([np.mean(returns) for returns in found.values()], ".3f")


def _a_walker_takes_over(row, method):
    wanted = (method, salesman.SUMMARY["mode"], "skilled", "novice")
    return (row["method"], row["mode"], row["first"], row["second"]) == wanted


def lengths_of_episodes():
    """Of the baseline that plays with itself; the shorter one is what the benchmark takes for a trained pair's."""
    curves = [curves["length"] for of, curves in salesman.SUMMARY["curves"].items() if of.startswith("lstm_clones")]
    assert np.max([curve[len(curve) // 2 :] for curve in curves]) <= FULL.short_episode
    return f"{np.max([curve[0] for curve in curves]):.0f}", f"{FULL.short_episode}"


CLAIMS = {
    "comes within # of the Bayes optimum at every alpha": within_the_optimum,
    "at alpha # it falls behind, and is # below the optimum at alpha #": rl2_behind,
    "the same search tried # settings of the policy, # of the predictor and # of RL2": settings_tried,
    "both methods consume # environment steps": matrix_game_steps,
    "Told the truth, the same policy earns # to # more": told_the_truth,
    "Told the average, it earns # at most": told_the_average,
    "it loses up to alpha #, and at alpha #, where that matters least, earns #": told_anothers,
    "ahead of the LSTM baseline at either budget by # with skilled, # with intermediate and # with novice partners": (
        lambda: leads_over("lstm", "lstm_matched")
    ),
    "is told nothing and remembers nothing, by #, # and #;": lambda: leads_over("label_blind"),
    "has gained #, # and # of the way from the label-blind control's returns to the best response's with skilled,"
    " intermediate and novice partners": gained,
    "with skilled ones at least # is lost in acting": lambda: (lost("skilled", ACTING),),
    "with intermediate ones at least #, and up to # in not knowing which half-trained partner it is": (
        lambda: (lost("intermediate", ACTING), lost("intermediate", WHICH))
    ),
    "with random walkers at least #, while # goes into finding out, # because nobody could know so soon": (
        lambda: (lost("novice", ACTING), lost("novice", PREDICTOR, TOO_SOON), lost("novice", TOO_SOON))
    ),
    "with a random walker takes # steps (# to #, over # layouts) and returns # (# to #)": with_a_random_walker,
    "it is right about them in # of episodes (about all partners in #)": lambda: right_after_ten_steps("predictor"),
    "the exact posterior of somebody who knows them all in # (#)": lambda: right_after_ten_steps("posterior"),
    "the agent returns #, the LSTM # and the control #;": (
        lambda: (after_a_switch(OURS), after_a_switch("lstm", "lstm_matched"), after_a_switch("label_blind"))
    ),
    "told that somebody new has come, the agent returns #": lambda: (after_a_switch("announced"),),
    "not the # of the table": lambda: (f"{salesman.SUMMARY['layouts']}",),
    "Episodes are # steps long as training begins, and # or fewer after half of it": lengths_of_episodes,
}
"""What the README says, with a # for each number, and where the numbers come from, as they are rounded there."""
NUMBER = r"-?\d[\d,]*(?:\.\d+)?%?"


def pattern(claim):
    return re.escape(claim).replace(r"\#", rf"{NUMBER}(?: to {NUMBER})??")


def with_numbers(claim, numbers):
    return claim.replace("#", "{}").format(*numbers)


@pytest.mark.parametrize("claim", CLAIMS)
def test_it_says_what_was_found(claim):
    said = [match.group() for match in re.finditer(pattern(claim), PROSE)]
    assert len(said) == 1, f"the README does not say: {claim}"
    assert said[0] == with_numbers(claim, CLAIMS[claim]())


def test_no_number_is_left_that_nobody_checks():
    left = PROSE
    for known in (*map(pattern, CLAIMS), *map(re.escape, NO_RESULTS)):
        left, found = re.subn(known, "", left)
        assert found == 1, known
    unchecked = [around for around in re.split(r"(?<=[.;:,]) ", left) if re.search(rf"(?<![\w.-]){NUMBER}", around)]
    assert unchecked == []
