"""The command `coadapt`: what a person can ask for, and how it answers."""

from collections.abc import Sequence

from coadapt.cli.agents import evaluate, watch
from coadapt.cli.answers import answer
from coadapt.cli.commands import Commands
from coadapt.cli.doctor import doctor
from coadapt.cli.experiments import reproductions, resume, trainings
from coadapt.cli.report import report
from coadapt.cli.runs import run_commands
from coadapt.cli.studies import run


def version() -> None:
    """Print the version of coadapt and of what its numbers depend on."""
    from coadapt.storage.fingerprint import versions

    for package, number in versions().items():
        print(f"{package} {number}")


coadapt: Commands = Commands(
    "Agents that cooperate with partners they have never met.\n\nStart with: coadapt reproduce matrix-game\n"
)
coadapt.command("reproduce")(reproductions)
coadapt.command("train")(trainings)
coadapt.command("run")(run)
coadapt.command("resume")(resume)
coadapt.command("evaluate")(evaluate)
coadapt.command("watch")(watch)
coadapt.command("report")(report)
coadapt.command("runs")(run_commands)
coadapt.command("doctor")(doctor)
coadapt.command("version")(version)


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point."""
    answer(lambda given: coadapt.answer("coadapt", _completed(given)), arguments)


def _completed(arguments: Sequence[str]) -> Sequence[str]:
    """`coadapt runs` alone lists them."""
    if list(arguments[:1]) == ["runs"] and (len(arguments) == 1 or arguments[1].startswith("--root")):
        return ["runs", "list", *arguments[1:]]
    return arguments
