"""What the salesman's agents achieve with partners of each kind: those they trained with, and those they never met."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.agents.behaviour_conditioned import FEEDS
from coadapt.agents.relational import ready
from coadapt.arrays import Array, Count, Float, Key, Vector
from coadapt.encounters import Moment
from coadapt.evaluation.episodes import BeliefScores, belief_scores
from coadapt.evaluation.returns import Means, play_with_all, pooled, side_by_side
from coadapt.experiments.salesman.baseline import finding_out
from coadapt.experiments.salesman.clones import Clones, networks_of, partners_from, stage_name, told_nothing
from coadapt.experiments.salesman.config import SalesmanConfig
from coadapt.experiments.salesman.training import told_by, told_the_truth
from coadapt.experiments.salesman.world import KINDS
from coadapt.experiments.stages import Info, Inputs, Stage, key_for, measuring_stage
from coadapt.games.game import MAIN
from coadapt.games.salesman import Salesman
from coadapt.partners.population import Partners, label_by_game
from coadapt.players import Player

MODES = {"sample": False, "argmax": True}
LABEL_SOURCES = ("true_label", "shuffled_label", "always_skilled", "always_novice")
"""What else than its belief the policy can be told."""
REMEDY = "look at the networks it was given: their training must have gone wrong"


class Seat(NamedTuple):
    """Who plays, given what it is told in each game."""

    as_player: Callable[[Any], Player]
    told: Float[Array, "games label"]


class Scores(NamedTuple):
    """What came of the episodes with each partner, and of the beliefs by step where there are any."""

    episodes: Means
    beliefs: BeliefScores | None  # sums over the episodes that last so long


def seats_of(
    key: Key, config: SalesmanConfig, networks: Callable[[str], Any], labels: Float[Array, "games label"]
) -> dict[str, Seat]:
    """All methods of one seed, and its policy with other labels than those it predicts; networks are by training."""
    seats: dict[str, Seat] = {}
    if "behaviour_conditioned" in config.methods:
        policy, belief = ready(networks("policy")), networks("predictor")
        always = lambda kind: jnp.tile(jax.nn.one_hot(KINDS.index(kind), len(KINDS)), (len(labels), 1))
        told = {
            "true_label": labels,
            "shuffled_label": jax.random.permutation(key, labels),
            "always_skilled": always("skilled"),
            "always_novice": always("novice"),
        }
        agent = told_by(belief, policy, config.feed)
        seats["behaviour_conditioned"] = Seat(lambda _: agent, labels)
        seats |= {source: Seat(lambda label: told_the_truth(policy, label), rows) for source, rows in told.items()}
    if "label_blind" in config.methods:
        blind = told_nothing(networks("label_blind"))
        seats["label_blind"] = Seat(lambda _: blind, labels)
    for method in ("lstm", "lstm_matched"):
        if method in config.methods:
            remembering = finding_out(networks(method))
            seats[method] = Seat(lambda _, player=remembering: player, labels)
    return seats


def scores_of(key: Key, game: Salesman, partners: Partners, seat: Seat, episodes: int, greedy: bool) -> Scores:
    """Episodes of whoever sits in the seat with each partner."""
    return Scores(*play_with_all(key, game, partners, seat.as_player, seat.told, episodes, greedy, _beliefs))


def _beliefs(moment: Moment, label: Vector) -> BeliefScores | None:
    """How right the belief of the moment is, where there is one."""
    if "belief" not in moment.infos[MAIN]:
        return None
    each = belief_scores(jax.tree.map(lambda leaf: leaf[None, None], moment), label[None])
    return jax.tree.map(lambda leaf: leaf[0, 0], each)


Find = Callable[[Inputs, str, int], Any]
"""The networks of a training and a seed, in what a stage is given."""


def evaluation_of(
    mode: str, config: SalesmanConfig, seed: int, find: Find = networks_of, needs: tuple[str, ...] | None = None
) -> Stage:
    """The stage that lets all methods of one seed play with the reference partners.

    The networks come from the trainings of this run, or from wherever else they are to be found.
    """

    def measure(inputs: Inputs, part: Count) -> tuple[dict[str, Scores], Info]:
        for_play, for_labels = jax.random.split(jax.random.fold_in(key_for(seed, "evaluation"), part))
        partners = references_in(config, inputs, find)
        labels = label_by_game(side_by_side(config.batch) * len(partners.ids), partners)
        seats = seats_of(for_labels, config, lambda training: find(inputs, training, seed), labels)
        play = lambda seat: scores_of(for_play, config.world.game, partners, seat, config.batch, MODES[mode])
        return _with_returns({method: play(seat) for method, seat in seats.items()})

    settings = _settings(config, seed) | {"methods": config.methods, "references": config.references, "mode": mode}
    name = stage_name(EVALUATIONS[mode], seed)
    needs = made_for(config, seed) if needs is None else needs
    return measuring_stage(
        name, __name__, settings, measure, _parts(config), needs, **_display(seed, "behaviour_conditioned", "lstm")
    )


def references_in(config: SalesmanConfig, inputs: Inputs, find: Find) -> Partners:
    """The reference partners among what a stage is given."""
    return partners_from([find(inputs, "clones", clone) for clone in config.references])


def reference_stages(config: SalesmanConfig) -> tuple[str, ...]:
    """The stages of a run that make them."""
    return tuple(stage_name("clones", clone) for clone in config.references)


def made_for(config: SalesmanConfig, seed: int) -> tuple[str, ...]:
    """The stages of a run that make all methods of a seed, and the reference partners."""
    return (*(stage_name(training, seed) for training in config.trainings), *reference_stages(config))


EVALUATIONS = {"sample": "evaluation", "argmax": "greedy_evaluation"}


def rehearsal_of(config: SalesmanConfig, seed: int) -> Stage:
    """The stage that lets the agent play with its training partners, in all ways to act on a belief.

    What is chosen between them is chosen here, out of sight of the reference partners.
    """

    def measure(inputs: Inputs, part: Count) -> tuple[dict[str, Scores], Info]:
        for_play = jax.random.fold_in(key_for(seed, "rehearsal"), part)
        population = config.population_of(seed)
        partners = partners_from([networks_of(inputs, "clones", clone) for clone in population])
        labels = label_by_game(side_by_side(config.batch) * len(partners.ids), partners)
        policy, belief = networks_of(inputs, "policy", seed), networks_of(inputs, "predictor", seed)
        agents = {feed: told_by(belief, policy, feed) for feed in FEEDS}
        seats = {feed: Seat(lambda _, agent=agent: agent, labels) for feed, agent in agents.items()}
        play = lambda seat, greedy: scores_of(for_play, config.world.game, partners, seat, config.batch, greedy)
        return _with_returns(
            {f"{feed}_{mode}": play(seat, MODES[mode]) for feed, seat in seats.items() for mode in MODES}
        )

    clones = (stage_name("clones", clone) for clone in config.population_of(seed))
    needs = (stage_name("policy", seed), stage_name("predictor", seed), *clones)
    settings = _settings(config, seed) | {"episodes": config.rehearsal_episodes}
    parts, name = config.rehearsal_episodes // config.batch, stage_name("rehearsal", seed)
    return measuring_stage(name, __name__, settings, measure, parts, needs, **_display(seed, f"{config.feed}_argmax"))


def _with_returns(scores: dict[str, Scores]) -> tuple[dict[str, Scores], Info]:
    """And what to show of them while it goes on."""
    return scores, {name: jnp.mean(of.episodes.total)[None] for name, of in scores.items()}


def self_play_of(config: SalesmanConfig, seed: int) -> Stage:
    """The stage that measures the three partners a clone has left behind, each with a copy of itself."""

    def measure(inputs: Inputs, part: Count) -> tuple[Means, Info]:
        clones: Clones = networks_of(inputs, "clones", seed)
        key = jax.random.fold_in(key_for(seed, "self_play"), part)
        nothing = jnp.zeros((side_by_side(config.batch), 0))
        scores = []
        for policy in (getattr(clones, kind) for kind in KINDS):
            player = told_nothing(policy)
            alone = Partners(jax.tree.map(lambda leaf: leaf[None], player), jnp.zeros((1, 0)), jnp.zeros(1, jnp.int32))
            itself = lambda _, player=player: player
            scores.append(play_with_all(key, config.world.game, alone, itself, nothing, config.batch)[0])
        by_kind = jax.tree.map(lambda *kinds: jnp.concatenate(kinds), *scores)
        return by_kind, {f"length_{kind}": by_kind.length[k][None] for k, kind in enumerate(KINDS)}

    needs = (stage_name("clones", seed),)
    return measuring_stage(
        stage_name("self_play", seed),
        __name__,
        _settings(config, seed),
        measure,
        _parts(config),
        needs,
        **_display(seed, "length_skilled"),
    )


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


def _display(seed: int, *shown: str) -> dict[str, Any]:
    return {"replicates": (f"seed {seed}",), "shown": shown, "remedy": REMEDY}


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


def beliefs_of(parts: BeliefScores) -> dict[str, np.ndarray]:
    """Means over all parts by partner and step, over the episodes that last so long: as many as `counted` says."""
    sums = {name: np.asarray(values, np.float64).sum(axis=0) for name, values in parts._asdict().items()}
    with np.errstate(invalid="ignore"):
        means = {name: values / sums["counted"] for name, values in sums.items() if name != "counted"}
    return means | {"counted": sums["counted"]}
