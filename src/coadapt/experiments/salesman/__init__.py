"""The paper's second experiment: a gridworld with partners of different skill."""

from coadapt.experiments.salesman.config import SalesmanConfig
from coadapt.experiments.salesman.presets import FAST, PAPER, PRESETS, QUICK
from coadapt.experiments.salesman.pretrained import check_references
from coadapt.experiments.salesman.reproduce import EXPERIMENT
from coadapt.experiments.salesman.shipped import EXPERIMENT as SHIPPED
from coadapt.experiments.salesman.shipped import PRESETS as SHIPPED_PRESETS
from coadapt.experiments.salesman.shipped import ShippedConfig, as_trained

__all__ = [
    "EXPERIMENT",
    "FAST",
    "PAPER",
    "PRESETS",
    "QUICK",
    "SHIPPED",
    "SHIPPED_PRESETS",
    "SalesmanConfig",
    "ShippedConfig",
    "as_trained",
    "check_references",
]
