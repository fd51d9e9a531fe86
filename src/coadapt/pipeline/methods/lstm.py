"""The baseline: one recurrent policy that has to learn both to infer and to act, at its own and at a matched budget.

It learns to play with copies of itself before it meets anybody else, if the agent it is compared with does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jax

from coadapt.agents.recurrent import RecurrentPolicy
from coadapt.learning.ppo import PPOConfig
from coadapt.pipeline.co_op import New, with_partners
from coadapt.pipeline.method import Method, Training
from coadapt.pipeline.self_play import self_play
from coadapt.pipeline.stages import environment_steps
from coadapt.pipeline.task import new_recurrent_policy

if TYPE_CHECKING:
    from coadapt.pipeline.study import Study

CLONES = "lstm_clones"


def finding_out(policy: RecurrentPolicy, label: Any = None) -> RecurrentPolicy:
    """The baseline, whom no one tells anything."""
    del label
    return policy


def trainings(
    study: Study, purpose: str, training: PPOConfig, new: New = new_recurrent_policy, code: str = __name__
) -> tuple[Training, ...]:
    """The baseline with copies of itself, if there is such a training, and then with the training partners.

    Other recurrent policies than the baseline's have clones of their own.
    """
    with_others = lambda study, training: with_partners(study, training, finding_out, new)
    if study.lstm_clones is None:
        return (Training(purpose, code, training, with_others),)
    with_copies = lambda study, training: self_play(training, study.task, new, finding_out)
    called = CLONES if new is new_recurrent_policy else f"{purpose}_clones"
    clones = Training(called, code, study.lstm_clones, with_copies, alone=True)
    return clones, Training(purpose, code, training, with_others, starts=called)


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
