"""The command `python -m benchmarks`, which measures how fast all of this is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import arg

from coadapt.cli.answers import announce, answer, mistakes_explained, tell
from coadapt.cli.commands import PARSED
from coadapt.cli.experiments import RUNS


def bench(
    quick: Annotated[bool, arg(help="Small sizes and none of the peers: a few minutes.")] = False,
    rows: Annotated[
        tuple[str, ...],
        arg(
            help="What to measure: some of stepping, training, recurrent, quality, decision, roofline and scaling. "
            "Usually: all of them; with --quick all but quality, which trains agents from nothing."
        ),
    ] = (),
    to: Annotated[
        Path | None,
        arg(
            help="The folder to write the summary, the table and the picture to. Rows that are there and not asked for "
            "stay. Usually: runs/bench, or runs/bench_quick."
        ),
    ] = None,
    peers: Annotated[
        Path | None,
        arg(help="The folder with the peers' virtual environments, as `make bench` makes it. Usually: no peers."),
    ] = None,
    quiet: Annotated[bool, arg(help="No progress, only the result.")] = False,
) -> None:
    """How fast coadapt steps, trains and decides, beside its peers on this machine.

    All contenders take turns, again and again, so that a busy machine is equally busy for all. `make bench` sets up the
    peers and measures everything. What each row means is in docs/benchmark.md.

    Example: python -m benchmarks --quick --rows decision roofline
    """
    announce("The benchmark", quiet)
    from benchmarks.report import tables
    from benchmarks.running import AT_ONCE, ROWS, run
    from benchmarks.sizes import FULL, QUICK
    from coadapt.runs.progress import for_terminal

    with mistakes_explained():
        if quick and peers is not None:
            raise ValueError("--quick goes without peers; leave out one of --quick and --peers")
        asked = rows or (AT_ONCE if quick else tuple(ROWS))
        folder = to or RUNS / ("bench_quick" if quick else "bench")
        results = run(asked, QUICK if quick else FULL, peers, folder, for_terminal(quiet))
    for table in tables(results.entries):
        table.show()
    tell(f"All numbers are in {folder}: summary.json, table.md and bench.png.")


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point."""
    answer(lambda given: tyro.cli(bench, prog="python -m benchmarks", args=given, config=PARSED), arguments)


if __name__ == "__main__":
    main()
