"""What the stages of a study came to, as plain numbers."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import numpy as np

from coadapt.evaluation.adaptation import Opinion, added_up
from coadapt.evaluation.returns import Cell, Notes, cells_of
from coadapt.pipeline.adaptation import ADAPTATION, SWITCH, switched_pairs
from coadapt.pipeline.evaluation import CONTROLS, EVALUATION, MATRIX, VALIDATION
from coadapt.pipeline.method import Method
from coadapt.pipeline.methods import methods_of
from coadapt.pipeline.partners import Partner, PartnerId, populations
from coadapt.pipeline.regret import JOINT_OPTIMUM, OPTIMA, REGRET, Regret, by_layout, regrets_of
from coadapt.pipeline.seats import MODES
from coadapt.pipeline.self_play import CLONES
from coadapt.pipeline.showing import PaperRow, Showing
from coadapt.pipeline.stages import stage_name
from coadapt.pipeline.study import Study
from coadapt.runs.stage import Inputs

Way = tuple[str, int, str]
"""Who played, and how: a method or control, a seed and a mode. Controls of others than the main method name it."""
NONE: Mapping[Any, Any] = MappingProxyType({})


class Switch(NamedTuple):
    """What an agent came to with each pair of partners, and what its belief about the second was worth by step."""

    cells: list[Cell]
    opinion: Opinion | None  # of each pair, by step from the switch on


class Results(NamedTuple):
    """Everything measured. What was not made in this run is empty."""

    study: Study
    showing: Showing
    mode: str  # how the agents act in the headline
    held_out_ids: Sequence[PartnerId]  # asked for once: their source may have to read files for them
    cells: Mapping[Way, list[Cell]]  # one for each held-out partner
    opinions: Mapping[Way, Notes]  # of the predictor and of the posterior, about each held-out partner, by step
    switches: Mapping[Way, Switch]
    matrix: Mapping[Way, list[Cell]]  # one for each of those met
    met_in_matrix: Sequence[PartnerId]
    optimum: Mapping[str, Any] | None  # of the game, by layout
    regrets: Mapping[Way, list[Regret]]  # one for each held-out partner
    untrained: Mapping[str, Sequence[Regret]]  # of players that need no training, by who they are
    partners: Sequence[Partner] = ()  # of all clones
    validation: Mapping[tuple[str, str, int], list[Cell]] = NONE  # by conditioning, mode and seed
    accuracies: Mapping[int, tuple[float, float]] = NONE  # by seed: in training, and in execution then
    curves: Mapping[tuple[str, int], dict[str, np.ndarray]] = NONE  # by training, seed and name: points

    @property
    def all_types(self) -> tuple[str, ...]:
        return self.study.task.types

    @property
    def types(self) -> tuple[str, ...]:
        """Of which types the held-out partners are: some may be missing, and all count where nobody is held out."""
        there = {each.type for each in self.held_out_ids}
        return tuple(each for each in self.all_types if each in there or not there)

    @property
    def main(self) -> str | None:
        return main_method(self.study)

    @property
    def paper(self) -> Mapping[tuple[str, str], PaperRow]:
        """What a paper prints of this very task, by method and type."""
        return self.showing.paper(self.study.task)

    @property
    def max_steps(self) -> int:
        return self.study.task.game.max_steps

    @property
    def switched(self) -> list[tuple[PartnerId, PartnerId]]:
        """The first and the second of each pair of partners that replace one another."""
        ids = self.held_out_ids
        return [(ids[one], ids[other]) for one, other in zip(*switched_pairs(ids, self.types), strict=True)]

    def by_seed(self, method: str, mode: str, type_: str, what: str) -> np.ndarray:
        """A number of one method with the held-out partners of one type: seed, partner."""
        of = [self.cells[method, seed, mode] for seed in self.study.seeds]
        return np.array([[getattr(cell, what) for cell in self.only(type_, cells)] for cells in of])

    def regret(self, method: str, type_: str, what: str) -> np.ndarray:
        """What one method's regret with the held-out partners of one type is, in the headline: seed, partner, ..."""
        of = [self.regrets[method, seed, self.mode] for seed in self.study.seeds]
        return np.array([[getattr(regret, what) for regret in self.only(type_, regrets)] for regrets in of])

    def regret_of_untrained(self, who: str, type_: str, what: str) -> np.ndarray:
        """The same of one who needs no training: partner, ..."""
        return np.array([getattr(regret, what) for regret in self.only(type_, self.untrained[who])])

    @property
    def layouts(self) -> int:
        """On how many layouts regret was measured."""
        return len(next(iter(self.regrets.values()))[0].lost)

    def only(self, type_: str, of_partners: Sequence[Any]) -> list[Any]:
        """What belongs to the held-out partners of one type."""
        return [of_partners[n] for n in self.of_type(type_)]

    def of_type(self, type_: str) -> list[int]:
        return [n for n, each in enumerate(self.held_out_ids) if each.type == type_]

    @property
    def sources(self) -> list[str]:
        """Whose beliefs there are, the main method's first."""
        return sorted(dict.fromkeys(source for source, _, _ in self.opinions), key=lambda source: "/" in source)

    def opinion(self, source: str, type_: str | None = None, kept: bool = True) -> Opinion:
        """By step, of all seeds with the held-out partners of one type, or with all of them, in the headline.

        After its end an episode keeps its last belief, or else it is not counted any more. Only then the exact
        posterior is the best there is: that an episode is over tells something of the partner, too.
        """
        each = [notes for (of, _, mode), notes in self.opinions.items() if (of, mode) == (source, self.mode)]
        counted = [notes.kept if kept else notes.lasting for notes in each]
        return added_up(*counted, which=slice(None) if type_ is None else self.of_type(type_))

    def after_switch(self, method: str, first: str, second: str) -> Opinion:
        """By step, of all seeds and held-out populations, about the second, in the headline."""
        found = [self.switches[method, seed, self.mode].opinion for seed in self.study.seeds]
        return added_up(*(of for of in found if of), which=self.pairs(first, second))

    def pairs(self, first: str, second: str) -> list[int]:
        """Which switches are of these types."""
        return [n for n, (one, other) in enumerate(self.switched) if (one.type, other.type) == (first, second)]


def main_method(study: Study) -> str | None:
    """The method that all others are compared with: the first that has a belief."""
    return next((name for name, method in methods_of(study).items() if method.has_belief), None)


def gather(
    study: Study, outcomes: Inputs, showing: Showing, mode: str | None = None, met: Sequence[PartnerId] | None = None
) -> Results:
    """What all stages came to, of those that were carried out.

    The mode is chosen in validation, if it is not given; `met` are the partners of the evaluation matrix, usually all
    there are.
    """
    found = _Found(study, methods_of(study), outcomes)
    validation = {
        (found.who(method, way), mode, seed): cells_of(of.means)
        for method, seed, by_way in found.by_method(VALIDATION)
        for way, by_mode in by_way.items()
        for mode, of in by_mode.items()
    }
    optima = outcomes.get(OPTIMA)
    return Results(
        study=study,
        showing=showing,
        mode=mode or best_mode(validation, study.conditioning),
        held_out_ids=study.held_out_ids,
        cells={way: cells_of(means) for way, means in (*found.methods(EVALUATION), *found.players(CONTROLS))},
        opinions={
            (found.who(method, source), seed, mode): Notes(*(added_up(of[source]) for of in notes))
            for method, seed, by_mode in found.by_method(ADAPTATION)
            for mode, notes in by_mode.items()
            for source in notes.lasting
        },
        switches={
            way: Switch(cells_of(of.means), _since(study.measures.switch_after, of.notes))
            for way, of in found.players(SWITCH)
        },
        matrix={way: cells_of(means) for way, means in found.methods(MATRIX)},
        met_in_matrix=study.all_ids if met is None else met,
        optimum=outcomes.get(JOINT_OPTIMUM),
        regrets={way: regrets_of(outcomes[OPTIMA].best, by_layout(played)) for way, played in found.players(REGRET)},
        untrained={name: regrets_of(optima.best, of) for name, of in optima.informed.items()} if optima else {},
        partners=[partner for source in study.sources for partner, _ in source.left_behind(study, outcomes)],
        validation=validation,
        accuracies={
            seed: found.accuracies(method, seed)
            for method, seed, _ in found.by_method(VALIDATION)
            if method == main_method(study)
        },
        curves={
            (purpose, seed): {name: np.asarray(values)[:, 0] for name, values in outcomes[stage].infos.items()}
            for purpose, seed in found.trained()
            if (stage := stage_name(purpose, seed)) in outcomes
        },
    )


class _Found(NamedTuple):
    """Outcomes of stages, by what they are of."""

    study: Study
    chosen: dict[str, Method]
    outcomes: Inputs

    def by_method(self, what: str) -> Iterator[tuple[str, int, Any]]:
        """What was measured of each method and seed."""
        for name in self.chosen:
            for seed in self.study.seeds:
                if (stage := stage_name(what, seed, name)) in self.outcomes:
                    yield name, seed, self.outcomes[stage]

    def who(self, method: str, of_method: str) -> str:
        """What somebody or something of a method is called: by the name alone if it is of the main one."""
        return of_method if method in (of_method, main_method(self.study)) else f"{method}/{of_method}"

    def methods(self, what: str) -> Iterator[tuple[Way, Any]]:
        """By who played, of which seed, and how, where a stage has but its method."""
        for name, seed, by_mode in self.by_method(what):
            yield from (((name, seed, mode), of) for mode, of in by_mode.items())

    def players(self, what: str) -> Iterator[tuple[Way, Any]]:
        """The same where a stage has several who play."""
        for method, seed, by_player in self.by_method(what):
            for who, by_mode in by_player.items():
                yield from (((self.who(method, who), seed, mode), of) for mode, of in by_mode.items())

    def trained(self) -> list[tuple[str, int]]:
        """All trainings with their seed."""
        of_clones = dict.fromkeys((*populations(self.study.all_ids), *self.study.seeds))
        clones = [(CLONES, seed) for seed in of_clones]
        purposes = [t.purpose for method in self.chosen.values() for t in method.trainings(self.study)]
        return [*clones, *((purpose, seed) for seed in self.study.seeds for purpose in dict.fromkeys(purposes))]

    def accuracies(self, method: str, seed: int) -> tuple[float, float]:
        """A predictor's accuracy over all steps: at the end of training, and in execution with the same partners."""
        found = self.outcomes[stage_name(VALIDATION, seed, method)][self.study.conditioning]["sample"].notes.lasting
        correct, counted = (float(np.sum(values, dtype=np.float64)) for values in (found.correct, found.counted))
        trained = self.outcomes[stage_name(self.chosen[method].parts["belief"], seed)]
        return float(trained.infos["accuracy"][-1, 0]), correct / counted


def _since(step: int, beliefs: Notes) -> Opinion | None:
    """From a step on, of those episodes that come so far: the others are kept as well, and have to be taken out."""
    if not beliefs.kept:
        return None
    kept, lasting = added_up(beliefs.kept), added_up(beliefs.lasting)
    return jax.tree.map(lambda all_, there: all_[:, step:] - (all_ - there)[:, step : step + 1], kept, lasting)


def best_mode(validation: Mapping[tuple[str, str, int], list[Cell]], conditioning: str) -> str:
    """How the agents are to act, chosen on training partners by the mean return over all of them."""
    mean = lambda mode: np.mean(
        [[c.total for c in cells] for (w, m, _), cells in validation.items() if (w, m) == (conditioning, mode)]
    )
    return max(MODES, key=mean) if validation else "sample"
