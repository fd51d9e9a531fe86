"""The command that makes a page of results."""

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from coadapt.cli.answers import mistakes_explained, tell
from coadapt.cli.experiments import RUNS


def report(
    of: Annotated[
        Positional[tuple[Path, ...]], arg(help="Runs by name, or folders of results. Usually: the folder `results`.")
    ] = (),
    to: Annotated[Path | None, arg(help="The folder to write to. Usually: the first the report is of.")] = None,
) -> None:
    """One page of results to look at, and the same as Markdown: tables, figures, settings, versions and times.

    The first table of each and what was beaten by how much are shown here, too.

    Example: coadapt report matrix_game salesman_pretrained --to .
    """
    from coadapt.pipeline.pages import conclusion_of, results_in, write_report

    with mistakes_explained():
        asked = [_place(path) for path in of or (Path("results"),)]
        folders = [folder for path in asked for folder in results_in(path)]
        html, markdown = write_report(folders, asked[0] if to is None else to)
        conclusions = [conclusion_of(folder) for folder in folders]
    for table, verdict in conclusions:
        if table is not None:
            table.show()
        if verdict:
            tell(verdict)
    tell(f"The report is in {html}, and as Markdown in {markdown}.")


def _place(path: Path) -> Path:
    """A run may be called by its name alone."""
    return RUNS / path if not path.exists() and (RUNS / path).exists() else path
