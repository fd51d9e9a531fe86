"""What everybody who plays is called, and their colours."""

from coadapt.pipeline.methods import METHODS
from coadapt.pipeline.results import Results
from coadapt.pipeline.seats import label_titles
from coadapt.pipeline.showing import PaperRow

SOURCE_NAMES = {"predictor": "predictor", "posterior": "exact posterior"}
ACTING = {"sample": "sampling its actions", "argmax": "taking its likeliest action"}


def titles(results: Results) -> dict[str, str]:
    """What everybody is called, in the order of tables: methods, the policy with other labels, the oracle's players."""
    methods = {name: method.title for name, method in METHODS.items()}
    informed = {"exact_posterior": "on the exact posterior"}
    unnamed = {name: name.replace("_", " ") for name in results.untrained}  # where nobody says what they are called
    return methods | informed | label_titles(results.all_types) | unnamed | dict(results.showing.untrained)


def colours(results: Results) -> dict[str, str]:
    """Of everybody who is drawn."""
    own = {name: method.colour for name, method in METHODS.items()}
    return own | {"exact_posterior": "tab:cyan", "oracle_label": "tab:green"}


TYPE_COLOURS = ("tab:red", "tab:orange", "tab:green", "tab:purple", "tab:brown", "tab:olive")


def type_colours(results: Results) -> dict[str | None, str]:
    """Of partners of each type, and of all of them."""
    return {name: TYPE_COLOURS[n % len(TYPE_COLOURS)] for n, name in enumerate(results.all_types)} | {None: "black"}


def paper_row(results: Results, method: str, type_: str) -> PaperRow | None:
    """The paper's row, if there is one of this task."""
    return results.showing.paper(results.study.task).get((method, type_))
