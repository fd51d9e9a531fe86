"""What a method is: what is trained for it, and how its networks become a player.

A method is one file in `methods/`. Whatever lists methods asks the registry there; what trains and measures is given a
method and knows no other, so that adding one changes nothing of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coadapt.learning.ppo import PPOConfig
from coadapt.learning.supervised import SupervisedConfig
from coadapt.pipeline.stages import Learner
from coadapt.pipeline.task import AnyTask
from coadapt.players import Player

if TYPE_CHECKING:
    from coadapt.pipeline.study import Study


@dataclass(frozen=True)
class Training:
    """One training of a seed. Of equal ones there is one stage, whichever methods ask for it."""

    purpose: str  # of its random keys; it names the stage, too
    code: str  # the module that says what is trained
    settings: PPOConfig | SupervisedConfig
    learner: Callable[[Study, Any], Learner] = field(compare=False)  # study, settings -> learner
    starts: str | None = None  # the training whose networks it goes on with or acts by; none: untrained ones
    alone: bool = False  # with copies of itself, or with the training partners
    conditioning: str | None = None  # of the agent that acts meanwhile, where that matters


Networks = Mapping[str, Any]


@dataclass(frozen=True)
class Method:
    """An agent of a study."""

    name: str
    title: str  # in tables
    colour: str  # in figures
    code: str  # its module
    about: str  # a line of the model card
    trainings: Callable[[Study], tuple[Training, ...]]
    parts: Mapping[str, str]  # its networks by name, and the training that each comes from
    new: Callable[[AnyTask], dict[str, Any]]  # untrained networks by name, for their shapes
    player: Callable[[Networks, AnyTask, str], Player]  # networks by name, task, conditioning -> player
    has_belief: bool = False
    is_blind: bool = False  # the control that is told nothing, and that what a label gains is counted from

    @property
    def folder(self) -> str:
        """Where its agents are saved."""
        return self.name.replace("_", "-")
