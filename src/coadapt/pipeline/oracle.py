"""What an oracle is: exact truths about a game, which agents are held against."""

from typing import Any, NamedTuple, Protocol, runtime_checkable

from coadapt.arrays import Key, Scalar
from coadapt.evaluation.starts import Played
from coadapt.partners.population import Partners
from coadapt.players import Belief


class Optima(NamedTuple):
    """What can be had with each partner, from each start on a layout."""

    best: Played  # by its best response, on average
    informed: dict[str, Played]  # by players that need no training, because they know more than an agent can


@runtime_checkable
class Oracle(Protocol):
    """Exact truths about a game and some partners. A *layout* is what stays the same while starts differ."""

    def posterior(self, partners: Partners) -> Belief | None:
        """All that can be known of whom one plays with, if it is one of these, each as likely as any other. None if
        nobody can tell: then nothing is held against it.
        """
        ...

    def starts(self, key: Key, number: int) -> Any:
        """States to start from on one layout; all of its chance is in the key."""
        ...

    def optima(self, key: Key, partners: Partners, starts: Any) -> Optima:
        """What can be had with each partner from these starts, which are on one layout."""
        ...

    def joint_optimum(self, key: Key) -> dict[str, Scalar]:
        """What two who know all of each other come to on one layout, and what else the game allows, by name."""
        ...
