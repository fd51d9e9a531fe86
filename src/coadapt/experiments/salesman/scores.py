"""What the salesman's agents achieve with partners of each kind: those they trained with, and those they never met."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.agents.behaviour_conditioned import FEEDS
from coadapt.arrays import Count, Key, Vector
from coadapt.encounters import Greedy, Transition
from coadapt.evaluation.adaptation import Opinion, opinion
from coadapt.evaluation.returns import Means, Notes, play_with_all, pooled, side_by_side
from coadapt.experiments.salesman.clones import Clones, networks_of, stage_name, told_nothing
from coadapt.experiments.salesman.config import SalesmanConfig
from coadapt.experiments.salesman.seats import (
    THIS_RUN,
    Seat,
    Source,
    display_of,
    for_each,
    in_each_mode,
    seats_of,
    taken_by,
    told_by_sources,
    told_labels,
)
from coadapt.experiments.salesman.training import told_by
from coadapt.experiments.salesman.world import KINDS
from coadapt.games.game import MAIN
from coadapt.games.salesman.rules import Salesman
from coadapt.partners.population import Partners, label_by_game
from coadapt.pipeline.stages import key_for, measuring_stage
from coadapt.runs.stage import Info, Inputs, Stage


def means_of(key: Key, game: Salesman, partners: Partners, seat: Seat, episodes: int, greedy: Greedy) -> Means:
    """Episodes of whoever sits in the seat with each partner."""
    return play_with_all(key, game, partners, seat.as_player, seat.told, episodes, greedy)[0]


def labels_by_game(config: SalesmanConfig, partners: Partners) -> Any:
    """The partner's label in each of the games that a batch of episodes is played in."""
    return label_by_game(side_by_side(config.batch) * len(partners.ids), partners)


def evaluation_of(config: SalesmanConfig, seed: int, source: Source = THIS_RUN) -> Stage:
    """The stage that lets all methods of one seed, and the controls, play with the reference partners."""

    def measure(inputs: Inputs, key: Key, part: Count) -> tuple[ByMode, Info]:
        for_play, for_labels = jax.random.split(jax.random.fold_in(key, part))
        partners, networks = source.partners(config, inputs), source.networks(inputs, seed)
        labels = labels_by_game(config, partners)
        play = lambda seat: in_each_mode(
            lambda greedy: means_of(for_play, config.world.game, partners, seat, config.batch, greedy),
            source.evaluated_modes,
        )
        found = {method: play(seat) for method, seat in seats_of(config, networks, labels).items()}
        if "behaviour_conditioned" in config.methods:
            told = lambda labels: play(told_labels(networks("policy"), labels))
            found |= for_each(told, told_by_sources(for_labels, labels))
        return found, _returns(found)

    settings = _settings(config, seed) | {"methods": config.methods, "references": config.references}
    settings |= {"modes": source.evaluated_modes}
    name, needs = stage_name("evaluation", seed), source.needs(config.references, seed, config.trainings)
    display, key = display_of(seed, "behaviour_conditioned_argmax", "lstm_argmax"), key_for(seed, "evaluation")
    return measuring_stage(name, __name__, settings, measure, key, _parts(config), needs, **display)


ByMode = dict[str, dict[str, Any]]
"""What was measured, by who played and by mode."""


def crossplay_of(config: SalesmanConfig, seed: int, clones: tuple[int, ...], source: Source = THIS_RUN) -> Stage:
    """The stage that lets all methods of one seed play with every partner of these clones."""

    def measure(inputs: Inputs, key: Key, part: Count) -> tuple[ByMode, Info]:
        for_play = jax.random.fold_in(key, part)
        partners = source.partners_of(clones, inputs)
        seats = seats_of(config, source.networks(inputs, seed), labels_by_game(config, partners))
        play = lambda seat, greedy: means_of(for_play, config.world.game, partners, seat, config.batch, greedy)
        found = {method: in_each_mode(partial(play, seat), source.modes) for method, seat in seats.items()}
        return found, _returns(found)

    episodes = config.measures.episodes
    settings = _settings(config, seed) | {"methods": config.methods, "clones": clones, "episodes": episodes}
    settings |= {"modes": source.modes}
    needs = source.needs(clones, seed, config.trainings)
    parts, mode = episodes // config.batch, source.modes[-1]
    display = display_of(seed, f"behaviour_conditioned_{mode}", f"lstm_{mode}")
    name, key = stage_name("crossplay", seed), key_for(seed, "crossplay")
    return measuring_stage(name, __name__, settings, measure, key, parts, needs, **display)


class Rehearsed(NamedTuple):
    """What came of the episodes with each partner, and of the beliefs by step."""

    episodes: Means
    beliefs: Notes  # opinions


def rehearsal_of(config: SalesmanConfig, seed: int) -> Stage:
    """The stage that lets the agent play with its training partners, in all ways to act on a belief.

    What is chosen between them is chosen here, out of sight of the reference partners.
    """
    population = config.population_of(seed)

    def measure(inputs: Inputs, key: Key, part: Count) -> tuple[ByMode, Info]:
        for_play = jax.random.fold_in(key, part)
        partners, networks = THIS_RUN.partners_of(population, inputs), THIS_RUN.networks(inputs, seed)
        agents = {feed: told_by(networks("predictor"), networks("policy"), feed) for feed in FEEDS}
        labels = labels_by_game(config, partners)
        play = lambda agent, greedy: Rehearsed(
            *play_with_all(
                for_play, config.world.game, partners, lambda _: agent, labels, config.batch, greedy, own_opinion
            )
        )
        rehearsed = {feed: in_each_mode(partial(play, agent)) for feed, agent in agents.items()}
        episodes = {feed: {mode: of.episodes for mode, of in found.items()} for feed, found in rehearsed.items()}
        return rehearsed, _returns(episodes)

    needs = THIS_RUN.needs(population, seed, ("policy", "predictor"))
    settings = _settings(config, seed) | {"episodes": config.rehearsal_episodes}
    parts, name = config.rehearsal_episodes // config.batch, stage_name("rehearsal", seed)
    display, key = display_of(seed, f"{config.feed}_argmax"), key_for(seed, "rehearsal")
    return measuring_stage(name, __name__, settings, measure, key, parts, needs, **display)


def own_opinion(transition: Transition, label: Vector) -> Opinion:
    """What the agent's own belief is worth at a transition."""
    return opinion(transition.infos[MAIN]["belief"], label)


def _returns(means: ByMode) -> Info:
    """What to show of them while it goes on."""
    return {f"{who}_{mode}": jnp.mean(of.total)[None] for who, found in means.items() for mode, of in found.items()}


def self_play_of(config: SalesmanConfig, seed: int) -> Stage:
    """The stage that measures the three partners a clone has left behind, each with a copy of itself."""

    def measure(inputs: Inputs, key: Key, part: Count) -> tuple[Means, Info]:
        clones: Clones = networks_of(inputs, "clones", seed)
        for_play = jax.random.fold_in(key, part)
        nothing = jnp.zeros((side_by_side(config.batch), 0))
        scores = []
        for policy in (getattr(clones, kind) for kind in KINDS):
            player = told_nothing(policy)
            alone = Partners(jax.tree.map(lambda leaf: leaf[None], player), jnp.zeros((1, 0)), jnp.zeros(1, jnp.int32))
            itself = taken_by(player, nothing)
            scores.append(means_of(for_play, config.world.game, alone, itself, config.batch, greedy=False))
        by_kind = jax.tree.map(lambda *kinds: jnp.concatenate(kinds), *scores)
        return by_kind, {f"length_{kind}": by_kind.length[k][None] for k, kind in enumerate(KINDS)}

    name, needs = stage_name("self_play", seed), (stage_name("clones", seed),)
    settings, display = _settings(config, seed), display_of(seed, "length_skilled")
    key = key_for(seed, "self_play")
    return measuring_stage(name, __name__, settings, measure, key, _parts(config), needs, **display)


def _parts(config: SalesmanConfig) -> int:
    return config.episodes // config.batch


def _settings(config: SalesmanConfig, seed: int) -> dict[str, Any]:
    return {
        "world": config.world,
        "seed": seed,
        "episodes": config.episodes,
        "batch": config.batch,
        "feed": config.feed,
    }


class Cell(NamedTuple):
    """What a method achieved with a partner, over all episodes: `Means` as plain numbers."""

    length: float
    total: float
    total_error: float
    finished: float


def cells_of(parts: Means, episodes: Sequence[int] | None = None) -> list[Cell]:
    """The means over all parts of a measurement, for each partner; the parts are alike, if nothing else is said."""
    whole = pooled(parts, episodes or [1] * len(parts.total))
    return [Cell(*map(float, each)) for each in zip(*whole, strict=True)]
