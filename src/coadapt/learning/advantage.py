"""How much better an action did than expected."""

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Bool, Float, Scalar


def generalised_advantages(
    rewards: Float[Array, "time"],
    values: Float[Array, "time"],
    next_values: Float[Array, "time"],
    terminated: Bool[Array, "time"],
    truncated: Bool[Array, "time"],
    discount: Scalar | float,
    gae_lambda: Scalar | float,
) -> Float[Array, "time"]:
    """Generalised advantage estimates along one trajectory, which may hold several episodes.

    `next_values[t]` is the value of what followed step t, before any reset. It counts for nothing after a terminated
    step; after a truncated one it stands for the rest that was cut off. Nothing flows back over the end of an episode.
    """
    surprises = rewards + discount * jnp.where(terminated, 0.0, next_values) - values
    decays = jnp.where(terminated | truncated, 0.0, discount * gae_lambda)

    def back(later, now):
        surprise, decay = now
        advantage = surprise + decay * later
        return advantage, advantage

    return jax.lax.scan(back, jnp.float32(0), (surprises, decays), reverse=True)[1]
