"""Everything that is trained side by side in one program: every concentration of the partners with every seed."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Float, Int, Key
from coadapt.pipeline.stages import for_purpose


class Replicates(NamedTuple):
    """A row each: the concentration of the partners, and a seed."""

    alphas: Float[Array, "replicates"]
    seeds: Int[Array, "replicates"]
    keys: Key  # that all its chances come from

    @property
    def names(self) -> tuple[str, ...]:
        rows = zip(self.alphas.tolist(), self.seeds.tolist(), strict=True)
        return tuple(f"alpha {alpha:g}, seed {seed}" for alpha, seed in rows)


def all_replicates(alphas: tuple[float, ...], seeds: tuple[int, ...]) -> Replicates:
    """Every concentration with every seed. Its key depends on the two alone, not on which others there are."""
    pairs = [(alpha, seed) for alpha in alphas for seed in seeds]
    each_alpha = jnp.array([alpha for alpha, _ in pairs], jnp.float32)
    each_seed = jnp.array([seed for _, seed in pairs], jnp.uint32)
    bits = jax.lax.bitcast_convert_type(each_alpha, jnp.uint32)
    keys = jax.vmap(lambda seed, alpha: jax.random.fold_in(jax.random.key(seed), alpha))(each_seed, bits)
    return Replicates(each_alpha, each_seed, keys)


def keys_for(replicates: Replicates, purpose: str) -> Key:
    """The keys of all replicates for one purpose, such as the training of a network; each purpose has its own."""
    return jax.vmap(lambda key: for_purpose(key, purpose))(replicates.keys)
