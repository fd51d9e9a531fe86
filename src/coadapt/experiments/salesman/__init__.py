"""The paper's second experiment: a gridworld with partners of different skill."""

from coadapt.experiments.salesman.presets import (
    FAST,
    PACKAGE,
    PAPER,
    PRESETS,
    PRETRAINED_PRESETS,
    QUICK,
    SUITE,
    PretrainedSalesman,
    SalesmanStudy,
)

EXPERIMENT, PRETRAINED = SUITE.experiment, SUITE.pretrained_experiment

__all__ = [
    "EXPERIMENT",
    "FAST",
    "PACKAGE",
    "PAPER",
    "PRESETS",
    "PRETRAINED",
    "PRETRAINED_PRESETS",
    "QUICK",
    "SUITE",
    "PretrainedSalesman",
    "SalesmanStudy",
]
