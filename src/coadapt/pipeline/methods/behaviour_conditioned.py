"""The paper's agent: a predictor infers of which type the partner is, and a memoryless policy acts on that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax

from coadapt.pipeline.co_op import acting_on, predictor, with_oracle_label, with_partners
from coadapt.pipeline.method import Method, Training
from coadapt.pipeline.self_play import goes_on_from
from coadapt.pipeline.task import AnyTask, new_policy, new_predictor

if TYPE_CHECKING:
    from coadapt.pipeline.study import Study

POLICY, PREDICTOR = "policy", "predictor"


def trainings(study: Study) -> tuple[Training, ...]:
    """The policy, told the truth, and then the predictor, which watches the finished policy act on its predictions."""
    with_truth = lambda study, training: with_partners(study, training, with_oracle_label, new_policy)
    return (
        Training(POLICY, __name__, study.policy, with_truth, starts=goes_on_from(study)),
        Training(PREDICTOR, __name__, study.predictor, predictor, starts=POLICY, conditioning=study.conditioning),
    )


def new(task: AnyTask) -> dict[str, Any]:
    key = jax.random.key(0)
    return {"policy": new_policy(key, task), "belief": new_predictor(key, task)}


METHODS = (
    Method(
        name="behaviour_conditioned",
        title="behaviour-conditioned",
        colour="tab:blue",
        code=__name__,
        about="a policy and a predictor of the partner's type, without value networks. The policy is conditioned on\n"
        "  the predictor's {conditioning}; the headline is with actions by `{mode}`.",
        trainings=trainings,
        parts={"policy": POLICY, "belief": PREDICTOR},
        new=new,
        player=lambda networks, task, conditioning: acting_on(networks["belief"], networks["policy"], conditioning),
        has_belief=True,
    ),
)
