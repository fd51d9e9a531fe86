"""Studies of one's own from beginning to end: the same call begins a run and goes on with it."""

from dataclasses import replace
from pathlib import Path

from coadapt.pipeline.check import check
from coadapt.pipeline.experiment import report_of, stages_of
from coadapt.pipeline.methods import methods_of
from coadapt.pipeline.showing import Showing
from coadapt.pipeline.study import Measures, Study, completed
from coadapt.pipeline.study_file import StudyFile, check_not_reading, of_main, remember
from coadapt.runs.executor import RunOptions
from coadapt.runs.experiment import Experiment, Report, plan
from coadapt.runs.interruption import Interrupted
from coadapt.runs.launch import finish, opened
from coadapt.runs.progress import Progress, for_terminal, to_stderr
from coadapt.storage import runs


def experiment_of(study: Study) -> Experiment:
    """A study as an experiment that can be run."""
    showing = Showing(study.task.name)
    report = lambda study, outcomes, folder: report_of(study, outcomes, folder, showing)
    return Experiment(f"study of {study.task.name}", type(study), stages_of, report)


def run(study: Study, folder: str | Path, *, quiet: bool = False, options: RunOptions | None = None) -> Report:
    """Train and measure all that a study asks for; the report says what came of it, and all of it is in the folder.

    What is wrong with the study is said before anything is trained. Ctrl-C stops and loses nothing: the same call goes
    on. A study that has changed needs another folder; what has not changed is not trained again there.
    """
    check_not_reading()
    folder, options = Path(folder), options or RunOptions(for_terminal(quiet))
    try:
        report = carry_out(study, folder, options, of_main(study))
    except Interrupted as stop:
        to_stderr(f"coadapt: stopped, and nothing is lost in {folder}; the same call goes on")
        raise SystemExit(stop.status) from None
    if not quiet:
        for table in report.tables:
            table.show()
        to_stderr(f"Everything is in {folder}. {report.closing}")
    return report


def carry_out(study: Study, folder: Path, options: RunOptions, found: StudyFile | None) -> Report:
    """The same for whoever shows the report; it is noted where the study was found."""
    planned = None
    if options.fresh or not runs.exists(folder):
        study = ready(study, options.progress)
        with options.progress.busy("planning"):
            planned = plan(experiment_of(study), study, {})
    study = completed(study)
    experiment = experiment_of(study)
    with opened(experiment, study, folder, options) as run:
        if found is not None:
            remember(run.folder, found)
        return finish(experiment, study, run, options, planned)


def ready(study: Study, progress: Progress) -> Study:
    """The study with all that is usual, looked at: what would break or, worse, would not is refused."""
    study = completed(study)
    methods_of(study)  # which refuses those that are not there
    with progress.busy("looking at the game and its partners"):
        remarks = check(study.task.game, study.partners, study.held_out, task=study.task)
    for remark in remarks:
        progress.say(f"{remark}.")
    return study


def smoke(study: Study) -> Study:
    """The same study, as small as it can be: to see within a minute or two whether all of it works."""
    study = completed(study)
    points = 2
    short = lambda training: None if training is None else replace(training, iterations=2 * points)
    trainings = {name: short(getattr(study, name)) for name in ("clones", "policy", "predictor", "lstm_clones", "lstm")}
    measures: Measures = replace(study.measures, layouts=10, starts=10, joint_layouts=10, episodes=100)
    few = {"episodes": 100, "validation_episodes": 100, "batch": 100, "curve_points": points, "measures": measures}
    return replace(study, seeds=tuple(study.seeds)[:1], **trainings, **few)
