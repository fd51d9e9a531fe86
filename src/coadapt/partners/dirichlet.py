"""Partners that act by chance alone, each with preferences of its own drawn from a Dirichlet distribution."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Float, Key, Vector
from coadapt.partners.population import Partners
from coadapt.players import Decision, Seen


class Stationary(NamedTuple):
    """A player that acts by one fixed distribution, whatever it sees."""

    logits: Float[Array, "actions"]

    def start(self, key: Key) -> tuple[()]:
        del key
        return ()

    def decide(self, seen: Seen, memory: Any) -> Decision:
        del seen
        return Decision(self.logits, memory, {})


class DirichletPartners(NamedTuple):
    """Stationary partners whose action distribution, drawn from Dirichlet(concentration), is their label."""

    concentration: Vector

    @property
    def mean_label(self) -> Vector:
        """What is known of a partner before it has acted."""
        return self.concentration / jnp.sum(self.concentration)

    def draw(self, key: Key, games: int) -> Partners:
        # A Dirichlet draw is gamma draws divided by their sum. With small concentrations most gamma draws are too small
        # for a float (e^-1000 is nothing unusual), so both stay logarithms until the division is done.
        logits = jax.nn.log_softmax(
            log_gamma(key, jnp.broadcast_to(self.concentration, (games, self.concentration.size)))
        )
        return Partners(Stationary(logits), jnp.exp(logits), jnp.arange(games))


def log_gamma(key: Key, concentration: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Logarithms of gamma draws: Marsaglia and Tsang's rejection method on all elements at once.

    `jax.random.loggamma` draws the same but rejects element by element, which takes a CPU several times as long.
    """
    key, for_boost = jax.random.split(key)
    # The method wants concentrations of one or more: draw at concentration + 1 and bring the draw down afterwards.
    d = concentration + 2 / 3
    c = 1 / jnp.sqrt(9 * d)

    def propose(carry):
        key, draws, accepted = carry
        key, for_normal, for_uniform = jax.random.split(key, 3)
        x = jax.random.normal(for_normal, d.shape)
        v = (1 + c * x) ** 3
        log_v = jnp.log(jnp.maximum(v, jnp.finfo(v.dtype).tiny))
        log_u = jnp.log1p(-jax.random.uniform(for_uniform, d.shape))
        good = (v > 0) & (log_u < x**2 / 2 + d * (1 - v + log_v)) | ~jnp.isfinite(c)  # nonsense in, nonsense out
        return key, jnp.where(accepted, draws, jnp.log(d) + log_v), accepted | good

    carry = propose((key, jnp.zeros_like(d), jnp.zeros(d.shape, bool)))
    _, draws, _ = jax.lax.while_loop(lambda carry: ~jnp.all(carry[2]), propose, carry)
    return draws + jnp.log1p(-jax.random.uniform(for_boost, d.shape)) / concentration
