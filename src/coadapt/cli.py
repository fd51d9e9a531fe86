"""The command `coadapt`: what a person can ask for, and how it answers."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

from tyro.conf import DisallowNone, FlagCreatePairsOff, arg
from tyro.extras import SubcommandApp

MISTAKE = 2
"""The exit status for a user's mistake."""
INTERRUPTED = 130
"""The exit status after Ctrl-C."""

MOST_SEEDS = 1_000
"""More would not fit into one program."""

Choice = TypeVar("Choice")

app = SubcommandApp()
reproductions = SubcommandApp()
searches = SubcommandApp()
app.command(reproductions, name="reproduce", help="Run one of the paper's experiments from beginning to end.")
app.command(searches, name="tune", help="Search the training settings of an experiment, on seeds of its own.")


@app.command
def version() -> None:
    """Print the version of coadapt and of what its numbers depend on."""
    from coadapt.storage.results import versions

    for package, number in versions().items():
        print(f"{package} {number}")


@reproductions.command(name="matrix-game")
def reproduce_matrix_game(
    preset: Annotated[
        str, arg(help="How to train: fast (the best result per minute) or paper (all that the paper states).")
    ] = "fast",
    alphas: Annotated[
        tuple[float, ...] | None,
        arg(help="Concentrations of the partners' Dirichlet distribution. The preset's: 0.01 0.03 0.1 0.3 1 3."),
    ] = None,
    seeds: Annotated[int | None, arg(help="How many training seeds, counted from 0. The preset's: 5.")] = None,
    payoff: Annotated[
        Path | None,
        arg(help="A JSON file with another payoff table: a list of rows, one for each action of the partner."),
    ] = None,
    out: Annotated[Path, arg(help="The folder for all that is written.")] = Path("runs/matrix_game"),
    quiet: Annotated[bool, arg(help="No progress, only the result.")] = False,
) -> None:
    """The paper's first experiment: a matrix game with partners whose taste has to be found out.

    Trains the behaviour-conditioned agent and the RL2 baseline for every alpha and seed at once, evaluates both beside
    the exact Bayes-optimal player and three controls, prints the table, and writes summary.json, config.json,
    provenance.json, table.md and two figures. Partners are easy to read at small alphas and hard at large ones.

    Example: coadapt reproduce matrix-game --alphas 0.1 0.3 --seeds 3 --out runs/try
    """
    from coadapt.experiments import matrix_game
    from coadapt.progress import for_terminal
    from coadapt.storage.results import make_folder

    with mistakes_explained():
        config = _choose(matrix_game.PRESETS, preset, "preset")
        changes = {
            "alphas": alphas,
            "seeds": None if seeds is None else tuple(range(min(seeds, MOST_SEEDS + 1))),
            "payoff": None if payoff is None else _read_payoff(payoff),
        }
        config = replace(config, **{name: value for name, value in changes.items() if value is not None})
        if len(config.seeds) > MOST_SEEDS:
            raise ValueError(f"at most {MOST_SEEDS} seeds fit into one program, not {seeds}")
        make_folder(out)
    results = matrix_game.reproduce(config, out, for_terminal(quiet))
    for table in matrix_game.tables(results):
        table.show()
    print(f"Everything is in {out}; the pictures to look at are learning.png and adaptation.png.")


@searches.command(name="matrix-game")
def tune_matrix_game(
    methods: Annotated[tuple[str, ...], arg(help="Whose settings to search.")] = ("predictor", "policy", "rl2"),
    out: Annotated[Path, arg(help="The folder for what was tried.")] = Path("runs/matrix_game_tuning"),
    quiet: Annotated[bool, arg(help="No progress.")] = False,
) -> None:
    """The search that the matrix game's fast preset comes from.

    Every method has a grid of candidates. All are tried at a third of the budget, the best three at the whole of it.
    Writes tuning.md and, with every number, tuning.json. Takes about an hour on two cores, most of it for RL2.
    """
    from coadapt.experiments import matrix_game
    from coadapt.progress import for_terminal
    from coadapt.storage.results import make_folder

    with mistakes_explained():
        if not methods:
            raise ValueError(f"name at least one method of: {', '.join(matrix_game.GRIDS)}")
        for method in methods:
            _choose(matrix_game.GRIDS, method, "method")
        make_folder(out)
    matrix_game.tune(matrix_game.FAST, methods, out, for_terminal(quiet))
    print(f"What was tried, and what was best, is in {out / 'tuning.md'}.")


def _choose(named: dict[str, Choice], name: str, kind: str) -> Choice:
    if name not in named:
        raise ValueError(f"there is no {kind} {name!r}; choose one of: {', '.join(named)}")
    return named[name]


def _read_payoff(path: Path) -> tuple[tuple[float, ...], ...]:
    from coadapt.games.matrix import check_payoff

    table = _read_json(path)
    check_payoff(table)
    return tuple(tuple(row) for row in table)


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise ValueError(f"cannot read {path}: {problem.strerror}") from problem
    except ValueError as problem:
        raise ValueError(f"{path} is not JSON: {problem}") from problem


@contextmanager
def mistakes_explained() -> Iterator[None]:
    """Within it a ValueError is the user's mistake: one sentence and the exit status for it, no traceback."""
    try:
        yield
    except ValueError as mistake:
        print(f"coadapt: {mistake}.", file=sys.stderr)
        raise SystemExit(MISTAKE) from None


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point."""
    try:
        app.cli(prog="coadapt", description=DESCRIPTION, args=arguments, config=(DisallowNone, FlagCreatePairsOff))
    except KeyboardInterrupt:
        print("coadapt: interrupted.", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None


DESCRIPTION = """Agents that cooperate with partners they have never met.

Start with: coadapt reproduce matrix-game
"""
