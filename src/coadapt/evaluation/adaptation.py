"""How soon and how well a belief finds out whom it is dealing with."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.arrays import Array, Float, Scalar, Vector

AS_LIKELY = 1e-5
"""Probabilities that are nearer to each other than this share of them are taken to be the same."""

BINS = 10
"""Into so many equally wide bins beliefs are sorted by their certainty: the probability of the likeliest label."""


class Opinion(NamedTuple):
    """What a belief is worth at one step. Added up over many of them, all that is to be known of it."""

    counted: Scalar  # one
    correct: Scalar  # one if the likeliest label is the true one; of labels that are as likely, its share
    brier: Scalar  # the squared distance to the truth
    log_loss: Scalar
    counted_by_bin: Float[Array, "bins"]
    certainty_by_bin: Float[Array, "bins"]
    correct_by_bin: Float[Array, "bins"]


def opinion(belief: Vector, label: Vector) -> Opinion:
    """A belief beside the true label, which is one-hot."""
    likely, certainty = jnp.sum(belief * label), jnp.max(belief)
    likeliest = (belief >= certainty * (1 - AS_LIKELY)).astype(jnp.float32)
    correct = jnp.sum(likeliest * label) / jnp.sum(likeliest)
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
    """After how many steps the right label is the likeliest in at least this share of episodes, and remains so.

    `accuracy` is by the number of steps that were seen, from none at all; None if it is never reached for good.
    """
    wrong = np.flatnonzero(~(np.asarray(accuracy) >= share))
    steps = int(wrong[-1]) + 1 if wrong.size else 0
    return steps if steps < len(accuracy) else None


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
    """Of opinions about partners of all kinds that are added up, but for the bins, which are the last axis.

    Of one type alone there is none: a belief may rightly be wrong about the rarer ones.
    """
    number, certainty, correct = (
        np.asarray(values, np.float64).reshape(-1, BINS).sum(axis=0)
        for values in (opinions.counted_by_bin, opinions.certainty_by_bin, opinions.correct_by_bin)
    )
    with np.errstate(invalid="ignore"):
        return Calibration(certainty / number, correct / number, number / number.sum())


def calibration_by_step(opinions: Opinion) -> list[Calibration]:
    """The same of each step, which is the first axis."""
    steps = range(np.shape(opinions.counted)[0])
    return [calibration(jax.tree.map(lambda values, step=step: values[step], opinions)) for step in steps]
