"""Recurrent policies, which are told nothing and have to find out by themselves: how all of them are trained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coadapt.agents.recurrent import RecurrentPolicy
from coadapt.learning.ppo import PPOConfig
from coadapt.pipeline.co_op import New, with_partners
from coadapt.pipeline.method import Training
from coadapt.pipeline.self_play import self_play

if TYPE_CHECKING:
    from coadapt.pipeline.study import Study


def finding_out(policy: RecurrentPolicy, label: Any = None) -> RecurrentPolicy:
    """The baseline, whom no one tells anything."""
    del label
    return policy


def trainings(
    study: Study, purpose: str, training: PPOConfig, new: New, code: str, clones: str
) -> tuple[Training, ...]:
    """A recurrent policy with copies of itself, if there is such a training, and then with the training partners.

    `new` makes it untrained, `code` is the module of its method, and `clones` the purpose of its training alone.
    """
    with_others = lambda study, training: with_partners(study, training, finding_out, new)
    if study.lstm_clones is None:
        return (Training(purpose, code, training, with_others),)
    with_copies = lambda study, training: self_play(training, study.task, new, finding_out)
    alone = Training(clones, code, study.lstm_clones, with_copies, alone=True)
    return alone, Training(purpose, code, training, with_others, starts=clones)
