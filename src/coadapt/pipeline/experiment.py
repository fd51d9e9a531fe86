"""A study from beginning to end, as an experiment that can be run: train everything, or measure what is pretrained."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np

from coadapt.configs.data import plain
from coadapt.evaluation.watching import record_episode
from coadapt.pipeline.adaptation import adaptation_of, switch_of
from coadapt.pipeline.co_op import training_of
from coadapt.pipeline.evaluation import controls_of, evaluation_matrix_of, evaluation_of, validation_of
from coadapt.pipeline.figures import figures
from coadapt.pipeline.method import Method
from coadapt.pipeline.methods import METHODS, methods_of
from coadapt.pipeline.model_card import model_card
from coadapt.pipeline.partners import PartnerSource
from coadapt.pipeline.pretrained import (
    Package,
    PretrainedStudy,
    about_agents,
    as_trained,
    from_package,
    handing_on_agents,
)
from coadapt.pipeline.record import with_record, write_record
from coadapt.pipeline.regret import joint_optimum_of, optima_of, regret_of
from coadapt.pipeline.report import headline, summary, verdict
from coadapt.pipeline.results import Results, gather
from coadapt.pipeline.saved import KEPT_IN, PARTNER, Saved, agent_of, save
from coadapt.pipeline.seats import MODES, THIS_RUN, AgentSource
from coadapt.pipeline.self_play import CLONES, cloning_of, made_by, networks_of
from coadapt.pipeline.showing import Showing
from coadapt.pipeline.sources.mixture import Mixture
from coadapt.pipeline.stages import key_for, stage_name
from coadapt.pipeline.study import Study
from coadapt.pipeline.tables import tables
from coadapt.runs.experiment import Experiment, Report
from coadapt.runs.stage import Inputs, Stage
from coadapt.storage.files import make_folder, read_json, write_bytes, write_json, write_text
from coadapt.storage.provenance import commit

TRAINING = "training-provenance.json"
"""When, where and how the pretrained agents were trained."""


@dataclass(frozen=True)
class Suite:
    """The experiments of one task: everything from nothing, and what its pretrained agents are worth."""

    package: Package
    showing: Showing
    study: type[Study]
    pretrained: type[PretrainedStudy]

    @property
    def experiment(self) -> Experiment:
        report = lambda study, outcomes, folder: report_of(study, outcomes, folder, self.showing)
        return Experiment(self.package.game, self.study, stages_of, report)

    @property
    def pretrained_experiment(self) -> Experiment:
        return Experiment(f"{self.package.game}_pretrained", self.pretrained, self._pretrained_stages, self._report)

    def as_trained(self, config: PretrainedStudy) -> Study:
        """The study that the pretrained agents come from."""
        return as_trained(self.package, config, self.study)

    def _pretrained_stages(self, config: PretrainedStudy) -> list[Stage]:
        """Every pretrained seed plays with every held-out partner of the package."""
        study, agents = self.as_trained(config), from_package(self.package, config)
        measured = [stage for seed in study.seeds for stage in measurements_of(study, seed, study.held_out, agents)]
        return [handing_on_agents(self.package, study), *study.held_out.stages(study), *best_of(study), *measured]

    def _report(self, config: PretrainedStudy, outcomes: Inputs, folder: Path) -> Report:
        """The same tables as after training, of what was measured here."""
        study, about = self.as_trained(config), about_agents(self.package, config)
        measured = gather(study, outcomes, self.showing, about["mode"], met=study.held_out_ids)
        results = with_record(self.package.folder, measured, about["commit"])
        write_results(results, outcomes, folder, from_package(self.package, config))
        if (about_training := self.package.folder / TRAINING).is_file():
            write_bytes(folder / TRAINING, about_training.read_bytes())
        closing = f"See the agents play with: coadapt watch. {verdict(results)}"
        return Report(tables(results), headline(results), closing.strip())


def stages_of(study: Study) -> list[Stage]:
    """All partners first, then seed after seed; what can be had at best is worked out in between."""
    stages = [
        *(stage for source in study.sources for stage in source.stages(study)),
        *(best_of(study) if study.held_out else ()),
        *(stage for seed in study.seeds for stage in _of_seed(study, seed)),
    ]
    return list({stage.name: stage for stage in stages}.values())  # what several ask for is done once


def _of_seed(study: Study, seed: int) -> list[Stage]:
    """All methods are trained, tried with the partners they trained with, and then with those they never met."""
    methods = methods_of(study).values()
    trainings = dict.fromkeys(training for method in methods for training in method.trainings(study))
    purposes = [training.purpose for training in trainings]
    for twice in {each for each in purposes if purposes.count(each) > 1}:
        raise ValueError(f"two methods train {twice!r} differently; one of the trainings needs another purpose")
    made = [cloning_of(study, seed)] if any(training.starts == CLONES for training in trainings) else []
    made += [training_of(study, training, seed) for training in trainings]
    made += [validation_of(study, method, seed) for method in methods if method.has_belief]
    everybody = Mixture(study.sources)
    return [*made, *(measurements_of(study, seed, everybody) if study.held_out else ())]


def best_of(study: Study) -> list[Stage]:
    """What can be had at best, in this game and with the held-out partners, where an oracle knows that."""
    oracle, closer = study.task.oracle, study.measures.closer
    if oracle is None:
        return []
    made = [joint_optimum_of(study, oracle)] if "joint_optimum" in closer else []
    return [*made, optima_of(study, oracle)] if "regret" in closer else made


def measurements_of(study: Study, seed: int, met: PartnerSource, agents: AgentSource = THIS_RUN) -> list[Stage]:
    """All that is measured of one seed's agents with held-out partners, and with all partners of a source."""
    return [
        stage
        for method in methods_of(study).values()
        for stage in _measurements_of_method(study, method, seed, met, agents)
    ]


def _measurements_of_method(
    study: Study, method: Method, seed: int, met: PartnerSource, agents: AgentSource
) -> list[Stage]:
    oracle = study.task.oracle
    made = [evaluation_of(study, method, seed, agents)]
    made += [controls_of(study, method, seed, agents)] if method.has_belief else []
    closer: dict[str, Callable[[], Stage]] = {
        "evaluation_matrix": lambda: evaluation_matrix_of(study, method, seed, met, agents),
        "partner_switch": lambda: switch_of(study, method, seed, agents),
    }
    if oracle is not None:
        closer["regret"] = lambda: regret_of(study, oracle, method, seed, agents)
    if method.has_belief:
        closer["adaptation"] = lambda: adaptation_of(study, method, seed, agents)
    return [*made, *(measure() for name, measure in closer.items() if name in study.measures.closer)]


def report_of(study: Study, outcomes: Inputs, folder: Path, showing: Showing) -> Report:
    """Write everything into the folder, and say what there is to see."""
    results = gather(study, outcomes, showing)
    write_results(results, outcomes, folder)
    agents = make_folder(folder / "agents")
    made = read_json(folder / "provenance.json")["stages"]
    for name, saved in files_of(results, outcomes, {stage: of["commit"] for stage, of in made.items()}).items():
        make_folder((agents / name).parent)
        save(agents / name, saved)
    write_text(agents / "README.md", model_card(results))
    write_record(agents, results, _commit())
    closing = f"The trained agents and partners are in {agents}; see them play with: coadapt watch. {verdict(results)}"
    return Report(tables(results), headline(results), closing.strip())


def write_results(results: Results, outcomes: Inputs, folder: Path, agents: AgentSource = THIS_RUN) -> None:
    """The numbers, the tables, the figures and some episodes."""
    write_json(folder / "summary.json", plain(summary(results)))
    write_text(folder / "table.md", "\n".join(table.markdown() for table in tables(results)))
    for name, pictures in figures(results):
        for ending, picture in pictures.items():
            write_bytes(folder / f"{name}.{ending}", picture)
    for name, picture in episodes_to_see(results, outcomes, agents).items():
        write_bytes(folder / name, picture)


def episodes_to_see(results: Results, outcomes: Inputs, agents: AgentSource) -> dict[str, bytes]:
    """An episode of the first seed's agent with a partner of each type: strips of some moments, by file name."""
    study, renderer = results.study, results.showing.renderer
    if results.main is None or renderer is None:
        return {}
    task, seed, source = study.task, study.seeds[0], study.sources[0]
    agent = agents.player(study, METHODS[results.main], outcomes, seed)
    ids, players = source.ids(study), source.players(study, outcomes)
    pictures: dict[str, bytes] = {}
    for type_ in dict.fromkeys(each.type for each in ids):
        first = [each.type for each in ids].index(type_)
        partner = jax.tree.map(lambda leaf, first=first: leaf[first], players)
        greedy = MODES[results.mode]
        episode = record_episode(key_for(seed, "episode"), task.game, (agent, partner), greedy, task.types, type_)
        pictures |= {f"episode_{type_}.{ending}": data for ending, data in renderer.strip(episode).items()}
    return pictures


def files_of(results: Results, outcomes: Inputs, commits: Mapping[str, str | None]) -> dict[str, Saved]:
    """All agents and partners with their weights and measured numbers, by the name of their file.

    Each says which commits made the stages that it comes from: they may have been there before this run.
    """
    study = results.study
    found: dict[str, Saved] = {}
    for seed in study.seeds:
        for method in methods_of(study).values():
            saved = _saved(results, outcomes, method, seed)
            found[f"{method.folder}/{seed}"] = _made_by(saved, stages_behind(study, method, seed), commits)
    for source in study.sources:
        for partner, policy in source.left_behind(study, outcomes):
            who = partner.id
            about = _about(study, who.population) | {"type": who.type, "measured": partner._asdict()}
            saved = Saved(PARTNER, study.task, {"policy": policy}, about)
            held_out, met = KEPT_IN
            where = held_out if who.held_out else met
            found[f"{where}/{who}"] = _made_by(saved, made_by(study, who.population), commits)
    return found


def stages_behind(study: Study, method: Method, seed: int) -> list[str]:
    """All that was trained for an agent: the clones of whom it trained with, and its own networks."""
    own = (stage_name(training.purpose, seed) for training in method.trainings(study))
    return [*study.partners.needs(study, seed), *own]


def _made_by(saved: Saved, stages: Iterable[str], commits: Mapping[str, str | None]) -> Saved:
    return saved._replace(about=saved.about | {"stages": {stage: commits[stage] for stage in stages}})


def _saved(results: Results, outcomes: Inputs, method: Method, seed: int) -> Saved:
    study, mode = results.study, results.mode
    networks = {name: networks_of(outcomes, purpose, seed) for name, purpose in method.parts.items()}
    at = study.seeds.index(seed)
    measured = {
        f"return_{type_}": float(np.mean(results.by_seed(method.name, mode, type_, "total")[at]))
        for type_ in results.types
        if results.cells
    }
    about = _about(study, seed) | {"conditioning": study.conditioning, "mode": mode, "measured": measured}
    return Saved(agent_of(method), study.task, jax.device_get(networks), about)


def _about(study: Study, seed: int) -> dict[str, Any]:
    return {"seed": seed, "config": study, "commit": _commit()}  # the commit that writes the file


_commit = cache(commit)  # asked once for all files
