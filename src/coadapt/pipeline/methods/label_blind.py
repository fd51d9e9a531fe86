"""The control: the same policy in the same training, told nothing. Its critic knows as much as that of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax

from coadapt.pipeline.co_op import with_partners
from coadapt.pipeline.method import Method, Training
from coadapt.pipeline.self_play import as_partner, goes_on_from, untold
from coadapt.pipeline.task import new_policy

if TYPE_CHECKING:
    from coadapt.pipeline.study import Study


def trainings(study: Study) -> tuple[Training, ...]:
    """It goes on from its clone, as the conditioned policy does."""
    learner = lambda study, training: with_partners(study, training, untold, new_policy)
    return (Training("label_blind", __name__, study.policy, learner, starts=goes_on_from(study)),)


METHODS = (
    Method(
        name="label_blind",
        title="label-blind",
        colour="tab:grey",
        code=__name__,
        about="the control.",
        trainings=trainings,
        parts={"policy": "label_blind"},
        new=lambda task: {"policy": new_policy(jax.random.key(0), task)},
        player=lambda networks, task, conditioning: as_partner(networks["policy"], task),
        is_blind=True,
    ),
)
