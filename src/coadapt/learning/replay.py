"""Going through a recorded trajectory again, so that gradients flow along its whole memory."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Bool

LONGEST_UNROLLED = 16
"""Up to here the steps are laid out one after the other for the compiler: faster to run, slower to compile."""


def replay(
    step: Callable[[Any, Any], tuple[Any, Any]], observations: Any, start: Any, ended: Bool[Array, "time"]
) -> tuple[Any, Any]:
    """`step(observation, memory) -> (output, memory)` along a trajectory: the outputs, and the memory after each step.

    The trajectory begins with the memory `start`, and so does whatever follows the end of an episode. Where there is no
    memory, the steps do not wait for each other.
    """
    if not jax.tree.leaves(start):
        return jax.vmap(lambda observation: step(observation, start))(observations)

    def carry_on(memory, now):
        observation, is_over = now
        output, memory = step(observation, memory)
        return jax.tree.map(lambda new, old: jnp.where(is_over, new, old), start, memory), (output, memory)

    unroll = len(ended) if len(ended) <= LONGEST_UNROLLED else 1
    return jax.lax.scan(carry_on, start, (observations, ended), unroll=unroll)[1]
