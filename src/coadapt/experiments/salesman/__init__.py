"""The paper's second experiment: a gridworld with partners of different skill."""

from coadapt.experiments.salesman.config import SalesmanConfig
from coadapt.experiments.salesman.presets import FAST, PAPER, PRESETS
from coadapt.experiments.salesman.reproduce import EXPERIMENT

__all__ = ["EXPERIMENT", "FAST", "PAPER", "PRESETS", "SalesmanConfig"]
