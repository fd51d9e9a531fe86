"""Commands that run experiments: from the beginning, or from where they were left."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from tyro.conf import Positional, arg
from tyro.extras import SubcommandApp

from coadapt.cli.answers import mistakes_explained, stops_explained

if TYPE_CHECKING:  # what a command needs is loaded when it runs, not when help is asked for
    from coadapt.experiments.planning import Experiment
    from coadapt.experiments.working import Manner

RUNS = Path("runs")

Choice = TypeVar("Choice")

reproductions = SubcommandApp()
searches = SubcommandApp()

Settings = Annotated[
    tuple[str, ...],
    arg(name="set", help="Other values for fields of the configuration, as in policy.learning_rate=0.01 seeds=[0,1]."),
]
RunName = Annotated[Path, arg(name="run", help="The run's name (its folder is then below runs/), or its folder.")]
Fresh = Annotated[bool, arg(help="Make everything again, even what is finished. An earlier run is moved aside.")]


@dataclass(frozen=True)
class Options:
    """What every command that runs something understands."""

    publish: Annotated[Path | None, arg(help="A folder to copy the results to in the end.")] = None
    fork: Annotated[bool, arg(help="Go on from its checkpoint in a new run beside it, whatever has changed.")] = False
    checkpoint_every: Annotated[float, arg(help="Seconds between two checkpoints.")] = 30.0
    track: Annotated[
        str | None, arg(help="Send metrics to tensorboard or to wandb, too (pip install 'coadapt[track]').")
    ] = None
    quiet: Annotated[bool, arg(help="No progress, only the result.")] = False

    def manner(self, fresh: bool = False) -> "Manner":
        """The same, checked, as those who run things understand it."""
        from coadapt.configs.checks import between
        from coadapt.experiments.working import Manner
        from coadapt.progress import for_terminal
        from coadapt.tracking import check_tracker

        between("checkpoint-every", self.checkpoint_every, 0, 1e6)
        if self.track is not None:
            check_tracker(self.track)
        if fresh and self.fork:
            raise ValueError("--fresh makes everything again and --fork goes on from a checkpoint; choose one")
        return Manner(for_terminal(self.quiet), self.checkpoint_every, self.track, fresh, self.fork)


AllOptions = Annotated[Options, arg(name="")]
AS_USUAL = Options()


@reproductions.command(name="matrix-game")
def reproduce_matrix_game(
    preset: Annotated[
        str, arg(help="How to train: fast (the best result per minute) or paper (all that the paper states).")
    ] = "fast",
    config: Annotated[Path | None, arg(help="A JSON file with the whole configuration, instead of a preset.")] = None,
    alphas: Annotated[
        tuple[float, ...] | None,
        arg(help="Concentrations of the partners' Dirichlet distribution. The preset's: 0.01 0.03 0.1 0.3 1 3."),
    ] = None,
    seeds: Annotated[int | None, arg(help="How many training seeds, counted from 0. The preset's: 5.")] = None,
    payoff: Annotated[
        Path | None,
        arg(help="A JSON file with another payoff table: a list of rows, one for each action of the partner."),
    ] = None,
    settings: Settings = (),
    run: RunName = Path("matrix_game"),
    fresh: Fresh = False,
    options: AllOptions = AS_USUAL,
) -> None:
    """The paper's first experiment: a matrix game with partners whose taste has to be found out.

    Trains the behaviour-conditioned agent and the RL2 baseline for every alpha and seed at once, evaluates both beside
    the exact Bayes-optimal player and three controls, prints the table, and writes summary.json, table.md and two
    figures into the run's folder. Partners are easy to read at small alphas and hard at large ones.

    Stop it with Ctrl-C whenever you like. The same command goes on, and what is finished is not trained twice.

    Example: coadapt reproduce matrix-game --alphas 0.1 0.3 --seeds 3 --run try
    """
    from coadapt.configs.checks import whole
    from coadapt.configs.data import changed, read_config
    from coadapt.experiments import matrix_game

    folder = run_folder(run)
    with mistakes_explained():
        chosen = _choose(matrix_game.PRESETS, preset, "preset")
        if config is not None:
            chosen = read_config(matrix_game.MatrixGameConfig, _read_json(config))
        if seeds is not None:
            whole("seeds", seeds, most=matrix_game.MOST_SEEDS)
        changes = {
            "alphas": alphas,
            "seeds": None if seeds is None else tuple(range(seeds)),
            "payoff": None if payoff is None else _read_payoff(payoff),
        }
        chosen = replace(chosen, **{name: value for name, value in changes.items() if value is not None})
        chosen = changed(chosen, settings)
        manner = options.manner(fresh)
    _run(matrix_game.EXPERIMENT, chosen, folder, manner, options.publish)


@searches.command(name="matrix-game")
def tune_matrix_game(
    methods: Annotated[tuple[str, ...], arg(help="Whose settings to search.")] = ("predictor", "policy", "rl2"),
    settings: Settings = (),
    run: RunName = Path("matrix_game_tuning"),
    fresh: Fresh = False,
    options: AllOptions = AS_USUAL,
) -> None:
    """The search that the matrix game's fast preset comes from.

    Every method has a grid of candidates. All are tried at a third of the budget, the best three at the whole of it.
    Writes tuning.md and, with every number, tuning.json. Takes about an hour on two cores, most of it for RL2. Like
    every run it can be stopped and goes on.
    """
    from coadapt.configs.data import changed
    from coadapt.experiments import matrix_game

    with mistakes_explained():
        chosen = changed(matrix_game.TuningConfig(matrix_game.FAST, methods), settings)
        manner = options.manner(fresh)
    _run(matrix_game.TUNING, chosen, run_folder(run), manner, options.publish)


def resume(
    run: Annotated[Positional[Path], arg(help="The run's name, or its folder.")],
    settings: Settings = (),
    options: AllOptions = AS_USUAL,
) -> None:
    """Go on with a run from its newest checkpoint, as if it had never stopped.

    Under another configuration a run does not go on, for its numbers would be of neither; with --fork a new run does.

    Example: coadapt resume matrix_game --fork --set rl2.learning_rate=0.001
    """
    from coadapt.configs.data import changed, read_config
    from coadapt.experiments.registry import EXPERIMENTS
    from coadapt.storage import runs

    folder = run_folder(run)
    with mistakes_explained():
        there = runs.read(folder)
        experiment = _choose(EXPERIMENTS, there.experiment, "experiment")
        as_begun = read_config(experiment.config, there.config)
        config = read_config(experiment.config, runs.config_of(there)) if options.fork else as_begun
        config = changed(config, settings)
        manner = options.manner()
    _run(experiment, config, folder, manner, options.publish)


def run_folder(run: Path) -> Path:
    """A name is a run below runs/; anything else is a folder."""
    is_name = len(run.parts) == 1 and run.name not in ("", "..")
    return RUNS / run if is_name else run if run.name not in ("", "..") else run.resolve()


def _run(experiment: "Experiment", config: Any, folder: Path, manner: "Manner", publish: Path | None) -> None:
    """Carry it out, show the tables, and say where everything is."""
    from coadapt.experiments.running import finish, opened
    from coadapt.storage import runs
    from coadapt.storage.compiled import remember_compiled_programs
    from coadapt.storage.files import make_folder

    with mistakes_explained():
        runs.exists(folder)  # which refuses a folder that is something else
        for place in (publish, folder):
            if place is not None:
                make_folder(place)
    remember_compiled_programs()
    with stops_explained(folder), opened(experiment, config, folder, manner) as run, stops_explained(run.folder):
        report = finish(experiment, config, run, manner)
        if publish is not None:
            runs.publish(run, publish)
    for table in report.tables:
        table.show()
    print(f"Everything is in {run.folder}. {report.closing}")


def _choose(named: dict[str, Choice], name: str, kind: str) -> Choice:
    if name not in named:
        raise ValueError(f"there is no {kind} {name!r}; choose one of: {', '.join(named)}")
    return named[name]


def _read_payoff(path: Path) -> tuple[tuple[float, ...], ...]:
    from coadapt.games.matrix import check_payoff

    table = _read_json(path)
    check_payoff(table)
    return tuple(tuple(row) for row in table)


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise ValueError(f"cannot read {path}: {problem.strerror}") from problem
    except (ValueError, RecursionError) as problem:
        raise ValueError(f"{path} is not JSON: {problem}") from problem
