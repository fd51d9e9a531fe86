"""Commands that run experiments: from the beginning, or from where they were left."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from coadapt.cli.answers import announce, mistakes_explained, nothing_begun, say_stopped, stops_explained, tell
from coadapt.cli.commands import Commands

if TYPE_CHECKING:  # what a command needs is loaded when it runs, not when help is asked for
    from coadapt.runs.executor import RunOptions
    from coadapt.runs.experiment import Experiment

RUNS = Path("runs")

reproductions: Commands = Commands("Run one of the paper's experiments from beginning to end.")
trainings: Commands = Commands("Train one agent, with the partners it needs.")

Preset = Annotated[
    str,
    arg(
        help="How to train: quick (a few minutes), fast (the best result per minute) or paper (all that the paper"
        " states)."
    ),
]
ConfigFile = Annotated[Path | None, arg(help="A JSON file with the whole configuration, instead of a preset.")]
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
    init_from: Annotated[
        tuple[Path, ...],
        arg(help="Checkpoints of other runs, as runs/NAME/checkpoints/policy-000012, that a new run goes on from."),
    ] = ()
    checkpoint_every: Annotated[float, arg(help="Seconds between two checkpoints.")] = 30.0
    track: Annotated[
        str | None, arg(help="Send metrics to tensorboard or to wandb, too (pip install 'coadapt[track]').")
    ] = None
    quiet: Annotated[bool, arg(help="No progress, only the result.")] = False

    def run_options(self, fresh: bool = False) -> "RunOptions":
        """The same, checked, as those who run things understand it."""
        from coadapt.configs.checks import between
        from coadapt.runs.executor import RunOptions
        from coadapt.runs.progress import for_terminal
        from coadapt.runs.tracking import check_tracker

        between("checkpoint-every", self.checkpoint_every, 0, 1e6)
        if self.track is not None:
            check_tracker(self.track)
        if fresh and self.init_from:
            raise ValueError("--fresh makes everything again and --init-from goes on from a checkpoint; choose one")
        init_from = tuple(path.with_suffix("") for path in self.init_from)
        return RunOptions(for_terminal(self.quiet), self.checkpoint_every, self.track, fresh, init_from, say_stopped)


AllOptions = Annotated[Options, arg(name="")]
AS_USUAL = Options()


@reproductions.command("matrix-game")
def reproduce_matrix_game(
    preset: Preset = "fast",
    config: ConfigFile = None,
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
    """The paper's first experiment: a matrix game with partners whose preferences have to be found out.

    Trains the behaviour-conditioned agent and the RL2 baseline for every alpha and seed at once, evaluates both beside
    the exact Bayes-optimal player and three controls, prints the table, and writes summary.json, table.md and two
    figures into the run's folder. Partners are easy to read at small alphas and hard at large ones.

    Stop it with Ctrl-C whenever you like. The same command goes on, and what is finished is not trained twice.

    Example: coadapt reproduce matrix-game --alphas 0.1 0.3 --seeds 3 --run try
    """
    announce("The matrix game", options.quiet)
    from coadapt.experiments import matrix_game

    with mistakes_explained():
        changes: dict[str, Any] = {} if alphas is None else {"alphas": alphas}
        changes |= {} if seeds is None else {"seeds": _counted(seeds)}
        changes |= {} if payoff is None else {"payoff": _read_json(payoff)}
        chosen = _configured(matrix_game.PRESETS, preset, config, changes, settings)
        run_options = options.run_options(fresh)
    run_to_end(matrix_game.EXPERIMENT, chosen, run_folder(run), run_options, options.publish)


@reproductions.command("salesman")
def reproduce_salesman(
    pretrained: Annotated[bool, arg(help="Train nothing: evaluate the agents that come with the package.")] = False,
    preset: Preset = "fast",
    config: ConfigFile = None,
    seeds: Annotated[int | None, arg(help="How many training seeds, counted from 0. The preset's: 5.")] = None,
    episodes: Annotated[
        int | None, arg(help="Of every method with every held-out partner. The fast preset's, and pretrained: 2,000.")
    ] = None,
    settings: Settings = (),
    run: Annotated[
        Path | None, arg(name="run", help="The run's name, or its folder. Usually: salesman, or salesman_pretrained.")
    ] = None,
    fresh: Fresh = False,
    options: AllOptions = AS_USUAL,
) -> None:
    """The paper's second experiment: a gridworld with partners of different skill.

    Trains clones by self-play, which leave novice, intermediate and skilled partners behind; with these it trains the
    behaviour-conditioned agent, the LSTM baseline and a label-blind control, and lets all of them play with partners
    from held-out populations that nobody trained with. Prints the paper's Table 2 three ways (theirs, ours and the
    exact optimum), where return is lost, how soon the agent knows its partner and what it does when another takes over,
    and writes summary.json, table.md, figures and the trained agents into the run's folder.

    Training takes an afternoon on two cores with five seeds, and can be stopped and go on at any time. With --preset
    quick one seed of the agent is trained from nothing in a few minutes and tried with the partners that come with the
    package. --pretrained takes about half an hour, a few minutes with --preset quick.

    Example: coadapt reproduce salesman --pretrained --preset quick
    """
    announce("The travelling-salesman gridworld", options.quiet)
    from coadapt.experiments import salesman

    name = Path("salesman_pretrained" if pretrained else "salesman") if run is None else run
    with mistakes_explained():
        changes: dict[str, Any] = {} if seeds is None else {"seeds": _counted(seeds)}
        changes |= {} if episodes is None else {"episodes": episodes}
        presets: dict[str, Any] = salesman.PRETRAINED_PRESETS if pretrained else salesman.PRESETS
        chosen = _configured(presets, preset, config, changes, settings)
        if pretrained:
            salesman.SUITE.as_trained(chosen)  # which refuses seeds that are not there
        run_options = options.run_options(fresh)
    experiment = salesman.PRETRAINED if pretrained else salesman.EXPERIMENT
    run_to_end(experiment, chosen, run_folder(name), run_options, options.publish)


@trainings.command("salesman")
def train_salesman(
    seed: Annotated[int, arg(help="The seed of the agent.")] = 0,
    preset: Preset = "fast",
    config: ConfigFile = None,
    settings: Settings = (),
    run: Annotated[Path | None, arg(name="run", help="The run's name, or its folder. Usually: salesman_SEED.")] = None,
    fresh: Fresh = False,
    options: AllOptions = AS_USUAL,
) -> None:
    """One behaviour-conditioned agent for the salesman's game, with its partners.

    Trains the partners by self-play, then the policy and its predictor with them, and tells how the agent does with the
    partners it trained with. What is finished is shared with coadapt reproduce salesman, both ways.

    Example: coadapt train salesman --seed 3 --set task.game.size=7 partners.seeds=[]
    """
    announce(f"Training for the travelling-salesman gridworld, seed {seed}", options.quiet)
    from coadapt.experiments import salesman

    with mistakes_explained():
        alone = {"seeds": (seed,), "methods": ("behaviour_conditioned",), "held_out": None}
        chosen = _configured(salesman.PRESETS, preset, config, alone, settings)
        run_options = options.run_options(fresh)
    name = Path(f"salesman_{seed}") if run is None else run
    run_to_end(salesman.EXPERIMENT, chosen, run_folder(name), run_options, options.publish)


def resume(
    run: Annotated[Positional[Path], arg(help="The run's name, or its folder.")], options: AllOptions = AS_USUAL
) -> None:
    """Go on with a run from its newest checkpoint, as if it had never stopped.

    Example: coadapt resume matrix_game
    """
    from coadapt.configs.data import read_config
    from coadapt.storage import runs

    folder = run_folder(run)
    with mistakes_explained():
        there = runs.read(folder)
    announce(f"Going on with {folder}", options.quiet)
    from coadapt.experiments.registry import EXPERIMENTS

    with mistakes_explained():
        if there.experiment not in EXPERIMENTS:
            raise ValueError(
                f"{folder} is of {there.experiment!r}, which whoever began it goes on with: run that again"
            )
        experiment = EXPERIMENTS[there.experiment]
        config = read_config(experiment.config, there.config)
        run_options = options.run_options()
    run_to_end(experiment, config, folder, run_options, options.publish)


def run_folder(run: Path) -> Path:
    """A name is a run below runs/; anything else is a folder."""
    if run.name in ("", ".."):
        return run.resolve()
    return RUNS / run if len(run.parts) == 1 else run


def run_to_end(
    experiment: "Experiment", config: Any, folder: Path, run_options: "RunOptions", publish: Path | None
) -> None:
    """Carry it out, show the tables, and say where everything is."""
    from coadapt.runs.experiment import plan
    from coadapt.runs.initial import origins_of
    from coadapt.runs.launch import finish, opened
    from coadapt.storage import published, runs
    from coadapt.storage.files import make_folder

    with mistakes_explained():
        there = runs.exists(folder)  # which refuses a folder that is something else
        if publish is not None:
            published.check_place(publish, folder, experiment.name)
            make_folder(publish, keep=False)
        planned = None
        if run_options.fresh or not there:
            with nothing_begun(run_options.progress), run_options.progress.busy("planning"):
                planned = plan(experiment, config, origins_of(run_options.init_from))  # refuses what does not fit
        make_folder(folder, keep=False)
    with stops_explained(folder), opened(experiment, config, folder, run_options) as run:
        report = finish(experiment, config, run, run_options, planned)
        if publish is not None:
            published.publish(run, publish)
    for table in report.tables:
        table.show()
    tell(f"Everything is in {run.folder}. {report.closing}")


def _counted(seeds: int) -> tuple[int, ...]:
    """So many seeds, counted from zero."""
    from coadapt.configs.checks import whole
    from coadapt.experiments.matrix_game import MOST_SEEDS

    whole("seeds", seeds, most=MOST_SEEDS)
    return tuple(range(seeds))


def _configured(
    presets: dict[str, Any], preset: str, file: Path | None, changes: dict[str, Any], settings: tuple[str, ...]
) -> Any:
    """The preset, or the configuration in the file, with what was asked for instead, by name or in words."""
    from coadapt.configs.data import changed, read_config

    if preset not in presets:
        raise ValueError(f"there is no preset {preset!r}; choose one of: {', '.join(presets)}")
    chosen = presets[preset]
    if file is not None:
        chosen = read_config(type(chosen), _read_json(file))
    return changed(replace(chosen, **changes), settings)


def _read_json(path: Path) -> Any:
    from coadapt.storage.files import read_regular

    try:
        return json.loads(read_regular(path).decode())
    except OSError as problem:
        raise ValueError(f"cannot read {path}: {problem.strerror}") from problem
    except (ValueError, RecursionError) as problem:
        raise ValueError(f"{path} is not JSON: {problem}") from problem
