"""The paper's second experiment: a gridworld with partners of different skill."""

from coadapt.experiments.salesman.presets import (
    FAST,
    MADE,
    PACKAGE,
    PAPER,
    PRESETS,
    PRETRAINED_PRESETS,
    QUICK,
    PretrainedSalesman,
    SalesmanStudy,
)

EXPERIMENT, PRETRAINED = MADE.experiment, MADE.pretrained_experiment

__all__ = [
    "EXPERIMENT",
    "FAST",
    "MADE",
    "PACKAGE",
    "PAPER",
    "PRESETS",
    "PRETRAINED",
    "PRETRAINED_PRESETS",
    "QUICK",
    "PretrainedSalesman",
    "SalesmanStudy",
]
