"""What everybody who plays is called, and their colours."""

from coadapt.pipeline.methods import METHODS
from coadapt.pipeline.results import Results
from coadapt.pipeline.seats import label_titles

SOURCES = {"predictor": "predictor", "posterior": "exact posterior"}
ACTING = {"sample": "sampling its actions", "argmax": "taking its likeliest action"}


def titles(results: Results) -> dict[str, str]:
    """What everybody is called, in the order of tables: methods, the policy with other labels, the oracle's players."""
    methods = {name: method.title for name, method in METHODS.items()}
    controls = {"exact_posterior": "on the exact posterior"} | label_titles(results.all_types)
    of_others = {f"{name}/{who}": f"{methods[name]}, {said}" for name in methods for who, said in controls.items()}
    unnamed = {name: name.replace("_", " ") for name in results.untrained}  # where nobody says what they are called
    return methods | controls | of_others | unnamed | dict(results.showing.untrained)


def source_title(results: Results, source: str) -> str:
    """Who says of which type the partner is."""
    method, _, who = source.rpartition("/")
    return f"{titles(results)[method]}, {SOURCES[who]}" if method else SOURCES[who]


def colours(results: Results) -> dict[str, str]:
    """Of everybody who is drawn."""
    own = {name: method.colour for name, method in METHODS.items()}
    return own | {"exact_posterior": "tab:cyan", "oracle_label": "tab:green"}


TYPE_COLOURS = ("tab:red", "tab:orange", "tab:green", "tab:purple", "tab:brown", "tab:olive")


def type_colours(results: Results) -> dict[str | None, str]:
    """Of partners of each type, and of all of them."""
    return {name: TYPE_COLOURS[n % len(TYPE_COLOURS)] for n, name in enumerate(results.all_types)} | {None: "black"}
