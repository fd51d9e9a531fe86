"""Partners from several sources together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Count, Key
from coadapt.pipeline.partners import Partner, PartnerId, PartnerSource
from coadapt.players import Decision, Player, Seen
from coadapt.runs.stage import Inputs, Stage

if TYPE_CHECKING:
    from coadapt.pipeline.study import Study


@dataclass(frozen=True)
class Mixture(PartnerSource):
    """All partners of all sources, source after source."""

    sources: tuple[PartnerSource, ...]

    @property
    def code(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((__name__, *(module for source in self.sources for module in source.code))))

    @property
    def settings(self) -> Any:
        return [source.settings for source in self.sources]

    def check(self, study: Study) -> None:
        for source in self.sources:
            source.check(study)

    def ids(self, study: Study, seed: int | None = None) -> list[PartnerId]:
        return [each for source in self.sources for each in source.ids(study, seed)]

    def identities(self, study: Study) -> set[tuple[str, Any]]:
        return set().union(*(source.identities(study) for source in self.sources))

    def stages(self, study: Study) -> list[Stage]:
        return [stage for source in self.sources for stage in source.stages(study)]

    def needs(self, study: Study, seed: int | None = None) -> tuple[str, ...]:
        return tuple(dict.fromkeys(stage for source in self.sources for stage in source.needs(study, seed)))

    def players(self, study: Study, inputs: Inputs, seed: int | None = None) -> Any:
        return together([source.players(study, inputs, seed) for source in self.sources])

    def left_behind(self, study: Study, outcomes: Inputs) -> Iterator[tuple[Partner, Any]]:
        for source in self.sources:
            yield from source.left_behind(study, outcomes)

    def each_alone(self, study: Study, agents: Path) -> list[tuple[str, Player]]:
        return [each for source in self.sources for each in source.each_alone(study, agents)]

    def in_words(self, study: Study, seed: int | None = None) -> str:
        return " and ".join(source.in_words(study, seed) for source in self.sources)


class FromBlock(NamedTuple):
    """A player of one of several blocks, whose players differ in more than their numbers.

    One of each block decides at every step, and the word of the one that is meant counts.
    """

    blocks: tuple[Any, ...]
    block: Count

    def start(self, key: Key) -> tuple[Any, ...]:
        keys = jax.random.split(key, len(self.blocks))
        return tuple(player.start(own) for player, own in zip(self.blocks, keys, strict=True))

    def decide(self, seen: Seen, memory: tuple[Any, ...]) -> Decision:
        decisions = [player.decide(seen, own) for player, own in zip(self.blocks, memory, strict=True)]
        logits = jnp.stack([decision.logits for decision in decisions])
        return Decision(logits[self.block], tuple(decision.memory for decision in decisions), {})


def together(blocks: list[Any]) -> Any:
    """Blocks of stacked players as one: players that differ in their numbers alone are simply stacked."""
    alike = {str(jax.tree.map(lambda leaf: (leaf.shape[1:], leaf.dtype), block)) for block in blocks}
    if len(alike) == 1 and len({jax.tree.structure(block) for block in blocks}) == 1:
        return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *blocks)
    sizes = [len(jax.tree.leaves(block)[0]) for block in blocks]
    which = jnp.repeat(jnp.arange(len(blocks)), jnp.array(sizes), total_repeat_length=sum(sizes))
    within = jnp.concatenate([jnp.arange(size) for size in sizes])
    own = [jnp.where(which == n, within, 0) for n in range(len(blocks))]  # whoever is not meant may be anybody
    chosen = (jax.tree.map(lambda leaf, at=at: leaf[at], block) for block, at in zip(blocks, own, strict=True))
    return FromBlock(tuple(chosen), which)
