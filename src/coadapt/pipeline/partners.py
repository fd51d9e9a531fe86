"""Who can be met in a study, and where partners come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.games.traced import shape_of
from coadapt.partners.population import Partners
from coadapt.players import Player
from coadapt.runs.stage import Inputs, Stage

if TYPE_CHECKING:  # what is computed depends on no more of a study than its fields, which are settings
    from coadapt.pipeline.study import Study
    from coadapt.pipeline.task import AnyTask

LARGEST_SEED = 2**32 - 1

CLONE = "the clone of seed"
"""What makes a partner who it is that comes from self-play."""


class PartnerId(NamedTuple):
    """Which partner it is: its population, such as the seed of the clones that left it behind, and its type."""

    population: int
    type: str
    held_out: bool = False  # or met in training

    def __str__(self) -> str:
        return f"{self.population}-{self.type}"


class Partner(NamedTuple):
    """A partner that clone training has left behind, as it was measured with a copy of itself."""

    id: PartnerId
    iteration: int  # of clone training
    length: float  # of its self-play
    total: float  # the return of its self-play


class PartnerSource(ABC):
    """Where partners come from. It is data: equal sources give the same partners.

    One of your own says who they are (`ids`, `identities`, `in_words`) and has them play (`players`). The rest is for
    partners that have to be made first.
    """

    by_self_play: ClassVar[bool] = False
    """Whether they are what clones have left behind."""

    @property
    def code(self) -> tuple[str, ...]:
        """The modules that its partners depend on, beside those of the task."""
        return (type(self).__module__,)

    @property
    def settings(self) -> Any:
        """All else that its partners depend on, beside the settings of the study."""
        return self

    def check(self, study: Study) -> None:
        """A sentence, as a ValueError, if these partners cannot be had in this study."""
        del study

    @abstractmethod
    def ids(self, study: Study, seed: int | None = None) -> list[PartnerId]:
        """Whom an agent of this seed meets; without a seed, whom agents of any seed meet."""
        ...

    @abstractmethod
    def identities(self, study: Study) -> set[tuple[str, Any]]:
        """What makes each of them who it is, in whichever source it may be found."""
        ...

    def stages(self, study: Study) -> list[Stage]:
        """What has to be done before they are there."""
        return []

    def needs(self, study: Study, seed: int | None = None) -> tuple[str, ...]:
        """The stages that have to be done before an agent of this seed can meet them."""
        return ()

    @abstractmethod
    def players(self, study: Study, inputs: Inputs, seed: int | None = None) -> Any:
        """The partners themselves, in the order of their ids, stacked along the first axis."""
        ...

    def left_behind(self, study: Study, outcomes: Inputs) -> Iterator[tuple[Partner, Any]]:
        """Those that were trained here, with their networks."""
        return iter(())

    def known(self, task: AnyTask | None) -> list[tuple[PartnerId, Player]]:
        """Those that are there before anything is done, for a look in this task; of a mixture each is asked alone."""
        del task
        return []

    def each_alone(self, study: Study, agents: Path) -> list[tuple[str, Player]]:
        """Each of them alone, by name; those that were trained are read from the folder of a run's saved agents."""
        del agents
        players = self.players(study, {})
        each = lambda n: jax.tree.map(lambda leaf: leaf[n], players)
        return [(str(who), each(n)) for n, who in enumerate(self.ids(study))]

    @abstractmethod
    def in_words(self, study: Study, seed: int | None = None) -> str:
        """Whom an agent of this seed meets, for people."""
        ...


def partners_of(study: Study, source: PartnerSource, inputs: Inputs, seed: int | None = None) -> Partners:
    """The partners of a source with their labels, which say of which type they are."""
    ids = source.ids(study, seed)
    labels = jnp.eye(len(study.task.types))[jnp.array([study.task.types.index(each.type) for each in ids])]
    return Partners(source.players(study, inputs, seed), labels, jnp.arange(len(ids)))


def all_within(source: Any) -> list[Any]:
    """A source, or those that it is a mixture of; nothing of none."""
    parts = getattr(source, "sources", None)
    alone = [] if source is None else [source]
    return alone if parts is None else [each for part in parts for each in all_within(part)]


def check_source(name: str, given: Any) -> None:
    """A sentence unless it says where partners come from."""
    if isinstance(given, type) or not isinstance(given, PartnerSource):
        raise ValueError(
            f"{name} must be a source of partners (coadapt.Scripted, SelfPlay, Pretrained or Mixture), not"
            f" {shape_of(given)}; players of your own: coadapt.Scripted({{'a type': [player, ...]}})"
        )


def populations(ids: Sequence[PartnerId]) -> list[int]:
    """The populations that partners come from, each once."""
    return list(dict.fromkeys(each.population for each in ids))
