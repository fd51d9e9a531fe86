"""How soon an agent finds out whom it plays with, and what it does when somebody else takes over.

Where there is an oracle the belief stands beside the exact posterior, which watches the same games and knows each of
those it may be.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.agents.beliefs import ReplayedBelief, Restarting, WithOnlooker
from coadapt.arrays import Count, Key, Vector
from coadapt.encounters import Greedy, Transition
from coadapt.evaluation.adaptation import Opinion, opinion
from coadapt.evaluation.returns import Episodes, Notes, nothing, play_with_all
from coadapt.games.game import MAIN
from coadapt.partners.population import Partners
from coadapt.partners.switch import PartnerSwitch
from coadapt.pipeline.co_op import acting_on
from coadapt.pipeline.evaluation import own_opinion
from coadapt.pipeline.method import Method
from coadapt.pipeline.partners import PartnerId, partners_of, populations
from coadapt.pipeline.seats import MANY, THIS_RUN, AgentSource, Met, in_each_mode, labels_by_game, measurement, taken_by
from coadapt.players import prepared
from coadapt.runs.stage import Info, Inputs, Stage

if TYPE_CHECKING:
    from coadapt.pipeline.study import Study

ADAPTATION, SWITCH = "adaptation", "partner_switch"


def adaptation_of(study: Study, method: Method, seed: int, agents: AgentSource = THIS_RUN) -> Stage:
    """The stage in which the exact posterior, if there is one, looks over the agent's shoulder."""
    oracle = study.task.oracle

    def measure(inputs: Inputs, key: Key, part: Count) -> tuple[dict[str, Notes], Info]:
        partners = partners_of(study, study.held_out, inputs)
        agent = agents.player(study, method, inputs, seed)
        posterior = None if oracle is None else oracle.posterior(partners)
        watched = agent if posterior is None else WithOnlooker(agent, posterior)
        seat, for_play = taken_by(watched, labels_by_game(study, partners)), jax.random.fold_in(key, part)
        play = lambda greedy: (
            play_with_all(for_play, study.task.game, partners, *seat, study.batch, greedy, _opinions).notes
        )
        said = in_each_mode(play, agents.modes)
        right = lambda of: (jnp.sum(of.correct) / jnp.sum(of.counted))[None]
        return said, {who: right(of) for who, of in said[agents.modes[-1]].lasting.items()}

    parts, met, shown = study.measures.episodes // study.batch, Met(study.held_out), ("predictor",)
    return measurement(
        ADAPTATION, __name__, study, method, seed, met, measure, parts, agents, shown, modes=agents.modes
    )


def _opinions(transition: Transition, label: Vector) -> dict[str, Opinion]:
    said = {"predictor": own_opinion(transition, label)}
    theirs = transition.infos[MAIN].get("onlooker")
    return said if theirs is None else said | {"posterior": opinion(theirs, label)}


ANNOUNCED, ORACLE = "announced", "oracle_label"
"""Who is told that there is a new partner, and who is told its type; a method alone is told nothing."""


def switch_of(study: Study, method: Method, seed: int, agents: AgentSource = THIS_RUN) -> Stage:
    """The stage in which another partner takes over in the middle of the episode.

    An agent with a belief also plays told that there is somebody new, or even whom.
    """
    game, after = study.task.game, study.measures.switch_after

    def measure(inputs: Inputs, key: Key, part: Count) -> tuple[dict[str, dict[str, Episodes]], Info]:
        partners = partners_of(study, study.held_out, inputs)
        first, second = switched_pairs(study.held_out_ids, study.task.types)
        pairs = _switched(partners, first, second, after)
        before, since = (labels_by_game(study, pairs._replace(labels=partners.labels[of])) for of in (first, second))
        told = jnp.where(jnp.arange(game.max_steps)[:, None] < after, before[:, None], since[:, None])
        for_play = jax.random.fold_in(key, part)
        players = _who_plays(study, method, agents, inputs, seed)

        def play(name: str, greedy: Greedy) -> Episodes:
            note = own_opinion if method.has_belief and name != ORACLE else nothing
            return play_with_all(for_play, game, pairs, players[name], told, study.batch, greedy, note)

        found = {name: in_each_mode(lambda greedy, name=name: play(name, greedy), agents.modes) for name in players}
        return found, {name: jnp.mean(of[agents.modes[-1]].means.total)[None] for name, of in found.items()}

    parts, met, shown = study.measures.episodes // study.batch, Met(study.held_out), (method.name,)
    settings = {"modes": agents.modes, "after": after}
    return measurement(
        SWITCH, __name__, study, method, seed, met, measure, parts, agents, shown, purpose="exchange", **settings
    )


def _who_plays(study: Study, method: Method, agents: AgentSource, inputs: Inputs, seed: int) -> dict[str, Any]:
    """By name, each given what it may be told by step."""
    always = lambda agent: lambda told: agent
    players = {method.name: always(prepared(agents.player(study, method, inputs, seed), MANY))}
    if method.has_belief:
        networks = prepared(agents.networks(method, inputs, seed), MANY)
        belief, policy, way = networks["belief"], networks["policy"], study.conditioning
        # Where it starts afresh it sees but where the old partner has got to, and nothing of how.
        players[ANNOUNCED] = always(acting_on(Restarting(belief, study.measures.switch_after), policy, way))
        players[ORACLE] = lambda told: acting_on(ReplayedBelief(told), policy, way)
    return players


def switched_pairs(ids: Sequence[PartnerId], types: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Who is first and who second in all pairs of types of every population: also of equals, where nothing is switched.

    A population that has nobody of a type borrows somebody from another.
    """
    first, second = [], []
    of_type = {name: [n for n, each in enumerate(ids) if each.type == name] for name in types}
    for number, population in enumerate(populations(ids)):
        own = {name: [n for n in those if ids[n].population == population] for name, those in of_type.items()}
        chosen = {name: (own[name] or [those[number % len(those)]])[0] for name, those in of_type.items() if those}
        for one, other in itertools.product(chosen.values(), repeat=2):
            first.append(one)
            second.append(other)
    return np.array(first), np.array(second)


def _switched(partners: Partners, first: np.ndarray, second: np.ndarray, after: int) -> Partners:
    """Pairs of partners, labelled as the second."""
    of = lambda which: jax.tree.map(lambda leaf: leaf[which], partners.players)
    players = PartnerSwitch(of(first), of(second), jnp.full(len(first), after))
    return Partners(players, partners.labels[second], jnp.arange(len(first)))
