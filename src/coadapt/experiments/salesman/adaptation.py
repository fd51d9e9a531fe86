"""How soon the salesman's agent finds out whom it plays with, and what it does when somebody else takes over.

Its predictor stands beside the exact posterior, which watches the same games and knows each of those it may be.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.agents.beliefs import ReplayedBelief
from coadapt.agents.onlooker import WithOnlooker
from coadapt.agents.relational import ready
from coadapt.agents.restarting import Restarting
from coadapt.arrays import Count, Key, Vector
from coadapt.encounters import Greedy, Transition
from coadapt.evaluation.adaptation import Opinion, opinion
from coadapt.evaluation.returns import Means, Notes, nothing, play_with_all
from coadapt.experiments.salesman.clones import stage_name
from coadapt.experiments.salesman.config import SalesmanConfig
from coadapt.experiments.salesman.scores import labels_by_game, own_opinion
from coadapt.experiments.salesman.seats import THIS_RUN, Source, agents_of, display_of, in_each_mode, posterior_of
from coadapt.experiments.salesman.training import acting_on, told_by
from coadapt.experiments.salesman.world import KINDS
from coadapt.games.game import MAIN
from coadapt.partners.population import Partners
from coadapt.partners.switch import PartnerSwitch
from coadapt.pipeline.stages import key_for, measuring_stage
from coadapt.runs.stage import Info, Inputs, Stage

SOURCES = ("predictor", "posterior")
"""Who says what kind the partner is."""


def adaptation_of(config: SalesmanConfig, seed: int, source: Source = THIS_RUN) -> Stage:
    """The stage in which the exact posterior looks over the agent's shoulder."""

    def measure(inputs: Inputs, key: Key, part: Count) -> tuple[dict[str, Notes], Info]:
        partners, networks = source.partners(config, inputs), source.networks(inputs, seed)
        agent = told_by(networks("predictor"), networks("policy"), config.feed)
        watched, labels = WithOnlooker(agent, posterior_of(config, partners)), labels_by_game(config, partners)
        for_play = jax.random.fold_in(key, part)
        play = lambda greedy: play_with_all(
            for_play, config.world.game, partners, lambda _: watched, labels, config.batch, greedy, _both_opinions
        )[1]
        said = in_each_mode(play, source.modes)
        right = lambda of: (jnp.sum(of.correct) / jnp.sum(of.counted))[None]
        return said, {who: right(said[source.modes[-1]].lasting[who]) for who in SOURCES}

    return _stage("adaptation", config, seed, source, measure, {}, SOURCES)


def _both_opinions(transition: Transition, label: Vector) -> dict[str, Opinion]:
    theirs = opinion(transition.infos[MAIN]["onlooker"], label)
    return dict(zip(SOURCES, (own_opinion(transition, label), theirs), strict=True))


class AfterExchange(NamedTuple):
    """What came of the episodes of each pair of partners, in which the second takes over from the first."""

    episodes: Means
    beliefs: Notes  # opinions about the second, of those who have any


UNANNOUNCED, ANNOUNCED, TOLD = "behaviour_conditioned", "announced", "true_label"
"""The agent, to whom nobody says anything; who is told that there is a new partner; and who is told of which kind."""


def exchange_of(config: SalesmanConfig, seed: int, source: Source = THIS_RUN) -> Stage:
    """The stage in which another partner takes over in the middle of the episode.

    All methods of the seed play, and the agent also when it is told that there is somebody new, or even whom.
    """
    game, after = config.world.game, config.measures.exchange_after

    def measure(inputs: Inputs, key: Key, part: Count) -> tuple[dict[str, dict[str, AfterExchange]], Info]:
        networks, partners = source.networks(inputs, seed), source.partners(config, inputs)
        belief, policy = ready(networks("predictor")), networks("policy")
        always = lambda agent: lambda told: agent
        agents = {name: always(agent) for name, agent in agents_of(config, networks).items()}
        # Where it starts afresh it sees but where the old partner has got to, and nothing of how.
        agents[ANNOUNCED] = always(acting_on(Restarting(belief, after), policy, config.feed))
        agents[TOLD] = lambda told: acting_on(ReplayedBelief(told), policy, config.feed)
        first, second = exchanges(len(config.references))
        pairs = _exchanged(partners, first, second, after)
        before, since = (labels_by_game(config, pairs._replace(labels=partners.labels[of])) for of in (first, second))
        told = jnp.where(jnp.arange(game.max_steps)[:, None] < after, before[:, None], since[:, None])
        for_play = jax.random.fold_in(key, part)

        def play(name: str, greedy: Greedy) -> AfterExchange:
            note = own_opinion if name in (UNANNOUNCED, ANNOUNCED) else nothing
            return AfterExchange(*play_with_all(for_play, game, pairs, agents[name], told, config.batch, greedy, note))

        found = {name: in_each_mode(partial(play, name), source.modes) for name in agents}
        return found, {name: jnp.mean(of[source.modes[-1]].episodes.total)[None] for name, of in found.items()}

    return _stage("exchange", config, seed, source, measure, {"after": after}, (UNANNOUNCED, ANNOUNCED))


def exchanges(populations: int) -> tuple[np.ndarray, np.ndarray]:
    """Who is first and who second in all pairs of one population: also of equals, where nothing is exchanged."""
    kinds = len(KINDS)
    first, second = (of.ravel() for of in np.meshgrid(np.arange(kinds), np.arange(kinds), indexing="ij"))
    base = kinds * np.arange(populations)[:, None]
    return (base + first).ravel(), (base + second).ravel()


def _exchanged(partners: Partners, first: np.ndarray, second: np.ndarray, after: int) -> Partners:
    """Pairs of partners, labelled as the second."""
    of = lambda which: jax.tree.map(lambda leaf: leaf[which], partners.players)
    players = PartnerSwitch(of(first), of(second), jnp.full(len(first), after))
    return Partners(players, partners.labels[second], jnp.arange(len(first)))


def _stage(
    name: str,
    config: SalesmanConfig,
    seed: int,
    source: Source,
    measure: Any,
    settings: dict[str, Any],
    shown: tuple[str, ...],
) -> Stage:
    settings |= {"world": config.world, "seed": seed, "feed": config.feed, "batch": config.batch}
    settings |= {"references": config.references, "episodes": config.measures.episodes, "methods": config.methods}
    settings |= {"modes": source.modes}
    needs = source.needs(config.references, seed, config.trainings)
    parts, display = config.measures.episodes // config.batch, display_of(seed, *shown)
    key = key_for(seed, name)
    return measuring_stage(stage_name(name, seed), __name__, settings, measure, key, parts, needs, **display)
