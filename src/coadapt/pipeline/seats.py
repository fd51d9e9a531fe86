"""Who sits down to be measured: a method of a seed, or the conditioned policy with another label than its belief."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.arrays import Array, Float, Key
from coadapt.encounters import Greedy
from coadapt.evaluation.returns import Means, side_by_side
from coadapt.partners.population import Partners, label_by_game
from coadapt.pipeline.co_op import with_oracle_label
from coadapt.pipeline.method import Method
from coadapt.pipeline.partners import PartnerSource
from coadapt.pipeline.self_play import networks_of
from coadapt.pipeline.stages import Measure, display_of, key_for, measuring_stage, stage_name
from coadapt.pipeline.task import AnyTask, code_of, identity_of
from coadapt.players import Player, prepared
from coadapt.runs.stage import Info, Inputs, Stage

if TYPE_CHECKING:
    from coadapt.pipeline.study import Study

MODES = {"sample": False, "argmax": True}
"""How the main agent acts, and whether that is greedy."""
MANY = 10**6
"""Whoever is measured looks at so many observations and more."""


class Seat(NamedTuple):
    """Who plays, given what it is told in each game."""

    as_player: Callable[[Any], Player]
    told: Float[Array, "games label"]


def taken_by(agent: Player, labels: Float[Array, "games label"]) -> Seat:
    """One who plays all games, and is told nothing of the labels."""
    at_hand = prepared(agent, MANY)  # once, and not for every partner
    return Seat(lambda _: at_hand, labels)


def told_labels(policy: Any, labels: Float[Array, "games label"]) -> Seat:
    """The conditioned policy, told these labels, true or not."""
    at_hand = prepared(policy, MANY)
    return Seat(lambda label: with_oracle_label(at_hand, label), labels)


def other_labels(
    key: Key, task: AnyTask, labels: Float[Array, "games label"]
) -> dict[str, Float[Array, "games label"]]:
    """What else than its belief a policy can be told, given the truth."""
    always = {
        f"always_{name}": jnp.tile(row, (len(labels), 1)) for name, row in zip(task.types, _one_hot(task), strict=True)
    }
    return {"oracle_label": labels, "shuffled_label": jax.random.permutation(key, labels), **always}


def _one_hot(task: AnyTask) -> Float[Array, "types types"]:
    return jnp.eye(len(task.types))


def label_titles(types: Sequence[str]) -> dict[str, str]:
    """What each of these controls is called in tables."""
    always = {f"always_{name}": f"always told {name}" for name in types}
    return {"oracle_label": "oracle label", "shuffled_label": "shuffled label", **always}


def in_each_mode(play: Callable[[Greedy], Any], modes: Sequence[str] = tuple(MODES)) -> dict[str, Any]:
    """What is played in each mode, by one program that is gone through once for each."""
    return for_each(play, {mode: jnp.bool_(MODES[mode]) for mode in modes})


def for_each(do: Callable[[Any], Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """`do` with each of what is given, all of it alike, by one program: it is compiled once, not once for each."""
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *given.values())
    done = jax.lax.map(do, stacked)
    return {name: jax.tree.map(lambda leaf, n=n: leaf[n], done) for n, name in enumerate(given)}


def labels_by_game(study: Study, partners: Partners) -> Float[Array, "games label"]:
    """The partner's label in each of the games that a batch of episodes is played in."""
    return label_by_game(side_by_side(study.batch) * len(partners.ids), partners)


def mean_returns_of(found: Mapping[str, Means]) -> Info:
    """What to show of what was played in each mode while it goes on."""
    return {mode: jnp.mean(of.total)[None] for mode, of in found.items()}


def networks_from_training(method: Method, inputs: Inputs, seed: int) -> dict[str, Any]:
    """The networks of a method of one seed, by name, from the trainings of this run."""
    return {name: networks_of(inputs, purpose, seed) for name, purpose in method.parts.items()}


def trainings_behind(method: Method, seed: int) -> tuple[str, ...]:
    """The stages that make them."""
    return tuple(dict.fromkeys(stage_name(purpose, seed) for purpose in method.parts.values()))


class AgentSource(NamedTuple):
    """Where a measurement gets its agents from: the trainings of this run, if nothing else is said."""

    networks: Callable[[Method, Inputs, int], dict[str, Any]] = networks_from_training
    made_by: Callable[[Method, int], tuple[str, ...]] = trainings_behind
    modes: tuple[str, ...] = tuple(MODES)  # in which agents are looked at closely: one, if it was chosen before
    evaluated_modes: tuple[str, ...] = tuple(MODES)  # in which they are tried with the held-out partners

    def player(self, study: Study, method: Method, inputs: Inputs, seed: int) -> Player:
        """The agent of a method and a seed, whom nobody tells anything."""
        return method.player(self.networks(method, inputs, seed), study.task, study.conditioning)


THIS_RUN = AgentSource()


class Met(NamedTuple):
    """Whom a measurement is with: the partners of a source, and of which seed's agents they are if that matters."""

    source: PartnerSource
    seed: int | None = None


def measurement(
    what: str,
    code: str,
    study: Study,
    method: Method,
    seed: int,
    met: Met,
    measure: Measure,
    parts: int,
    agents: AgentSource = THIS_RUN,
    shown: tuple[str, ...] = (),
    purpose: str | None = None,
    **settings: Any,
) -> Stage:
    """The stage that measures a method's agent of one seed with some partners, in so many parts.

    `code` is the module that does so. The keys are for the purpose, so that the same luck may come to several stages;
    usually they have their own. `settings` are all on which it depends that is not the same in every measurement.
    """
    common = {"task": identity_of(study.task), "seed": seed, "method": method.name, "met": met.source.settings}
    how = {"conditioning": study.conditioning, "batch": study.batch, "parts": parts}
    return measuring_stage(
        stage_name(what, seed, method.name),
        (code, method.code, *code_of(study.task), *met.source.code),
        common | how | settings,
        measure,
        key_for(seed, purpose or what),
        parts,
        (*agents.made_by(method, seed), *met.source.needs(study, met.seed)),
        **display_of(f"{what} {method.name}", seed, *shown),
    )
