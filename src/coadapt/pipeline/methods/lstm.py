"""The baseline: one recurrent policy that has to learn both to infer and to act, at its own and at a matched budget.

It learns to play with copies of itself before it meets anybody else, if the agent it is compared with does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import jax

from coadapt.learning.ppo import PPOConfig
from coadapt.pipeline.method import Method, Training
from coadapt.pipeline.recurrent import finding_out
from coadapt.pipeline.recurrent import trainings as recurrent_trainings
from coadapt.pipeline.stages import environment_steps
from coadapt.pipeline.task import new_recurrent_policy

if TYPE_CHECKING:
    from coadapt.pipeline.study import Study

CLONES = "lstm_clones"


def trainings(study: Study, purpose: str, training: PPOConfig) -> tuple[Training, ...]:
    """As of any recurrent policy; two budgets share their clones."""
    return recurrent_trainings(study, purpose, training, new_recurrent_policy, __name__, CLONES)


def matched(study: Study) -> PPOConfig:
    """As many steps in all as the behaviour-conditioned agent has, its predictor's included."""
    ours = sum(map(environment_steps, (study.clones, study.policy, study.predictor)))
    left = ours - environment_steps(study.lstm_clones)
    points = max(1, -(-left // (study.lstm.steps_per_iteration * study.curve_points)))
    return replace(study.lstm, iterations=points * study.curve_points)


LSTM = Method(
    name="lstm",
    title="LSTM",
    colour="tab:orange",
    code=__name__,
    about="the baseline.",
    trainings=lambda study: trainings(study, "lstm", study.lstm),
    parts={"policy": "lstm"},
    new=lambda task: {"policy": new_recurrent_policy(jax.random.key(0), task)},
    player=lambda networks, task, conditioning: finding_out(networks["policy"]),
)
MATCHED = replace(
    LSTM,
    name="lstm_matched",
    title="LSTM, matched steps",
    colour="tab:red",
    about="the baseline with as many steps as policy and predictor together.",
    trainings=lambda study: trainings(study, "lstm_matched", matched(study)),
    parts={"policy": "lstm_matched"},
)
METHODS = (LSTM, MATCHED)
