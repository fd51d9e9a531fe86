"""The salesman's experiment from beginning to end."""

from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np

from coadapt.configs.data import plain
from coadapt.evaluation.pictures import episode_strip, record_episode
from coadapt.experiments.planning import Experiment, Report
from coadapt.experiments.salesman.baseline import lstm_cloning_of
from coadapt.experiments.salesman.ceilings import regrets_in
from coadapt.experiments.salesman.clones import Clones, cloning_of, networks_of, stage_name, told_nothing
from coadapt.experiments.salesman.config import SalesmanConfig
from coadapt.experiments.salesman.report import (
    Partner,
    Results,
    best_mode,
    draw_adaptation,
    draw_learning,
    headline,
    model_card,
    summary,
    tables,
)
from coadapt.experiments.salesman.scores import (
    EVALUATIONS,
    MODES,
    beliefs_of,
    cells_of,
    evaluation_of,
    rehearsal_of,
    self_play_of,
)
from coadapt.experiments.salesman.training import told_by, training_of
from coadapt.experiments.salesman.weights import FAMILIES, Saved, save
from coadapt.experiments.salesman.world import KINDS
from coadapt.experiments.stages import Inputs, Stage, key_for
from coadapt.storage.files import make_folder, write_bytes, write_json, write_text
from coadapt.storage.provenance import commit


def stages(config: SalesmanConfig) -> list[Stage]:
    """All clones first, then seed after seed."""
    return [
        *(stage for clone in config.all_clones for stage in _of_clone(config, clone)),
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
    if config.references:
        made += [evaluation_of(mode, config, seed) for mode in MODES]
    return made


def _training_of(training: str, config: SalesmanConfig, seed: int) -> Stage:
    if training == "lstm_clones":
        return lstm_cloning_of(seed, config.world, config.lstm_clones, config.curve_points)
    return training_of(training, config, seed)


def report(config: SalesmanConfig, outcomes: Inputs, folder: Path) -> Report:
    """Write everything into the folder, and say what there is to see."""
    results = gather(config, outcomes)
    write_results(results, folder)
    for ending, picture in draw_learning(results).items():
        write_bytes(folder / f"learning.{ending}", picture)
    for name, picture in episodes_to_see(config, outcomes).items():
        write_bytes(folder / name, picture)
    agents = make_folder(folder / "agents")
    for name, saved in agents_of(results, outcomes).items():
        make_folder((agents / name).parent)
        save(agents / name, saved)
    write_text(agents / "README.md", model_card(results))
    closing = f"The trained agents and partners are in {agents}; see them play with: coadapt watch"
    return Report(tables(results), headline(results), closing)


def write_results(results: Results, folder: Path) -> None:
    """The numbers, the tables, and how soon the agent knows its partner."""
    write_json(folder / "summary.json", plain(summary(results)))
    write_text(folder / "table.md", "\n".join(table.markdown() for table in tables(results)))
    if results.beliefs:
        for ending, picture in draw_adaptation(results).items():
            write_bytes(folder / f"adaptation.{ending}", picture)


def episodes_to_see(config: SalesmanConfig, outcomes: Inputs) -> dict[str, bytes]:
    """An episode of the first seed's agent with a partner of each kind: strips of some moments, by file name."""
    if "behaviour_conditioned" not in config.methods:
        return {}
    seed, clone = config.seeds[0], (*config.references, *config.population_of(config.seeds[0]))[0]
    agent = told_by(networks_of(outcomes, "predictor", seed), networks_of(outcomes, "policy", seed), config.feed)
    pictures: dict[str, bytes] = {}
    for kind in KINDS:
        players = agent, told_nothing(getattr(networks_of(outcomes, "clones", clone), kind))
        episode = record_episode(key_for(seed, "episode"), config.world.game, players, label_names=KINDS, truth=kind)
        pictures |= {f"episode_{kind}.{ending}": data for ending, data in episode_strip(episode).items()}
    return pictures


EXPERIMENT = Experiment("salesman", SalesmanConfig, stages, report)


def gather(config: SalesmanConfig, outcomes: Inputs) -> Results:
    """What all stages came to."""
    ours = config.seeds if "behaviour_conditioned" in config.methods else ()
    rehearsal = {
        (*way.rsplit("_", 1), seed): cells_of(scores.episodes)
        for seed in ours
        for way, scores in outcomes[stage_name("rehearsal", seed)].items()
    }
    return Results(
        config=config,
        partners=[partner for clone in config.all_clones for partner in _partners_of(config, outcomes, clone)],
        cells=evaluated(config, outcomes),
        beliefs=believed(config, outcomes),
        rehearsal=rehearsal,
        accuracies={seed: _accuracies(config, outcomes, seed) for seed in ours},
        curves={
            (training, seed): {name: np.asarray(values)[:, 0] for name, values in outcomes[stage].infos.items()}
            for training, seed, stage in _trained(config)
        },
        mode=best_mode(rehearsal, config.feed),
        regrets=regrets_in(config, outcomes),
    )


def _trained(config: SalesmanConfig) -> list[tuple[str, int, str]]:
    """All trainings with their seed and the name of their stage."""
    clones = [("clones", clone) for clone in config.all_clones]
    trainings = [(training, seed) for seed in config.seeds for training in config.trainings]
    return [(training, seed, stage_name(training, seed)) for training, seed in (*clones, *trainings)]


def evaluated(config: SalesmanConfig, outcomes: Inputs) -> dict[tuple[str, int, str], Any]:
    """What every method came to with each reference partner, by method, seed and mode."""
    return {
        (method, seed, mode): cells_of(scores.episodes)
        for seed in config.seeds
        for mode, evaluation in EVALUATIONS.items()
        for method, scores in outcomes.get(stage_name(evaluation, seed), {}).items()
    }


def believed(config: SalesmanConfig, outcomes: Inputs) -> dict[int, dict[str, np.ndarray]]:
    """How right the beliefs were with reference partners, by seed."""
    scores = {seed: outcomes.get(stage_name("evaluation", seed), {}) for seed in config.seeds}
    ours = {seed: of["behaviour_conditioned"] for seed, of in scores.items() if "behaviour_conditioned" in of}
    return {seed: beliefs_of(of.beliefs) for seed, of in ours.items()}


def _partners_of(config: SalesmanConfig, outcomes: Inputs, seed: int) -> list[Partner]:
    clones: Clones = networks_of(outcomes, "clones", seed)
    iterations = (0, int(clones.intermediate_iteration), config.clones.iterations)
    cells = cells_of(outcomes[stage_name("self_play", seed)])
    return [
        Partner(seed, kind, iteration, cell.length, cell.total)
        for kind, iteration, cell in zip(KINDS, iterations, cells, strict=True)
    ]


def _accuracies(config: SalesmanConfig, outcomes: Inputs, seed: int) -> tuple[float, float]:
    """The predictor's accuracy over all steps: at the end of its training, and in execution with the same partners."""
    beliefs = outcomes[stage_name("rehearsal", seed)][f"{config.feed}_sample"].beliefs
    correct, counted = (float(np.sum(values, dtype=np.float64)) for values in (beliefs.correct, beliefs.counted))
    return float(outcomes[stage_name("predictor", seed)].infos["accuracy"][-1, 0]), correct / counted


def agents_of(results: Results, outcomes: Inputs) -> dict[str, Saved]:
    """All agents and partners with their weights and measured numbers, by the name of their file."""
    config = results.config
    found: dict[str, Saved] = {}
    for seed in config.seeds:
        for method, agent in FAMILIES.items():
            if method in config.methods:
                found[f"{agent}/{seed}"] = _saved(results, agent, seed, _networks(outcomes, method, seed), method)
    for partner in results.partners:
        policy = getattr(networks_of(outcomes, "clones", partner.seed), partner.kind)
        about = _about(config, partner.seed) | {"kind": partner.kind, "measured": partner._asdict()}
        where = "partners" if partner.seed in config.references else "training-partners"
        found[f"{where}/{partner.id}"] = Saved("partner", config.world, {"policy": policy}, about)
    return found


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
    return {"seed": seed, "config": config, "commit": _commit()}


_commit = cache(commit)  # asked once for all files
