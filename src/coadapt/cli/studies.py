"""The command that runs a study of one's own."""

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from coadapt.cli.answers import announce, mistakes_explained, nothing_begun
from coadapt.cli.experiments import AS_USUAL, AllOptions, run_folder, run_to_end

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
    options: AllOptions = AS_USUAL,
) -> None:
    """Train and measure a study of your own: your game, your partners, and the methods you name.

    The game and its partners are looked at before anything is trained, and what is wrong with them is said. Stop it
    with Ctrl-C whenever you like: the same command goes on. Then: coadapt report, evaluate or watch, with the run's
    name.

    Example: coadapt run my_study.py --preset smoke
    """
    announce(f"The study in {study}", options.quiet)
    from coadapt.pipeline.running import experiment_of, ready, smoke
    from coadapt.pipeline.study import completed
    from coadapt.pipeline.study_file import remember, study_in
    from coadapt.storage import runs

    with mistakes_explained():
        found = study_in(study, None if preset == SMOKE else preset)
        meant = smoke(found.study) if preset == SMOKE else found.study
        task = meant.task.name.replace(" ", "_")
        name = Path(task if preset is None else f"{task}_{preset}") if run is None else run
        folder = run_folder(name)
        how = options.run_options()
        if how.fresh or not runs.exists(folder):
            with nothing_begun(how.progress):
                meant = ready(meant, how.progress)
    run_to_end(experiment_of(meant), completed(meant), folder, options, lambda folder: remember(folder, found))
