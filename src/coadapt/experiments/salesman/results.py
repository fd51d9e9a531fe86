"""What the stages of the salesman's experiment came to, as plain numbers."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import numpy as np

from coadapt.evaluation.adaptation import Opinion, added_up
from coadapt.evaluation.returns import Notes
from coadapt.experiments.salesman.adaptation import SOURCES, exchanges
from coadapt.experiments.salesman.ceilings import Bounds, Regret, by_layout, regrets_of
from coadapt.experiments.salesman.clones import Clones, networks_of, stage_name
from coadapt.experiments.salesman.config import SalesmanConfig
from coadapt.experiments.salesman.scores import Cell, cells_of
from coadapt.experiments.salesman.seats import MODES
from coadapt.experiments.salesman.world import KINDS
from coadapt.runs.stage import Inputs


class Partner(NamedTuple):
    """A partner as it was left behind by clone training."""

    seed: int
    kind: str
    iteration: int  # of clone training
    length: float  # of its self-play
    total: float  # the return of its self-play

    @property
    def id(self) -> str:
        return partner_id(self.seed, self.kind)


def partner_id(seed: int, kind: str) -> str:
    return f"{seed}-{kind}"


def partner_ids(clones: Sequence[int]) -> list[str]:
    """The partners that clones have left behind, in the order in which they are met."""
    return [partner_id(seed, kind) for seed in clones for kind in KINDS]


Way = tuple[str, int, str]
"""Who played, and how: a method, a seed and a mode."""
NONE: Mapping[Any, Any] = MappingProxyType({})


UNTRAINED = {
    "best_response_to_likeliest": "responding",
    "best_response_to_likeliest_kind": "responding_to_kind",
    "best_response_to_kind": "told_the_kind",
}
"""Who plays without any training, and where it is among the ceilings."""


class Exchange(NamedTuple):
    """What an agent came to with each pair of partners, and what its belief about the second was worth by step."""

    cells: list[Cell]
    opinion: Opinion | None  # of each pair, by step from the exchange on


class Results(NamedTuple):
    """Everything measured. What was not made in this run is empty."""

    config: SalesmanConfig
    mode: str  # how the agents act in the headline
    cells: Mapping[Way, list[Cell]]  # one for each reference partner
    opinions: Mapping[Way, Notes]  # of the agent and of the onlooker, about each reference partner, by step
    exchanges: Mapping[Way, Exchange]
    crossplay: Mapping[Way, list[Cell]]  # one for each of those met
    met_in_crossplay: Sequence[str]
    bounds: Bounds | None  # by layout
    regrets: Mapping[Way, list[Regret]]  # one for each reference partner
    untrained: Mapping[str, Sequence[Regret]]  # of players that need no training, by who they are
    partners: Sequence[Partner] = ()  # of all clones
    rehearsal: Mapping[tuple[str, str, int], list[Cell]] = NONE  # by feed, mode and seed
    accuracies: Mapping[int, tuple[float, float]] = NONE  # by seed: in training, and in execution then
    curves: Mapping[tuple[str, int], dict[str, np.ndarray]] = NONE  # by training, seed and name: points

    @property
    def reference_ids(self) -> list[str]:
        return partner_ids(self.config.references)

    @property
    def exchanged_kinds(self) -> list[tuple[str, str]]:
        """Of which kinds the first and the second of each pair are."""
        first, second = exchanges(len(self.config.references))
        return [(KINDS[one % len(KINDS)], KINDS[other % len(KINDS)]) for one, other in zip(first, second, strict=True)]

    def by_seed(self, method: str, mode: str, kind: str, what: str) -> np.ndarray:
        """A number of one method with the reference partners of one kind: seed, partner."""
        of = [self.cells[method, seed, mode] for seed in self.config.seeds]
        return np.array([[getattr(cell, what) for cell in only(kind, cells)] for cells in of])

    def regret(self, method: str, kind: str, what: str) -> np.ndarray:
        """What one method's regret with the reference partners of one kind is, in the headline: seed, partner, ..."""
        of = [self.regrets[method, seed, self.mode] for seed in self.config.seeds]
        return np.array([[getattr(regret, what) for regret in only(kind, regrets)] for regrets in of])

    def regret_of_untrained(self, who: str, kind: str, what: str) -> np.ndarray:
        """The same of one who needs no training: partner, ..."""
        return np.array([getattr(regret, what) for regret in only(kind, self.untrained[who])])

    @property
    def layouts(self) -> int:
        """On how many layouts regret was measured."""
        return len(next(iter(self.regrets.values()))[0].lost)

    def opinion(self, source: str, kind: str | None = None, kept: bool = True) -> Opinion:
        """By step, of all seeds with the reference partners of one kind, or with all of them, in the headline.

        After its end an episode keeps its last belief, or else it is not counted any more. Only then the exact
        posterior is the best there is: that an episode is over tells something of the partner, too.
        """
        each = [notes for (of, _, mode), notes in self.opinions.items() if (of, mode) == (source, self.mode)]
        counted = [notes.kept if kept else notes.lasting for notes in each]
        return added_up(*counted, which=slice(None) if kind is None else of_kind(kind))

    def after_exchange(self, method: str, first: str, second: str) -> Opinion:
        """By step, of all seeds and reference populations, about the second, in the headline."""
        found = [self.exchanges[method, seed, self.mode].opinion for seed in self.config.seeds]
        return added_up(*(of for of in found if of), which=self.pairs(first, second))

    def pairs(self, first: str, second: str) -> list[int]:
        """Which exchanges are of these kinds."""
        return [n for n, kinds in enumerate(self.exchanged_kinds) if kinds == (first, second)]


def only(kind: str, of_partners: Sequence) -> list:
    """What belongs to partners of one kind; partners come in turns of all kinds."""
    return list(of_partners[of_kind(kind)])


def of_kind(kind: str) -> slice:
    return slice(KINDS.index(kind), None, len(KINDS))


def gather(
    config: SalesmanConfig, outcomes: Inputs, mode: str | None = None, met: tuple[int, ...] | None = None
) -> Results:
    """What all stages came to, of those that were carried out.

    The mode is chosen in rehearsal, if it is not given; `met` are the clones whose partners took part in cross-play,
    usually all there are.
    """
    rehearsal = {
        (feed, mode, seed): cells_of(scores.episodes)
        for (feed, seed, mode), scores in _ways(config, outcomes, "rehearsal")
    }
    ceilings = outcomes.get("ceilings")
    return Results(
        config=config,
        mode=mode or best_mode(rehearsal, config.feed),
        cells={way: cells_of(means) for way, means in _ways(config, outcomes, "evaluation")},
        opinions={
            (source, seed, mode): Notes(added_up(notes.lasting[source]), added_up(notes.kept[source]))
            for seed, found in _by_seed(config, outcomes, "adaptation")
            for mode, notes in found.items()
            for source in SOURCES
        },
        exchanges={
            way: Exchange(cells_of(of.episodes), _since(config.measures.exchange_after, of.beliefs))
            for way, of in _ways(config, outcomes, "exchange")
        },
        crossplay={way: cells_of(means) for way, means in _ways(config, outcomes, "crossplay")},
        met_in_crossplay=partner_ids(config.all_clones if met is None else met),
        bounds=outcomes.get("bounds"),
        regrets={
            way: regrets_of(outcomes["ceilings"].best, by_layout(played))
            for way, played in _ways(config, outcomes, "regret")
        },
        untrained={
            name: regrets_of(ceilings.best, getattr(ceilings, field)) for name, field in UNTRAINED.items() if ceilings
        },
        partners=[partner for clone in config.all_clones for partner in _partners_of(config, outcomes, clone)],
        rehearsal=rehearsal,
        accuracies={seed: _accuracies(config, outcomes, seed) for seed, _ in _by_seed(config, outcomes, "rehearsal")},
        curves={
            (training, seed): {name: np.asarray(values)[:, 0] for name, values in outcomes[stage].infos.items()}
            for training, seed, stage in _trained(config)
            if stage in outcomes
        },
    )


def _since(step: int, beliefs: Notes) -> Opinion | None:
    """From a step on, of those episodes that come so far: the others are kept as well, and have to be taken out."""
    if not beliefs.kept:
        return None
    kept, lasting = added_up(beliefs.kept), added_up(beliefs.lasting)
    return jax.tree.map(lambda all_, there: all_[:, step:] - (all_ - there)[:, step : step + 1], kept, lasting)


def _by_seed(config: SalesmanConfig, outcomes: Inputs, stage: str) -> list[tuple[int, Any]]:
    """What a stage came to for each seed it was carried out for."""
    return [(seed, outcomes[name]) for seed in config.seeds if (name := stage_name(stage, seed)) in outcomes]


def _ways(config: SalesmanConfig, outcomes: Inputs, stage: str) -> Iterator[tuple[Way, Any]]:
    """What a stage came to, by who played, of which seed, and how."""
    for seed, found in _by_seed(config, outcomes, stage):
        for who, by_mode in found.items():
            for mode, of in by_mode.items():
                yield (who, seed, mode), of


def _trained(config: SalesmanConfig) -> list[tuple[str, int, str]]:
    """All trainings with their seed and the name of their stage."""
    clones = [("clones", clone) for clone in config.all_clones]
    trainings = [(training, seed) for seed in config.seeds for training in config.trainings]
    return [(training, seed, stage_name(training, seed)) for training, seed in (*clones, *trainings)]


def _partners_of(config: SalesmanConfig, outcomes: Inputs, seed: int) -> list[Partner]:
    measured = outcomes.get(stage_name("self_play", seed))
    if measured is None:
        return []
    clones: Clones = networks_of(outcomes, "clones", seed)
    iterations = (0, int(clones.intermediate_iteration), config.clones.iterations)
    return [
        Partner(seed, kind, iteration, cell.length, cell.total)
        for kind, iteration, cell in zip(KINDS, iterations, cells_of(measured), strict=True)
    ]


def _accuracies(config: SalesmanConfig, outcomes: Inputs, seed: int) -> tuple[float, float]:
    """The predictor's accuracy over all steps: at the end of its training, and in execution with the same partners."""
    beliefs = outcomes[stage_name("rehearsal", seed)][config.feed]["sample"].beliefs.lasting
    correct, counted = (float(np.sum(values, dtype=np.float64)) for values in (beliefs.correct, beliefs.counted))
    return float(outcomes[stage_name("predictor", seed)].infos["accuracy"][-1, 0]), correct / counted


def best_mode(rehearsal: Mapping[tuple[str, str, int], list[Cell]], feed: str) -> str:
    """How the agents are to act, chosen on training partners by the mean return over all of them."""
    mean = lambda mode: np.mean(
        [[c.total for c in cells] for (f, m, _), cells in rehearsal.items() if (f, m) == (feed, mode)]
    )
    return max(MODES, key=mean) if rehearsal else "sample"
