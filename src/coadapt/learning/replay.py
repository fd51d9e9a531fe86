"""Going through a recorded trajectory again, so that gradients flow along its whole memory."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Bool
from coadapt.games.game import Game


def check_covers_an_episode(steps: int, game: Game) -> None:
    """Memories are not carried from one iteration to the next: each starts new episodes, and must be long enough."""
    if steps < game.max_steps:
        raise ValueError(f"num_steps ({steps}) must cover an episode ({game.max_steps}): each iteration starts anew")


def embedded(network: Any, seen: Any) -> Any:
    """All that is seen along a trajectory as embeddings, which need no memory and so can be made at once.

    It is for networks with an `embed(seen)`, which take what that returns in place of what is seen.
    """
    embed = getattr(network, "embed", None)
    return seen if embed is None else jax.vmap(embed)(seen)


def replay(
    step: Callable[[Any, Any], tuple[Any, Any]], seen: Any, start: Any, ended: Bool[Array, "time"]
) -> tuple[Any, Any]:
    """`step(seen, memory) -> (output, memory)` along a trajectory: the outputs, and the memory after each step.

    The trajectory begins with the memory `start`, and so does whatever follows the end of an episode. Where there is no
    memory, the steps do not wait for each other.
    """
    if not jax.tree.leaves(start):
        return jax.vmap(lambda now: step(now, start))(seen)

    def carry_on(memory, now):
        one, is_over = now
        output, memory = step(one, memory)
        return jax.tree.map(lambda new, old: jnp.where(is_over, new, old), start, memory), (output, memory)

    # Laid out one after the other, the steps take as long to run and twice as long to compile.
    return jax.lax.scan(carry_on, start, (seen, ended))[1]
