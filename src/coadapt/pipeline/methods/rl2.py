"""RL2: one recurrent policy that is shown its own last action and reward, and has to learn from them what pays.

It trains as the LSTM baseline does, which is not shown them.
"""

from __future__ import annotations

import jax

from coadapt.pipeline.method import Method
from coadapt.pipeline.recurrent import finding_out, trainings
from coadapt.pipeline.task import new_rl2_policy

METHODS = (
    Method(
        name="rl2",
        title="RL2",
        colour="tab:purple",
        code=__name__,
        about="a recurrent policy that sees its last action and reward.",
        trainings=lambda study: trainings(study, "rl2", study.lstm, new_rl2_policy, __name__, "rl2_clones"),
        parts={"policy": "rl2"},
        new=lambda task: {"policy": new_rl2_policy(jax.random.key(0), task)},
        player=lambda networks, task, conditioning: finding_out(networks["policy"]),
    ),
)
