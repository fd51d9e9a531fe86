"""What agents achieve with partners of each type: those they trained with, and those they never met.

Every stage measures one method of one seed. The same key brings the same luck to all methods.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.agents.behaviour_conditioned import CONDITIONINGS
from coadapt.arrays import Count, Key, Vector
from coadapt.encounters import Greedy, Transition
from coadapt.evaluation.adaptation import Opinion, opinion
from coadapt.evaluation.returns import Means, Notes, play_with_all, pooled
from coadapt.games.game import MAIN, Game
from coadapt.partners.population import Partners
from coadapt.pipeline.method import Method
from coadapt.pipeline.seats import (
    THIS_RUN,
    AgentSource,
    Seat,
    display_of,
    for_each,
    in_each_mode,
    labels_by_game,
    mean_returns_of,
    other_labels,
    taken_by,
    told_labels,
)
from coadapt.pipeline.self_play import made_by, snapshots_of, with_itself
from coadapt.pipeline.stages import key_for, measuring_stage, stage_name
from coadapt.pipeline.study import PartnerSource, Study, partners_of
from coadapt.pipeline.task import code_of, identity_of
from coadapt.runs.stage import Info, Inputs, Stage

EVALUATION, CONTROLS, MATRIX, VALIDATION, SELF_PLAY = (
    "evaluation",
    "controls",
    "evaluation_matrix",
    "validation",
    "self_play",
)
"""What is measured: it names stages and, but for the controls, random keys."""

ByMode = dict[str, Any]
"""What was measured in each mode."""


def means_of(key: Key, game: Game, partners: Partners, seat: Seat, episodes: int, greedy: Greedy) -> Means:
    """Episodes of whoever sits in the seat with each partner."""
    return play_with_all(key, game, partners, seat.as_player, seat.told, episodes, greedy)[0]


def evaluation_of(study: Study, method: Method, seed: int, agents: AgentSource = THIS_RUN) -> Stage:
    """The stage that lets a method's agent of one seed play with the held-out partners."""

    def measure(inputs: Inputs, key: Key, part: Count) -> tuple[ByMode, Info]:
        for_play, _ = _keys(key, part)
        partners = partners_of(study, study.held_out, inputs)
        seat = taken_by(agents.player(study, method, inputs, seed), labels_by_game(study, partners))
        play = lambda greedy: means_of(for_play, study.task.game, partners, seat, study.batch, greedy)
        found = in_each_mode(play, agents.evaluated_modes)
        return found, mean_returns_of(found)

    return _of_method(EVALUATION, study, method, seed, agents, measure)


def controls_of(study: Study, method: Method, seed: int, agents: AgentSource = THIS_RUN) -> Stage:
    """The stage that tells a method's policy other labels than those it believes in."""

    def measure(inputs: Inputs, key: Key, part: Count) -> tuple[dict[str, ByMode], Info]:
        for_play, for_labels = _keys(key, part)
        partners, networks = partners_of(study, study.held_out, inputs), agents.networks(method, inputs, seed)
        labels = labels_by_game(study, partners)

        def told(labels: Any) -> ByMode:
            seat = told_labels(networks["policy"], labels)
            play = lambda greedy: means_of(for_play, study.task.game, partners, seat, study.batch, greedy)
            return in_each_mode(play, agents.evaluated_modes)

        found = for_each(told, other_labels(for_labels, study.task, labels))
        last = agents.evaluated_modes[-1]
        return found, {name: jnp.mean(of[last].total)[None] for name, of in found.items()}

    return _of_method(CONTROLS, study, method, seed, agents, measure)


def _keys(key: Key, part: Count) -> tuple[Key, Key]:
    """For the games of a part, which are the same for everybody, and for labels."""
    for_play, for_labels = jax.random.split(jax.random.fold_in(key, part))
    return for_play, for_labels


def _of_method(what: str, study: Study, method: Method, seed: int, agents: AgentSource, measure: Any) -> Stage:
    settings = _settings(study, seed) | {"held_out": study.held_out.settings, "modes": agents.evaluated_modes}
    return measuring_stage(
        stage_name(what, seed, method.name),
        (__name__, method.code, *code_of(study.task), *study.held_out.code),
        settings | {"method": method.name},
        measure,
        key_for(seed, EVALUATION),
        study.episodes // study.batch,
        (*agents.made_by(method, seed), *study.held_out.needs(study)),
        **display_of(f"{what} {method.name}", seed, agents.evaluated_modes[-1], "oracle_label"),
    )


def evaluation_matrix_of(
    study: Study, method: Method, seed: int, met: PartnerSource, agents: AgentSource = THIS_RUN
) -> Stage:
    """The stage that lets a method's agent of one seed play with every partner of a source."""

    def measure(inputs: Inputs, key: Key, part: Count) -> tuple[ByMode, Info]:
        for_play = jax.random.fold_in(key, part)
        partners = partners_of(study, met, inputs)
        seat = taken_by(agents.player(study, method, inputs, seed), labels_by_game(study, partners))
        play = lambda greedy: means_of(for_play, study.task.game, partners, seat, study.batch, greedy)
        found = in_each_mode(play, agents.modes)
        return found, mean_returns_of(found)

    episodes = study.measures.episodes
    settings = _settings(study, seed) | {"met": met.settings, "episodes": episodes, "modes": agents.modes}
    return measuring_stage(
        stage_name(MATRIX, seed, method.name),
        (__name__, method.code, *code_of(study.task), *met.code),
        settings | {"method": method.name},
        measure,
        key_for(seed, "crossplay"),
        episodes // study.batch,
        (*agents.made_by(method, seed), *met.needs(study)),
        **display_of(f"{MATRIX} {method.name}", seed, agents.modes[-1]),
    )


class Validated(NamedTuple):
    """What came of the episodes with each partner, and of the beliefs by step."""

    episodes: Means
    beliefs: Notes  # opinions


def validation_of(study: Study, method: Method, seed: int) -> Stage:
    """The stage that lets an agent with a belief play with its training partners, in all ways to act on that.

    What is chosen between them is chosen here, out of sight of the held-out partners.
    """
    game = study.task.game

    def measure(inputs: Inputs, key: Key, part: Count) -> tuple[dict[str, ByMode], Info]:
        for_play = jax.random.fold_in(key, part)
        partners = partners_of(study, study.partners, inputs, seed)
        networks, labels = THIS_RUN.networks(method, inputs, seed), labels_by_game(study, partners)

        def play(seat: Seat, greedy: Greedy) -> Validated:
            told = seat.as_player, seat.told
            return Validated(*play_with_all(for_play, game, partners, *told, study.batch, greedy, own_opinion))

        seats = {way: taken_by(method.player(networks, study.task, way), labels) for way in CONDITIONINGS}
        found = {way: in_each_mode(partial(play, seat)) for way, seat in seats.items()}
        return found, {way: jnp.mean(of["argmax"].episodes.total)[None] for way, of in found.items()}

    settings = _settings(study, seed) | {"partners": study.partners.settings}
    return measuring_stage(
        stage_name(VALIDATION, seed, method.name),
        (__name__, method.code, *code_of(study.task), *study.partners.code),
        settings | {"episodes": study.validation_episodes, "method": method.name},
        measure,
        key_for(seed, "rehearsal"),
        study.validation_episodes // study.batch,
        (*THIS_RUN.made_by(method, seed), *study.partners.needs(study, seed)),
        **display_of(f"{VALIDATION} {method.name}", seed, study.conditioning),
    )


def own_opinion(transition: Transition, label: Vector) -> Opinion:
    """What the agent's own belief is worth at a transition."""
    return opinion(transition.infos[MAIN]["belief"], label)


def self_play_of(study: Study, seed: int, types: Sequence[str]) -> Stage:
    """The stage that measures the partners a clone has left behind, one of each of these types, with themselves."""
    task = study.task

    def measure(inputs: Inputs, key: Key, part: Count) -> tuple[Means, Info]:
        for_play = jax.random.fold_in(key, part)
        policies = snapshots_of(study, inputs, seed)
        by_type = jax.lax.map(lambda policy: with_itself(for_play, task, policy, study.batch), policies)
        return by_type, {f"length_{name}": by_type.length[k][None] for k, name in enumerate(types)}

    return measuring_stage(
        stage_name(SELF_PLAY, seed),
        (__name__, *code_of(task)),
        _settings(study, seed) | {"shares": study.shares},
        measure,
        key_for(seed, SELF_PLAY),
        study.episodes // study.batch,
        made_by(study, seed),
        **display_of(SELF_PLAY, seed, f"length_{types[-1]}"),
    )


def _settings(study: Study, seed: int) -> dict[str, Any]:
    return {
        "task": identity_of(study.task),
        "seed": seed,
        "episodes": study.episodes,
        "batch": study.batch,
        "conditioning": study.conditioning,
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
