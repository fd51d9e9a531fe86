"""The command `python -m tuning`, which searches the matrix game's training settings."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import arg

from coadapt.cli.answers import announce, answer, mistakes_explained
from coadapt.cli.commands import PARSED
from coadapt.cli.experiments import AS_USUAL, AllOptions, RunName, Settings, run_folder, run_to_end


def tune(
    methods: Annotated[tuple[str, ...], arg(help="Whose settings to search.")] = ("predictor", "policy", "rl2"),
    settings: Settings = (),
    run: RunName = Path("matrix_game_tuning"),
    options: AllOptions = AS_USUAL,
) -> None:
    """The search that the matrix game's fast preset comes from.

    Every method has a grid of candidates. All are tried at a third of the budget, the best three at the whole of it.
    Writes tuning.md and, with every number, tuning.json. Takes about an hour on two cores, most of it for RL2. It can
    be stopped; the same command goes on.
    """
    announce("The search for the matrix game's settings", options.quiet)
    from coadapt.configs.data import changed
    from coadapt.experiments.matrix_game import FAST
    from tuning.report import TUNING
    from tuning.search import TuningConfig

    with mistakes_explained():
        chosen = changed(TuningConfig(FAST, methods), settings)
    run_to_end(TUNING, chosen, run_folder(run), options)


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point."""
    answer(lambda given: tyro.cli(tune, prog="python -m tuning", args=given, config=PARSED), arguments)


if __name__ == "__main__":
    main()
