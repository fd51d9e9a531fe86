"""The command that runs a study of one's own."""

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from coadapt.cli.answers import announce, mistakes_explained, stops_explained, tell
from coadapt.cli.experiments import AS_USUAL, AllOptions, Fresh, run_folder

SMOKE = "smoke"


def run(
    study: Annotated[Positional[Path], arg(help="The Python file that defines it, as `study = coadapt.Study(...)`.")],
    preset: Annotated[
        str | None,
        arg(
            help="One of the file's PRESETS, by name; or smoke: all of it as small as it can be, to see that it works."
        ),
    ] = None,
    run: Annotated[
        Path | None, arg(name="run", help="The run's name, or its folder. Usually: that of the task, or of the preset.")
    ] = None,
    fresh: Fresh = False,
    options: AllOptions = AS_USUAL,
) -> None:
    """Train and measure a study of your own: your game, your partners, and the methods you name.

    The game and its partners are looked at before anything is trained, and what is wrong with them is said. Stop it
    with Ctrl-C whenever you like: the same command goes on. Then: coadapt report, evaluate or watch, with the run's
    name.

    Example: coadapt run my_study.py --preset smoke
    """
    announce(f"The study in {study}", options.quiet)
    from coadapt.pipeline.running import carry_out, smoke
    from coadapt.pipeline.study_file import study_in
    from coadapt.storage import published
    from coadapt.storage.runs import read

    with mistakes_explained():
        found = study_in(study, None if preset == SMOKE else preset)
        found = found._replace(study=smoke(found.study)) if preset == SMOKE else found
        task = found.study.task.name.replace(" ", "_")
        name = Path(task if preset is None else f"{task}_{preset}") if run is None else run
        folder, run_options = run_folder(name), options.run_options(fresh)
        if options.publish is not None:
            published.check_place(options.publish, folder, f"study of {found.study.task.name}")
    with stops_explained(folder), mistakes_explained():
        report = carry_out(found.study, folder, run_options, found)
        if options.publish is not None:
            published.publish(read(folder), options.publish)
    for table in report.tables:
        table.show()
    tell(f"Everything is in {folder}. {report.closing}")
