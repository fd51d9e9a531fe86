"""The paper's second experiment: a gridworld with partners of different skill."""

from coadapt.experiments.salesman.presets import FAST as FAST
from coadapt.experiments.salesman.presets import PACKAGE as PACKAGE
from coadapt.experiments.salesman.presets import PAPER as PAPER
from coadapt.experiments.salesman.presets import PRESETS as PRESETS
from coadapt.experiments.salesman.presets import PRETRAINED_PRESETS as PRETRAINED_PRESETS
from coadapt.experiments.salesman.presets import QUICK as QUICK
from coadapt.experiments.salesman.presets import SUITE as SUITE
from coadapt.experiments.salesman.presets import PretrainedSalesman as PretrainedSalesman
from coadapt.experiments.salesman.presets import SalesmanStudy as SalesmanStudy

EXPERIMENT, PRETRAINED = SUITE.experiment, SUITE.pretrained_experiment
