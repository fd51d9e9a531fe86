"""How soon and how well a belief finds out whom it is dealing with."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.arrays import Array, Float, Scalar, Vector

BINS = 10
"""Into so many equally wide bins beliefs are sorted by their certainty: the probability of the likeliest label."""


class Opinion(NamedTuple):
    """What a belief is worth at one moment. Added up over many of them, all that is to be known of it."""

    counted: Scalar  # one
    correct: Scalar  # one if the likeliest label is the true one
    brier: Scalar  # the squared distance to the truth
    log_loss: Scalar
    counted_by_bin: Float[Array, "bins"]
    certainty_by_bin: Float[Array, "bins"]
    correct_by_bin: Float[Array, "bins"]


def opinion(belief: Vector, label: Vector) -> Opinion:
    """A belief beside the true label, which is one-hot."""
    likely, certainty = jnp.sum(belief * label), jnp.max(belief)
    correct = (jnp.argmax(belief) == jnp.argmax(label)).astype(jnp.float32)
    which = jax.nn.one_hot(jnp.minimum(jnp.int32(certainty * BINS), BINS - 1), BINS)
    return Opinion(
        counted=jnp.float32(1),
        correct=correct,
        brier=jnp.sum((belief - label) ** 2),
        log_loss=-jnp.log(jnp.maximum(likely, jnp.finfo(likely.dtype).tiny)),
        counted_by_bin=which,
        certainty_by_bin=which * certainty,
        correct_by_bin=which * correct,
    )


def added_up(*opinions: Opinion, which: Any = slice(None)) -> Opinion:
    """Over their first axis, or what is asked for of it, in double precision."""
    return jax.tree.map(lambda *values: sum(np.asarray(of, np.float64)[which].sum(axis=0) for of in values), *opinions)


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


def calibration(opinions: Opinion) -> Calibration:
    """Of opinions that are added up, but for the bins, which are the last axis."""
    number, certainty, correct = (
        np.asarray(values, np.float64).reshape(-1, BINS).sum(axis=0)
        for values in (opinions.counted_by_bin, opinions.certainty_by_bin, opinions.correct_by_bin)
    )
    with np.errstate(invalid="ignore"):
        return Calibration(certainty / number, correct / number, number / number.sum())
