"""RL2: one recurrent policy that is shown its own last action and reward, and has to learn from them what pays.

It trains as the LSTM baseline does, which is not shown them.
"""

from __future__ import annotations

from dataclasses import replace

import jax

from coadapt.pipeline.methods import lstm
from coadapt.pipeline.task import new_rl2_policy

METHODS = (
    replace(
        lstm.LSTM,
        name="rl2",
        title="RL2",
        colour="tab:purple",
        code=__name__,
        about="a recurrent policy that sees its last action and reward.",
        trainings=lambda study: lstm.trainings(study, "rl2", study.lstm, new_rl2_policy, __name__),
        parts={"policy": "rl2"},
        new=lambda task: {"policy": new_rl2_policy(jax.random.key(0), task)},
    ),
)
