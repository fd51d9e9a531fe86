"""The paper's agent: a predictor infers of which type the partner is, and a memoryless policy acts on that."""

import jax

from coadapt.pipeline.co_op import acting_on, predictor, with_oracle_label, with_partners
from coadapt.pipeline.method import Method, Training
from coadapt.pipeline.self_play import PURPOSE as CLONES
from coadapt.pipeline.study import Study
from coadapt.pipeline.task import Task, new_policy, new_predictor

POLICY, PREDICTOR = "policy", "predictor"


def trainings(study: Study) -> tuple[Training, ...]:
    """The policy goes on from its clone, told the truth; the predictor watches the finished policy act on itself."""
    with_truth = lambda study, training: with_partners(study, training, with_oracle_label)
    return (
        Training(POLICY, __name__, study.policy, with_truth, starts=CLONES),
        Training(PREDICTOR, __name__, study.predictor, predictor, starts=POLICY, conditioning=study.conditioning),
    )


def new(task: Task) -> dict:
    key = jax.random.key(0)
    return {"policy": new_policy(key, task), "belief": new_predictor(key, task)}


METHOD = Method(
    name="behaviour_conditioned",
    title="behaviour-conditioned",
    colour="tab:blue",
    code=__name__,
    about="a policy and a predictor of the partner's type, without value networks. The policy is conditioned on the\n"
    "  predictor's {conditioning}; the headline is with actions by `{mode}`.",
    trainings=trainings,
    parts={"policy": POLICY, "belief": PREDICTOR},
    new=new,
    player=lambda networks, task, conditioning: acting_on(networks["belief"], networks["policy"], conditioning),
    has_belief=True,
)
