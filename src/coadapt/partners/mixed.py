"""Partners of different classes in one population: whoever brings scripted partners lists them by type."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.arrays import Count, Key
from coadapt.games.traced import Unfit, shape_of
from coadapt.partners.population import FixedPopulation, Partners
from coadapt.players import Decision, Player, Seen, check_decision, check_is_player


@jax.tree_util.register_static
@dataclass(frozen=True, eq=False)  # players may hold arrays, which cannot be compared: a cast is equal to itself alone
class Cast:
    """Players of any class, side by side. To JAX they are one constant, so they need not be trees of arrays."""

    players: tuple[Player, ...]


class OneOf(NamedTuple):
    """One player of a cast, chosen by its number there: several that differ in nothing else can be vmapped over.

    The whole cast decides at every step, each with a memory of its own, and the chosen one's word counts. So this is
    for scripted players. Networks of one shape are better stacked: then each does only its own work.
    """

    cast: Cast
    chosen: Count

    def start(self, key: Key) -> tuple[Any, ...]:
        keys = jax.random.split(key, len(self.cast.players))
        return tuple(player.start(own) for player, own in zip(self.cast.players, keys, strict=True))

    def decide(self, seen: Seen, memory: tuple[Any, ...]) -> Decision:
        decisions = [
            check_decision(type(player).__name__, player.decide(seen, own))
            for player, own in zip(self.cast.players, memory, strict=True)
        ]
        _check_same_actions(self.cast, decisions)
        logits = jnp.stack([decision.logits for decision in decisions])
        return Decision(logits[self.chosen], tuple(decision.memory for decision in decisions), {})


def _check_same_actions(cast: Cast, decisions: Sequence[Decision]) -> None:
    sizes = [decision.logits.size for decision in decisions]
    if len(set(sizes)) > 1:
        each = (f"{size} ({type(player).__name__})" for player, size in zip(cast.players, sizes, strict=True))
        raise ValueError(f"all players of a population must have the same number of actions, not {', '.join(each)}")


def players_by_type(given: Any) -> dict[str, list[Player]]:
    """The players of each type, of whom there may be one or several; a sentence if they are anything else."""
    if not isinstance(given, Mapping):
        raise Unfit(f"players must be listed by type, as in {{'a type': [player, ...]}}, not as {shape_of(given)}")
    listed: dict[str, list[Any]] = {}
    for name, players in given.items():
        is_list = isinstance(players, Sequence) and not hasattr(players, "decide") and not isinstance(players, str)
        listed[name] = list(players) if is_list else [players]
        for player in listed[name]:
            check_is_player(f"whoever is of type {name!r}", player)
    return listed


def fixed_population_of(types: Mapping[str, Player | Sequence[Player]]) -> FixedPopulation:
    """A fixed population of players by type; a partner's label is its type, one-hot in the order of the mapping."""
    listed = players_by_type(types)
    if not listed:
        raise Unfit("a population needs at least one type of partner")
    for name, players in listed.items():
        if not players:
            raise Unfit(f"nobody is of type {name!r}: list at least one player")
    cast = Cast(tuple(player for players in listed.values() for player in players))
    ids = jnp.arange(len(cast.players))
    labels = np.repeat(np.eye(len(listed), dtype=np.float32), [len(players) for players in listed.values()], axis=0)
    return FixedPopulation(Partners(OneOf(cast, ids), jnp.array(labels), ids))
