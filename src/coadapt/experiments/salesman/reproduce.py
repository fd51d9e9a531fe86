"""The salesman's experiment from beginning to end."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np

from coadapt.configs.data import plain
from coadapt.evaluation.pictures import episode_strip, record_episode
from coadapt.experiments.salesman.adaptation import adaptation_of, exchange_of
from coadapt.experiments.salesman.baseline import lstm_cloning_of
from coadapt.experiments.salesman.ceilings import bounds_of, ceilings_of, regret_of
from coadapt.experiments.salesman.clones import cloning_of, networks_of, stage_name, told_nothing
from coadapt.experiments.salesman.config import TRAININGS, SalesmanConfig
from coadapt.experiments.salesman.drawings import figures
from coadapt.experiments.salesman.pretrained import references_of, source_of
from coadapt.experiments.salesman.record import write_record
from coadapt.experiments.salesman.report import headline, model_card, summary, verdict
from coadapt.experiments.salesman.results import Results, gather
from coadapt.experiments.salesman.scores import crossplay_of, evaluation_of, rehearsal_of, self_play_of
from coadapt.experiments.salesman.seats import MODES, Source
from coadapt.experiments.salesman.tables import tables
from coadapt.experiments.salesman.training import told_by, training_of
from coadapt.experiments.salesman.weights import FAMILIES, Saved, save
from coadapt.experiments.salesman.world import KINDS
from coadapt.pipeline.stages import key_for
from coadapt.runs.experiment import Experiment, Report
from coadapt.runs.stage import Inputs, Stage
from coadapt.storage.files import make_folder, read_json, write_bytes, write_json, write_text
from coadapt.storage.provenance import commit


def stages(config: SalesmanConfig) -> list[Stage]:
    """All clones first, then seed after seed; what can be had at best is worked out in between."""
    return [
        *references_of(config),
        *(stage for clone in config.trained_clones for stage in _of_clone(config, clone)),
        *(best_of(config, source_of(config)) if config.references else ()),
        *(stage for seed in config.seeds for stage in _of_seed(config, seed)),
    ]


def _of_clone(config: SalesmanConfig, seed: int) -> list[Stage]:
    """Clones are trained and measured."""
    cloning = cloning_of(seed, config.world, config.clones, config.intermediate_length, config.curve_points)
    return [cloning, self_play_of(config, seed)]


def _of_seed(config: SalesmanConfig, seed: int) -> list[Stage]:
    """All methods are trained, tried with the partners they trained with, and then with those they never met."""
    made = [_training_of(training, config, seed) for training in config.trainings]
    if "behaviour_conditioned" in config.methods:
        made.append(rehearsal_of(config, seed))
    return [*made, *measurements_of(config, seed, config.all_clones, source_of(config))] if config.references else made


def best_of(config: SalesmanConfig, source: Source) -> list[Stage]:
    """What can be had at best, in this game and with the reference partners."""
    made = [bounds_of(config)] if "bounds" in config.measures.closer else []
    return [*made, ceilings_of(config, source)] if "regret" in config.measures.closer else made


def measurements_of(config: SalesmanConfig, seed: int, clones: tuple[int, ...], source: Source) -> list[Stage]:
    """All that is measured of one seed's agents with reference partners, and with the partners of these clones."""
    closer = {
        "regret": lambda: regret_of(config, seed, source),
        "crossplay": lambda: crossplay_of(config, seed, clones, source),
        "adaptation": lambda: adaptation_of(config, seed, source),
        "exchange": lambda: exchange_of(config, seed, source),
    }
    if "behaviour_conditioned" not in config.methods:  # nobody else has a belief to look at
        del closer["adaptation"], closer["exchange"]
    wanted = [measure() for name, measure in closer.items() if name in config.measures.closer]
    return [evaluation_of(config, seed, source), *wanted]


def _training_of(training: str, config: SalesmanConfig, seed: int) -> Stage:
    if training == "lstm_clones":
        return lstm_cloning_of(seed, config.world, config.lstm_clones, config.curve_points)
    return training_of(training, config, seed)


def report(config: SalesmanConfig, outcomes: Inputs, folder: Path) -> Report:
    """Write everything into the folder, and say what there is to see."""
    results = gather(config, outcomes)
    write_results(results, outcomes, folder, source_of(config))
    agents = make_folder(folder / "agents")
    made = read_json(folder / "provenance.json")["stages"]
    for name, saved in files_of(results, outcomes, {stage: of["commit"] for stage, of in made.items()}).items():
        make_folder((agents / name).parent)
        save(agents / name, saved)
    write_text(agents / "README.md", model_card(results))
    write_record(agents, results, _commit())
    closing = f"The trained agents and partners are in {agents}; see them play with: coadapt watch. {verdict(results)}"
    return Report(tables(results), headline(results), closing.strip())


def write_results(results: Results, outcomes: Inputs, folder: Path, source: Source) -> None:
    """The numbers, the tables, the figures and some episodes."""
    write_json(folder / "summary.json", plain(summary(results)))
    write_text(folder / "table.md", "\n".join(table.markdown() for table in tables(results)))
    for name, pictures in figures(results):
        for ending, picture in pictures.items():
            write_bytes(folder / f"{name}.{ending}", picture)
    for name, picture in episodes_to_see(results, outcomes, source).items():
        write_bytes(folder / name, picture)


def episodes_to_see(results: Results, outcomes: Inputs, source: Source) -> dict[str, bytes]:
    """An episode of the first seed's agent with a partner of each kind: strips of some moments, by file name."""
    config, greedy = results.config, MODES[results.mode]
    if "behaviour_conditioned" not in config.methods:
        return {}
    seed, clone = config.seeds[0], (*config.references, *config.population_of(config.seeds[0]))[0]
    networks, clones = source.networks(outcomes, seed), source.find(outcomes, "clones", clone)
    agent = told_by(networks("predictor"), networks("policy"), config.feed)
    pictures: dict[str, bytes] = {}
    for kind in KINDS:
        players = agent, told_nothing(getattr(clones, kind))
        episode = record_episode(key_for(seed, "episode"), config.world.game, players, greedy, KINDS, kind)
        pictures |= {f"episode_{kind}.{ending}": data for ending, data in episode_strip(episode).items()}
    return pictures


EXPERIMENT = Experiment("salesman", SalesmanConfig, stages, report)


def files_of(results: Results, outcomes: Inputs, commits: Mapping[str, str | None]) -> dict[str, Saved]:
    """All agents and partners with their weights and measured numbers, by the name of their file.

    Each says which commits made the stages that it comes from: they may have been there before this run.
    """
    config = results.config
    found: dict[str, Saved] = {}
    for seed in config.seeds:
        for method, agent in FAMILIES.items():
            if method in config.methods:
                saved = _saved(results, agent, seed, _networks(outcomes, method, seed), method)
                found[f"{agent}/{seed}"] = _made_by(saved, stages_behind(config, method, seed), commits)
    for partner in results.partners:
        policy = getattr(networks_of(outcomes, "clones", partner.seed), partner.kind)
        about = _about(config, partner.seed) | {"kind": partner.kind, "measured": partner._asdict()}
        where = "partners" if partner.seed in config.references else "training-partners"
        saved = Saved("partner", config.world, {"policy": policy}, about)
        found[f"{where}/{partner.id}"] = _made_by(saved, [stage_name("clones", partner.seed)], commits)
    return found


def stages_behind(config: SalesmanConfig, method: str, seed: int) -> list[str]:
    """All that was trained for an agent: the clones of whom it trained with, and its own networks."""
    clones = [stage_name("clones", clone) for clone in config.population_of(seed)]
    return [*clones, *(stage_name(training, seed) for training in TRAININGS[method])]


def _made_by(saved: Saved, stages: list[str], commits: Mapping[str, str | None]) -> Saved:
    return saved._replace(about=saved.about | {"stages": {stage: commits[stage] for stage in stages}})


def _networks(outcomes: Inputs, method: str, seed: int) -> dict[str, Any]:
    if method == "behaviour_conditioned":
        return {"policy": networks_of(outcomes, "policy", seed), "belief": networks_of(outcomes, "predictor", seed)}
    return {"policy": networks_of(outcomes, method, seed)}


def _saved(results: Results, agent: str, seed: int, networks: dict[str, Any], method: str) -> Saved:
    mode = results.mode
    measured = {
        f"return_{kind}": float(np.mean(results.by_seed(method, mode, kind, "total")[results.config.seeds.index(seed)]))
        for kind in KINDS
        if results.cells
    }
    about = _about(results.config, seed) | {"feed": results.config.feed, "mode": mode, "measured": measured}
    return Saved(agent, results.config.world, jax.device_get(networks), about)


def _about(config: SalesmanConfig, seed: int) -> dict[str, Any]:
    return {"seed": seed, "config": config, "commit": _commit()}  # the commit that writes the file


_commit = cache(commit)  # asked once for all files
