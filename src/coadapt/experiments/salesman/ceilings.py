"""How far the salesman's agents are from the best there is.

Each reference partner has an exact best response. What that is worth, from many starts on many layouts, is worked out
once; then every agent plays from the same starts.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.arrays import Array, Count, Float
from coadapt.configs.checks import whole
from coadapt.evaluation.regret import Ceiling, ceiling, from_starts, starts_on_a_layout
from coadapt.experiments.salesman.clones import networks_of, stage_name
from coadapt.experiments.salesman.config import SalesmanConfig
from coadapt.experiments.salesman.scores import MODES, Find, made_for, reference_stages, references_in, seats_of
from coadapt.experiments.stages import Info, Inputs, Stage, key_for, measuring_stage
from coadapt.games.salesman import SalesmanState

LAYOUTS_AT_ONCE = 10
"""Agents play on so many layouts side by side."""


@dataclass(frozen=True)
class LayoutsConfig:
    """On how many layouts agents are held against the best response, and from how many starts on each."""

    layouts: int = 200
    starts: int = 50

    def __post_init__(self):
        whole("layouts", self.layouts)
        whole("starts", self.starts)
        if self.layouts % LAYOUTS_AT_ONCE:
            raise ValueError(f"layouts must be a multiple of {LAYOUTS_AT_ONCE}, not {self.layouts}")


class Played(NamedTuple):
    """What an agent came to with each partner, from each start on each layout."""

    total: Float[Array, "partners layouts starts"]
    length: Float[Array, "partners layouts starts"]


def ceilings_of(
    config: SalesmanConfig, on: LayoutsConfig, find: Find = networks_of, needs: tuple[str, ...] | None = None
) -> Stage:
    """The stage that works out the best response to every reference partner, a layout at a time."""

    def measure(inputs: Inputs, layout: Count) -> tuple[Ceiling, Info]:
        partners, starts = references_in(config, inputs, find), _starts(config, on, layout)
        best = jax.lax.map(lambda partner: ceiling(config.world.game, starts, partner), partners.players)
        return best, {"return": jnp.mean(best.total)[None]}

    needs = reference_stages(config) if needs is None else needs
    display = {"replicates": ("all partners",), "shown": ("return",)}
    return measuring_stage("ceilings", __name__, _settings(config, on), measure, on.layouts, needs, **display)


def regret_of(
    config: SalesmanConfig,
    on: LayoutsConfig,
    seed: int,
    find: Find = networks_of,
    needs: tuple[str, ...] | None = None,
) -> Stage:
    """The stage that lets the agents of one seed play from all starts, with every reference partner, in either mode."""

    def measure(inputs: Inputs, part: Count) -> tuple[dict[str, Played], Info]:
        partners = references_in(config, inputs, find)
        layouts = part * LAYOUTS_AT_ONCE + jnp.arange(LAYOUTS_AT_ONCE)
        starts = jax.vmap(lambda layout: _starts(config, on, layout))(layouts)
        for_play, for_labels = jax.random.split(jax.random.fold_in(key_for(seed, "regret"), part))
        seats = seats_of(for_labels, config, lambda training: find(inputs, training, seed), partners.labels)
        found = {}
        for method in methods_of(config):
            as_player = seats[method].as_player
            for mode, greedy in MODES.items():
                play = lambda row, greedy=greedy, as_player=as_player: _play(
                    for_play, config, starts, as_player(row[1]), row[0], greedy
                )
                found[f"{method}_{mode}"] = jax.lax.map(play, (partners.players, partners.labels))
        return found, {name: jnp.mean(played.total)[None] for name, played in found.items()}

    needs = made_for(config, seed) if needs is None else needs
    name, parts = stage_name("regret", seed), on.layouts // LAYOUTS_AT_ONCE
    settings = _settings(config, on) | {"seed": seed, "feed": config.feed, "methods": config.methods}
    display = {"replicates": (f"seed {seed}",), "shown": tuple(f"{method}_argmax" for method in config.methods[:2])}
    return measuring_stage(name, __name__, settings, measure, parts, needs, **display)


def methods_of(config: SalesmanConfig) -> tuple[str, ...]:
    """Whose regret is measured: all methods', and the conditioned policy's when it is told the truth."""
    known = ("true_label",) if "behaviour_conditioned" in config.methods else ()
    return (*config.methods, *known)


def _starts(config: SalesmanConfig, on: LayoutsConfig, layout: Count) -> SalesmanState:
    """The starts on one layout. Which they are depends on its number alone: they are the same for everyone."""
    return starts_on_a_layout(jax.random.fold_in(key_for(0, "layouts"), layout), config.world.game, on.starts)


def _play(key: Any, config: SalesmanConfig, starts: SalesmanState, player: Any, partner: Any, greedy: bool) -> Played:
    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), starts)
    scores = from_starts(key, config.world.game, flat, player, partner, greedy)
    shape = starts.step.shape
    return Played(scores.total.reshape(shape), scores.length.reshape(shape))


def _settings(config: SalesmanConfig, on: LayoutsConfig) -> dict[str, Any]:
    return {"world": config.world, "references": config.references, "layouts": on.layouts, "starts": on.starts}


class Regret(NamedTuple):
    """How much less than the best response an agent came to with one partner."""

    best_total: float  # the best response's return
    best_length: float
    length: float  # so many more steps the agent takes
    by_layout: np.ndarray  # so much less its return is

    @property
    def total(self) -> float:
        """How much less the agent's return is."""
        return float(self.by_layout.mean())

    @property
    def total_error(self) -> float:
        """The standard error of that, from how layouts differ."""
        return float(self.by_layout.std(ddof=1) / len(self.by_layout) ** 0.5)


def regrets_of(best: Ceiling, played: Played) -> list[Regret]:
    """With each partner, from the outcomes of both stages."""
    most, fewest = (np.asarray(values, np.float64) for values in (best.total, best.length))  # layout, partner, start
    total, length = (_by_layout(values) for values in played)
    best_total, best_length, longer = (table.mean(axis=(0, 2)) for table in (most, fewest, length - fewest))
    lost = (most - total).mean(axis=2)
    return [
        Regret(float(best_total[n]), float(best_length[n]), float(longer[n]), lost[:, n]) for n in range(lost.shape[1])
    ]


def regrets_in(config: SalesmanConfig, outcomes: Inputs) -> dict[tuple[str, int, str], list[Regret]]:
    """All there are among the outcomes, by method, seed and mode: one for each reference partner."""
    return {
        (method, seed, mode): regrets_of(outcomes["ceilings"], outcomes[stage][f"{method}_{mode}"])
        for seed in config.seeds
        if (stage := stage_name("regret", seed)) in outcomes
        for method in methods_of(config)
        for mode in MODES
    }


def _by_layout(values: Any) -> np.ndarray:
    """Part, partner, layout, start: as layout, partner, start."""
    moved = np.moveaxis(np.asarray(values, np.float64), 1, 2)
    return moved.reshape(-1, *moved.shape[2:])
