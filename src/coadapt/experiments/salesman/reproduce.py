"""The salesman's experiment from beginning to end."""

from pathlib import Path

from coadapt.experiments.planning import Experiment, Report
from coadapt.experiments.salesman.clones import cloning_of
from coadapt.experiments.salesman.config import SalesmanConfig
from coadapt.experiments.salesman.scores import MODES, evaluation_of, rehearsal_of, self_play_of
from coadapt.experiments.salesman.training import training_of
from coadapt.experiments.stages import Inputs, Stage


def stages(config: SalesmanConfig) -> list[Stage]:
    """All clones first, then seed after seed."""
    return [
        *(stage for clone in config.all_clones for stage in _of_clone(config, clone)),
        *(stage for seed in config.seeds for stage in _of_seed(config, seed)),
    ]


def _of_clone(config: SalesmanConfig, seed: int) -> list[Stage]:
    """Clones are trained and measured."""
    cloning = cloning_of(seed, config.world, config.clones, config.intermediate_length, config.curve_points)
    return [cloning, self_play_of(config, seed)]


def _of_seed(config: SalesmanConfig, seed: int) -> list[Stage]:
    """All methods are trained, tried with the partners they trained with, and then with those they never met."""
    made = [training_of(training, config, seed) for training in config.trainings]
    if "behaviour_conditioned" in config.methods:
        made.append(rehearsal_of(config, seed))
    if config.references:
        made += [evaluation_of(mode, config, seed) for mode in MODES]
    return made


def report(config: SalesmanConfig, outcomes: Inputs, folder: Path) -> Report:
    return Report([], {}, "")


EXPERIMENT = Experiment("salesman", SalesmanConfig, stages, report)
