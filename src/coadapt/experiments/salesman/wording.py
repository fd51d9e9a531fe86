"""What is said of the salesman's results: the names of who plays, how numbers look, and what the paper printed."""

from typing import NamedTuple

import numpy as np

from coadapt.evaluation.statistics import Estimate
from coadapt.experiments.salesman.results import Results
from coadapt.games.salesman.rules import Salesman

NAMES = {
    "behaviour_conditioned": "behaviour-conditioned",
    "lstm": "LSTM",
    "lstm_matched": "LSTM, matched steps",
    "label_blind": "label-blind",
    "exact_posterior": "told by the exact posterior",
    "true_label": "told the truth",
    "shuffled_label": "told another's label",
    "always_skilled": "always told skilled",
    "always_novice": "always told novice",
    "best_response_to_likeliest": "best response to the likeliest partner",
    "best_response_to_likeliest_kind": "best response to the likeliest kind on average",
    "best_response_to_kind": "best response to its kind on average",
}
SOURCE_NAMES = {"predictor": "predictor", "posterior": "exact posterior"}


class PaperRow(NamedTuple):
    """What the paper prints: a mean length, most likely counted from zero and so one less than ours, and a return."""

    length: float
    total: float


PAPER_ROWS = {
    ("behaviour_conditioned", "skilled"): PaperRow(15.9, 0.080),
    ("behaviour_conditioned", "intermediate"): PaperRow(22.9, 0.011),
    ("behaviour_conditioned", "novice"): PaperRow(28.0, -0.040),
    ("lstm", "skilled"): PaperRow(17.8, 0.062),
    ("lstm", "intermediate"): PaperRow(25.4, -0.015),
    ("lstm", "novice"): PaperRow(31.8, -0.084),
}


def is_the_papers(results: Results) -> bool:
    """Whether the game is the one that the paper's numbers are of."""
    return results.config.world.game == Salesman()


def paper_row(results: Results, method: str, kind: str) -> PaperRow | None:
    """The paper's row, if there is one of this game."""
    return PAPER_ROWS.get((method, kind)) if is_the_papers(results) else None


ACTING = {"sample": "sampling its actions", "argmax": "taking its likeliest action"}


def number(value: float, how: str = ".4f") -> str:
    """A number as it is shown, or a dash where there is none."""
    return "–" if np.isnan(value) else format(value, how)


def interval(estimate: Estimate, how: str = ".4f") -> str:
    """From where to where an interval goes."""
    return "–" if np.isnan(estimate.low) else f"{estimate.low:{how}} to {estimate.high:{how}}"
