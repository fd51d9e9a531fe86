"""The command `coadapt`: what a person can ask for, and how it answers."""

from collections.abc import Sequence

from coadapt.cli.agents import evaluate, watch
from coadapt.cli.answers import answer
from coadapt.cli.commands import Commands, Named
from coadapt.cli.doctor import doctor
from coadapt.cli.experiments import reproduce_matrix_game, reproduce_salesman, resume, train_salesman
from coadapt.cli.report import report
from coadapt.cli.runs import compare_runs, list_runs, show_run
from coadapt.cli.studies import run


def version() -> None:
    """Print the version of coadapt and of what its numbers depend on."""
    from coadapt.storage.fingerprint import versions

    for package, number in versions().items():
        print(f"{package} {number}")


REPRODUCTIONS: Named = {"matrix-game": reproduce_matrix_game, "salesman": reproduce_salesman}
RUNS: Named = {"list": list_runs, "show": show_run, "compare": compare_runs}
COMMANDS: Named = {
    "reproduce": Commands("Run one of the paper's experiments from beginning to end.", REPRODUCTIONS),
    "train": Commands("Train one agent, with the partners it needs.", {"salesman": train_salesman}),
    "run": run,
    "resume": resume,
    "evaluate": evaluate,
    "watch": watch,
    "report": report,
    "runs": Commands("List the runs there are, look into one, or compare two.", RUNS),
    "doctor": doctor,
    "version": version,
}
START = "Agents that cooperate with partners they have never met.\n\nStart with: coadapt reproduce matrix-game\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point."""
    answer(lambda given: Commands(START, COMMANDS).answer("coadapt", _completed(given)), arguments)


def _completed(arguments: Sequence[str]) -> Sequence[str]:
    """`coadapt runs` alone lists them."""
    if list(arguments[:1]) == ["runs"] and (len(arguments) == 1 or arguments[1].startswith("--root")):
        return ["runs", "list", *arguments[1:]]
    return arguments
