"""Commands that look at runs."""

from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from coadapt.cli.answers import mistakes_explained, tell
from coadapt.cli.experiments import RUNS, run_folder

ARunsName = Annotated[Positional[Path], arg(help="The run's name, or its folder.")]


def list_runs(root: Annotated[Path, arg(help="The folder whose runs are listed.")] = RUNS) -> None:
    """All runs, with their state, how far they are, and what they came to. `coadapt runs` alone does the same."""
    from coadapt.storage import runs
    from coadapt.tables import Table

    with mistakes_explained():
        glances = [runs.glance(folder) for folder in runs.folders(root)]
    if not glances:
        tell(f"There are no runs in {root} yet. Start one with: coadapt reproduce matrix-game")
        return
    rows = [[g.name, g.experiment, g.state, _progress(g), g.stage, _in_short(g)] for g in glances]
    columns = ["run", "experiment", "state", "done", "stage", "in short"]
    Table(f"Runs in {root}", columns, rows, left=(1, 2, 4, 5)).show()


def show_run(run: ARunsName) -> None:
    """One run: its state, its configuration, the last numbers of every stage, and what it came to."""
    from coadapt.configs.data import fields_of
    from coadapt.storage import runs
    from coadapt.tables import Table

    folder = run_folder(run)
    with mistakes_explained():
        found = runs.read(folder)
        seen, metrics = runs.glance(folder), runs.last_metrics(found)
    facts = [["experiment", seen.experiment], ["state", seen.state], ["done", _progress(seen)], ["stage", seen.stage]]
    facts += [["note", seen.note]] if seen.note else []
    Table(f"Run {folder}", ["", ""], facts, left=(1,)).show()
    fields = [[place, str(value)] for place, value in fields_of(found.config)]
    Table("Configuration", ["field", "value"], fields, left=(1,)).show()
    last = [[stage, str(line.get("iteration", "")), _numbers(line)] for stage, line in metrics.items()]
    if last:
        Table("Metrics of the last chunk, averaged", ["stage", "iteration", "numbers"], last, left=(2,)).show()
    if seen.headline:
        Table("What it came to", ["", ""], [[name, _number(value)] for name, value in seen.headline.items()]).show()
    if seen.state not in ("running", "finished"):
        tell(f"Go on with: coadapt resume {folder}")


def compare_runs(a: ARunsName, b: ARunsName) -> None:
    """What differs between two runs, in their configuration, their versions, and what they came to."""
    from coadapt.configs.data import differences
    from coadapt.storage import runs
    from coadapt.tables import Table

    folders = run_folder(a), run_folder(b)
    with mistakes_explained():
        one, other = (runs.read(folder) for folder in folders)
    names = [str(folder) for folder in folders]
    changes = [*differences(one.config, other.config), *differences(one.provenance, other.provenance)]
    if changes:
        rows = [[place, str(first), str(second)] for place, first, second in changes]
        Table("What differs", ["", *names], rows, left=(1, 2)).show()
    else:
        tell("Configuration, versions and machine are the same.")
    results = [runs.glance(folder).headline for folder in folders]
    rows = [[name, *_compared(*(of_run.get(name) for of_run in results))] for name in results[0] | results[1]]
    if rows:
        Table("What they came to", ["", *names, "difference"], rows).show()


def _compared(first: Any, second: Any) -> list[str]:
    both = all(isinstance(value, int | float) for value in (first, second))
    return [_number(first), _number(second), f"{second - first:+.4f}" if both else "–"]


def _number(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, int | float) else "–"


def _progress(glance: Any) -> str:
    return "" if glance.progress is None else f"{glance.progress:.0%}"


def _in_short(glance: Any) -> str:
    """The first numbers of what it came to, or what is the matter."""
    if glance.headline:
        return "; ".join(f"{name} {_number(value)}" for name, value in list(glance.headline.items())[:2])
    return glance.note


def _numbers(line: dict[str, Any]) -> str:
    means = {name: values for name, values in line.items() if isinstance(values, list)}
    known = {name: [v for v in values if isinstance(v, int | float)] for name, values in means.items()}
    return "  ".join(f"{name} {sum(values) / len(values):.4g}" for name, values in known.items() if values)
