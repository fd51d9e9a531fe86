"""How soon and how well a belief finds out whom it is dealing with."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.arrays import Array, Float
from coadapt.encounters import Moment
from coadapt.games.game import MAIN
from coadapt.players import Belief


def watch(belief: Belief, moments: Moment) -> Float[Array, "games steps label"]:
    """What a belief makes of games that others have played, from the main agent's seat: it changes nothing in them."""

    def one(observations: Any, ended: Array) -> Float[Array, "steps label"]:
        def step(memory, now):
            observation, is_over = now
            said, memory = belief.update(observation, memory)
            return jax.tree.map(lambda new, old: jnp.where(is_over, new, old), belief.start(), memory), said

        return jax.lax.scan(step, belief.start(), (observations, ended))[1]

    return jax.vmap(one)(moments.observations[MAIN], moments.ended)


def steps_until_known(accuracy: np.ndarray, share: float = 0.9) -> int | None:
    """The step, counted from one, from which on the right label is the likeliest in at least this share of episodes.

    `accuracy` is by step; NaN, where no episode lasts so long, ends it. None if there is no such step.
    """
    known = np.asarray(accuracy)
    known = known[~np.isnan(known)] >= share
    if not known.size or not known[-1]:
        return None
    wrong = np.flatnonzero(~known)
    return int(wrong[-1]) + 2 if wrong.size else 1


class Calibration(NamedTuple):
    """What a belief says, and how often it is so, by how certain it was."""

    said: np.ndarray  # the mean probability of the likeliest label, by bin; NaN in an empty bin
    was: np.ndarray  # the share in which that label was the true one
    share: np.ndarray  # of all beliefs

    @property
    def error(self) -> float:
        """How far the two are apart on average: the expected calibration error."""
        return float(np.nansum(np.abs(self.said - self.was) * self.share))


def calibration(beliefs: np.ndarray, labels: np.ndarray, bins: int = 10) -> Calibration:
    """Of beliefs and one-hot labels, a row each, in equally wide bins of the likeliest label's probability."""
    certainty = np.asarray(beliefs, np.float64).max(axis=1)
    right = beliefs.argmax(axis=1) == labels.argmax(axis=1)
    which = np.minimum((certainty * bins).astype(int), bins - 1)
    number = np.bincount(which, minlength=bins)
    with np.errstate(invalid="ignore"):
        said, was = (np.bincount(which, weights=of, minlength=bins) / number for of in (certainty, right))
    return Calibration(said, was, number / len(certainty))
