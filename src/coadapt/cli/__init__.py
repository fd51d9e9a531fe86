"""The command `coadapt`: what a person can ask for, and how it answers."""

from collections.abc import Sequence

from tyro.conf import DisallowNone, FlagCreatePairsOff
from tyro.extras import SubcommandApp

from coadapt.cli.agents import evaluate, watch
from coadapt.cli.answers import answered
from coadapt.cli.bench import bench
from coadapt.cli.experiments import reproductions, resume, searches, trainings
from coadapt.cli.report import report
from coadapt.cli.runs import run_commands

app = SubcommandApp()
app.command(reproductions, name="reproduce", help="Run one of the paper's experiments from beginning to end.")
app.command(trainings, name="train", help="Train one agent, with the partners it needs.")
app.command(name="resume")(resume)
app.command(name="evaluate")(evaluate)
app.command(name="watch")(watch)
app.command(name="report")(report)
app.command(name="bench")(bench)
app.command(run_commands, name="runs", help="List the runs there are, look into one, or compare two.")
app.command(searches, name="tune", help="Search the training settings of an experiment, on seeds of its own.")


@app.command
def version() -> None:
    """Print the version of coadapt and of what its numbers depend on."""
    from coadapt.storage.fingerprint import versions

    for package, number in versions().items():
        print(f"{package} {number}")


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point."""
    with answered():
        app.cli(
            prog="coadapt",
            description=DESCRIPTION,
            args=_completed(arguments),
            config=(DisallowNone, FlagCreatePairsOff),
        )


def _completed(arguments: Sequence[str] | None) -> Sequence[str]:
    """`coadapt runs` alone lists them."""
    import sys

    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["runs"] and (len(given) == 1 or given[1].startswith("--root")):
        return ["runs", "list", *given[1:]]
    return given


DESCRIPTION = """Agents that cooperate with partners they have never met.

Start with: coadapt reproduce matrix-game
"""
