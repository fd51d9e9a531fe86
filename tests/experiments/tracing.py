"""Experiments that are carried out more than once in a test."""

from dataclasses import replace
from typing import Any

import jax

from coadapt.runs.experiment import Experiment


def traced_once(experiment: Experiment, config: Any) -> Experiment:
    """The same under one configuration: JAX knows its stages again, and neither traces nor compiles them twice."""
    stages = [
        replace(stage, begin=jax.jit(stage.begin), go_on=jax.jit(stage.go_on)) for stage in experiment.stages(config)
    ]
    return replace(experiment, stages=lambda config: stages)
