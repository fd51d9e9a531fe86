"""Agents by name: pretrained ones, which come with the package, and those in files of one's own.

player = coadapt.load("salesman/behaviour-conditioned")
"""

from pathlib import Path

from coadapt.configs.data import read_config
from coadapt.experiments.registry import EXPERIMENTS, SUITES
from coadapt.pipeline.methods import METHODS
from coadapt.pipeline.saved import PARTNER, Saved, agent_of, path_of, pretrained, read
from coadapt.pipeline.study import Study
from coadapt.pipeline.study_file import recalled
from coadapt.pipeline.task import AnyTask, check_task
from coadapt.pipeline.trained import TrainedAgent
from coadapt.storage import runs
from coadapt.storage.files import Incompatible

__all__ = ["find", "load", "path_of", "pretrained"]


def load(name: str | Path, task: AnyTask | None = None) -> TrainedAgent:
    """The agent or partner of this name, such as salesman/behaviour-conditioned or salesman/partners/100-skilled.

    Where several were trained, the name alone means the first; salesman/behaviour-conditioned/3 is that of seed 3. Of a
    game of your own it is the path of a file (without its ending) or below a run, as in
    `load("runs/lake/behaviour-conditioned/0", task=study.task)`. Nothing is run that a file names.
    """
    return TrainedAgent.of(find(name, task))


def find(name: str | Path, task: AnyTask | None = None) -> Saved:
    """The networks of this name, with all that is known of them."""
    if task is not None:
        check_task(task)
    tasks = {game: suite.package.task for game, suite in SUITES.items()} if task is None else {task.name: task}
    return read(path_of(name), tasks, (*map(agent_of, METHODS.values()), PARTNER))


def study_of(folder: Path, file: Path | None = None) -> Study:
    """The study of a run: of an experiment of ours from its configuration, of one's own from its file."""
    there = runs.read(folder)
    suite = SUITES.get(there.experiment)
    if suite is not None:
        return read_config(suite.study, there.config)
    if there.experiment in EXPERIMENTS:
        raise Incompatible(f"{folder} is of {there.experiment}, which keeps no agents; look at it with: coadapt report")
    return recalled(folder, file)
