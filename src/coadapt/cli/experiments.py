"""Commands that run experiments: from the beginning, or from where they were left."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from coadapt.cli.answers import announce, mistakes_explained, nothing_begun, say_stopped, stops_explained, tell

if TYPE_CHECKING:  # what a command needs is loaded when it runs, not when help is asked for
    from coadapt.runs.executor import RunOptions
    from coadapt.runs.experiment import Experiment

RUNS = Path("runs")

Settings = Annotated[
    tuple[str, ...], arg(name="set", help="Other values for fields, as in policy.learning_rate=0.01 seeds=[0,1].")
]
RunName = Annotated[Path, arg(name="run", help="The run's name (its folder is then below runs/), or its folder.")]
SomeRunName = Annotated[
    Path | None, arg(name="run", help="The run's name, or its folder. Usually that of what is run.")
]
Seeds = Annotated[int | None, arg(help="How many training seeds, counted from 0. The preset's: 5.")]


@dataclass(frozen=True)
class Options:
    """What every command that runs something understands."""

    publish: Annotated[Path | None, arg(help="A folder to copy the results to in the end.")] = None
    fresh: Annotated[bool, arg(help="Make everything again; an earlier run is moved aside.")] = False
    init_from: Annotated[tuple[Path, ...], arg(help="Checkpoints of other runs that a new run goes on from.")] = ()
    checkpoint_every: Annotated[float, arg(help="Seconds between two checkpoints.")] = 30.0
    track: Annotated[str | None, arg(help="Send metrics to tensorboard or wandb, too (needs coadapt[track]).")] = None
    quiet: Annotated[bool, arg(help="No progress, only the result.")] = False

    def run_options(self) -> "RunOptions":
        """The same, checked, as those who run things understand it."""
        from coadapt.configs.checks import between
        from coadapt.runs.executor import RunOptions
        from coadapt.runs.progress import for_terminal
        from coadapt.runs.tracking import check_tracker

        between("checkpoint-every", self.checkpoint_every, 0, 1e6)
        if self.track is not None:
            check_tracker(self.track)
        if self.fresh and self.init_from:
            raise ValueError("--fresh makes everything again and --init-from goes on from a checkpoint; choose one")
        progress, init_from = for_terminal(self.quiet), tuple(path.with_suffix("") for path in self.init_from)
        return RunOptions(progress, self.checkpoint_every, self.track, self.fresh, init_from, say_stopped)


@dataclass(frozen=True)
class ExperimentOptions(Options):
    """The same, and which configuration is asked for."""

    preset: Annotated[str, arg(help="quick (minutes), fast (best result per minute) or paper (as it states).")] = "fast"
    config: Annotated[Path | None, arg(help="A JSON file with the whole configuration, instead of a preset.")] = None
    settings: Settings = ()

    def chosen_from(self, presets: dict[str, Any], **changes: Any) -> Any:
        """The preset, or what the file says, with these changes and with those that are asked for."""
        from coadapt.configs.checks import one_of
        from coadapt.configs.data import changed, read_config
        from coadapt.storage.files import read_json

        one_of("preset", self.preset, presets)
        chosen = presets[self.preset]
        if self.config is not None:
            chosen = read_config(type(chosen), read_json(self.config))
        return changed(replace(chosen, **changes), self.settings)


AllOptions = Annotated[Options, arg(name="")]
AS_USUAL = Options()
AllExperimentOptions = Annotated[ExperimentOptions, arg(name="")]
AS_BY_DEFAULT = ExperimentOptions()


def reproduce_matrix_game(
    seeds: Seeds = None,
    run: RunName = Path("matrix_game"),
    options: AllExperimentOptions = AS_BY_DEFAULT,
) -> None:
    """The paper's first experiment: a matrix game with partners whose preferences have to be found out.

    Trains the behaviour-conditioned agent and the RL2 baseline for every alpha and seed at once, and evaluates both
    beside the exact Bayes-optimal player and three controls. Partners are easy to read at small alphas. Stop it with
    Ctrl-C whenever you like: the same command goes on, and what is finished is not trained twice.

    Example: coadapt reproduce matrix-game --seeds 3 --set alphas=[0.1,0.3] --run try
    """
    announce("The matrix game", options.quiet)
    from coadapt.experiments import matrix_game

    with mistakes_explained():
        config = options.chosen_from(matrix_game.PRESETS, **_so_many(seeds))
    run_to_end(matrix_game.EXPERIMENT, config, run_folder(run), options)


def reproduce_salesman(
    pretrained: Annotated[bool, arg(help="Train nothing: evaluate the agents that come with the package.")] = False,
    seeds: Seeds = None,
    run: SomeRunName = None,
    options: AllExperimentOptions = AS_BY_DEFAULT,
) -> None:
    """The paper's second experiment: a gridworld with partners of different skill.

    Trains clones by self-play, which leave novice, intermediate and skilled partners behind; with these it trains the
    behaviour-conditioned agent, the LSTM baseline and a label-blind control, and lets all of them play with held-out
    partners. Prints the paper's Table 2 beside ours and the exact optimum, where return is lost, how soon the agent
    knows its partner and what it does when another takes over, and writes tables, figures and the trained agents.

    Takes an afternoon on two cores, and can be stopped and go on at any time. With --preset quick one seed is trained
    in minutes and tried with the package's partners. --pretrained takes half an hour, with --preset quick minutes.

    Example: coadapt reproduce salesman --pretrained --preset quick
    """
    announce("The travelling-salesman gridworld", options.quiet)
    from coadapt.experiments import salesman

    with mistakes_explained():
        config = options.chosen_from(salesman.PRETRAINED_PRESETS if pretrained else salesman.PRESETS, **_so_many(seeds))
        if pretrained:
            salesman.SUITE.as_trained(config)  # which refuses seeds that are not there
    experiment = salesman.PRETRAINED if pretrained else salesman.EXPERIMENT
    run_to_end(experiment, config, run_folder(run or Path(experiment.name)), options)


def train_salesman(
    seed: Annotated[int, arg(help="The seed of the agent.")] = 0,
    run: SomeRunName = None,
    options: AllExperimentOptions = AS_BY_DEFAULT,
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
        config = options.chosen_from(salesman.PRESETS, **alone)
    run_to_end(salesman.EXPERIMENT, config, run_folder(run or Path(f"salesman_{seed}")), options)


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
            raise ValueError(f"{folder} is of {there.experiment!r}; go on with it by the command that began it")
        experiment = EXPERIMENTS[there.experiment]
        config = read_config(experiment.config, there.config)
    run_to_end(experiment, config, folder, options)


def run_folder(run: Path) -> Path:
    """A name is a run below runs/; anything else is a folder."""
    if run.name in ("", ".."):
        return run.resolve()
    return RUNS / run if len(run.parts) == 1 else run


def run_to_end(
    experiment: "Experiment",
    config: Any,
    folder: Path,
    options: Options,
    begun: Callable[[Path], None] = lambda folder: None,
) -> None:
    """Carry it out, show the tables, and say where everything is; `begun` hears of the folder when there is a run."""
    from coadapt.runs.experiment import plan
    from coadapt.runs.initial import origins_of
    from coadapt.runs.launch import finish, opened
    from coadapt.storage import published, runs
    from coadapt.storage.files import make_folder

    with mistakes_explained():
        how, publish, planned = options.run_options(), options.publish, None
        there = runs.exists(folder)  # which refuses a folder that is something else
        if publish is not None:
            published.check_place(publish, folder, experiment.name)
            make_folder(publish, keep=False)
        if how.fresh or not there:
            with nothing_begun(how.progress), how.progress.busy("planning"):
                planned = plan(experiment, config, origins_of(how.init_from))  # which refuses what does not fit
        make_folder(folder, keep=False)
    with stops_explained(folder), opened(experiment, config, folder, how) as run:
        begun(run.folder)
        report = finish(experiment, config, run, how, planned)
        if publish is not None:
            published.publish(run, publish)
    for table in report.tables:
        table.show()
    tell(f"Everything is in {run.folder}. {report.closing}")


def _so_many(seeds: int | None) -> dict[str, Any]:
    """The change to so many seeds, counted from zero, if they are asked for."""
    from coadapt.configs.checks import whole
    from coadapt.experiments.matrix_game import MOST_SEEDS

    if seeds is None:
        return {}
    whole("seeds", seeds, most=MOST_SEEDS)
    return {"seeds": tuple(range(seeds))}
