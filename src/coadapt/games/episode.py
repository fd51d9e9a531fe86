"""One episode to look at, as data."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class Episode(NamedTuple):
    """What was to be seen, what each step paid, and what the main agent believed meanwhile."""

    game: Any
    states: Sequence[Any]  # one more than there are steps: the last is what the last step led to
    rewards: np.ndarray  # one for each step
    beliefs: np.ndarray | None  # by step and label; none for an agent that has no belief
    label_names: Sequence[str] = ()
    truth: str | None = None  # the name of what the partner truly is, where it is known
    actions: np.ndarray | None = None  # by step and seat

    @property
    def steps(self) -> int:
        return len(self.rewards)

    def return_after(self, step: int) -> float:
        """What the first `step` steps paid, all together."""
        return float(np.sum(self.rewards[:step], dtype=np.float64))

    def belief_at(self, step: int) -> np.ndarray | None:
        """What the agent thinks on seeing the state of this step; its last thought stays when it no longer acts."""
        return None if self.beliefs is None else self.beliefs[min(step, self.steps - 1)]
