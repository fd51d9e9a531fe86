"""What agents achieve with partners of each type: those they trained with, and those they never met.

Every stage measures one method of one seed. The same key brings the same luck to all methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from coadapt.agents.behaviour_conditioned import CONDITIONINGS
from coadapt.arrays import Count, Key, Vector
from coadapt.encounters import Greedy, Transition
from coadapt.evaluation.adaptation import Opinion, opinion
from coadapt.evaluation.returns import Episodes, play_with_all
from coadapt.games.game import MAIN
from coadapt.partners.population import Partners
from coadapt.pipeline.method import Method
from coadapt.pipeline.partners import PartnerSource, partners_of
from coadapt.pipeline.seats import (
    THIS_RUN,
    AgentSource,
    Met,
    Seat,
    for_each,
    in_each_mode,
    labels_by_game,
    mean_returns_of,
    measurement,
    other_labels,
    taken_by,
    told_labels,
)
from coadapt.pipeline.stages import Measure
from coadapt.runs.stage import Info, Inputs, Stage

if TYPE_CHECKING:
    from coadapt.pipeline.study import Study

EVALUATION, CONTROLS, MATRIX, VALIDATION = "evaluation", "controls", "evaluation_matrix", "validation"
"""What is measured: it names stages and, but for the controls, random keys."""

ByMode = dict[str, Any]
"""What was measured in each mode."""


def evaluation_of(study: Study, method: Method, seed: int, agents: AgentSource = THIS_RUN) -> Stage:
    """The stage that lets a method's agent of one seed play with the held-out partners."""

    def measure(inputs: Inputs, key: Key, part: Count) -> tuple[ByMode, Info]:
        for_play, _ = _keys(key, part)
        partners = partners_of(study, study.held_out, inputs)
        seat = taken_by(agents.player(study, method, inputs, seed), labels_by_game(study, partners))
        found = _means_in_each_mode(for_play, study, partners, seat, agents.evaluated_modes)
        return found, mean_returns_of(found)

    return _held_out(EVALUATION, study, method, seed, agents, measure)


def controls_of(study: Study, method: Method, seed: int, agents: AgentSource = THIS_RUN) -> Stage:
    """The stage that tells a method's policy other labels than those it believes in."""

    def measure(inputs: Inputs, key: Key, part: Count) -> tuple[dict[str, ByMode], Info]:
        for_play, for_labels = _keys(key, part)
        partners, networks = partners_of(study, study.held_out, inputs), agents.networks(method, inputs, seed)
        labels = labels_by_game(study, partners)

        def told(labels: Any) -> ByMode:
            seat = told_labels(networks["policy"], labels)
            return _means_in_each_mode(for_play, study, partners, seat, agents.evaluated_modes)

        found = for_each(told, other_labels(for_labels, study.task, labels))
        last = agents.evaluated_modes[-1]
        return found, {name: jnp.mean(of[last].total)[None] for name, of in found.items()}

    return _held_out(CONTROLS, study, method, seed, agents, measure)


def _means_in_each_mode(key: Key, study: Study, partners: Partners, seat: Seat, modes: Sequence[str]) -> ByMode:
    """What a batch of episodes with each partner comes to."""
    play = lambda greedy: play_with_all(key, study.task.game, partners, *seat, study.batch, greedy).means
    return in_each_mode(play, modes)


def _keys(key: Key, part: Count) -> tuple[Key, Key]:
    """For the games of a part, which are the same for everybody, and for labels."""
    for_play, for_labels = jax.random.split(jax.random.fold_in(key, part))
    return for_play, for_labels


def _held_out(what: str, study: Study, method: Method, seed: int, agents: AgentSource, measure: Measure) -> Stage:
    """A measurement with the held-out partners, on the same luck whatever it is of."""
    parts, met, modes = study.episodes // study.batch, Met(study.held_out), agents.evaluated_modes
    shown = modes[-1], "oracle_label"
    return measurement(
        what, __name__, study, method, seed, met, measure, parts, agents, shown, purpose=EVALUATION, modes=modes
    )


def evaluation_matrix_of(
    study: Study, method: Method, seed: int, met: PartnerSource, agents: AgentSource = THIS_RUN
) -> Stage:
    """The stage that lets a method's agent of one seed play with every partner of a source."""

    def measure(inputs: Inputs, key: Key, part: Count) -> tuple[ByMode, Info]:
        for_play = jax.random.fold_in(key, part)
        partners = partners_of(study, met, inputs)
        seat = taken_by(agents.player(study, method, inputs, seed), labels_by_game(study, partners))
        found = _means_in_each_mode(for_play, study, partners, seat, agents.modes)
        return found, mean_returns_of(found)

    parts, modes = study.measures.episodes // study.batch, agents.modes
    shown, purpose = modes[-1:], "crossplay"
    return measurement(
        MATRIX, __name__, study, method, seed, Met(met), measure, parts, agents, shown, purpose, modes=modes
    )


def validation_of(study: Study, method: Method, seed: int) -> Stage:
    """The stage that lets an agent with a belief play with its training partners, in all ways to act on that.

    What is chosen between them is chosen here, out of sight of the held-out partners.
    """
    game = study.task.game

    def measure(inputs: Inputs, key: Key, part: Count) -> tuple[dict[str, ByMode], Info]:
        for_play = jax.random.fold_in(key, part)
        partners = partners_of(study, study.partners, inputs, seed)
        networks, labels = THIS_RUN.networks(method, inputs, seed), labels_by_game(study, partners)

        def play(seat: Seat, greedy: Greedy) -> Episodes:
            return play_with_all(for_play, game, partners, *seat, study.batch, greedy, own_opinion)

        seats = {way: taken_by(method.player(networks, study.task, way), labels) for way in CONDITIONINGS}
        found = {way: in_each_mode(partial(play, seat)) for way, seat in seats.items()}
        return found, {way: jnp.mean(of["argmax"].means.total)[None] for way, of in found.items()}

    parts, met = study.validation_episodes // study.batch, Met(study.partners, seed)
    shown, purpose = (study.conditioning,), "rehearsal"
    return measurement(VALIDATION, __name__, study, method, seed, met, measure, parts, shown=shown, purpose=purpose)


def own_opinion(transition: Transition, label: Vector) -> Opinion:
    """What the agent's own belief is worth at a transition."""
    return opinion(transition.infos[MAIN]["belief"], label)
