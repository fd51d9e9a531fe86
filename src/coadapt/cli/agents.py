"""Commands for agents that are trained already: what they are worth, and what they look like."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from tyro.conf import Positional, arg

from coadapt.cli.answers import announce, mistakes_explained, tell
from coadapt.cli.experiments import run_folder

if TYPE_CHECKING:
    from coadapt.pipeline.saved import Saved
    from coadapt.pipeline.task import AnyTask
    from coadapt.players import Player

OURS, EPISODE = "salesman/behaviour-conditioned", Path("episode.gif")

AgentName = Annotated[
    Positional[str],
    arg(
        help="An agent of the package, such as salesman/behaviour-conditioned/3; a run, such as lake, or one of its"
        " agents, such as lake/lstm/1; or the path of one you trained."
    ),
]
StudyOfRun = Annotated[
    Path | None, arg(name="study", help="The file with the run's study, if it is not where it was when the run began.")
]
Greedy = Annotated[bool, arg(help="The agent takes its likeliest action instead of sampling. Partners always sample.")]
Seed = Annotated[int, arg(help="Of all chances: layouts, and actions.")]


def evaluate(
    agent: AgentName = OURS,
    partners: Annotated[
        tuple[str, ...],
        arg(help="Whom it plays with, by name or path. Usually: all held-out partners of the package, or of the run."),
    ] = (),
    episodes: Annotated[int, arg(help="With each partner.")] = 2_000,
    greedy: Greedy = False,
    seed: Seed = 0,
    study: StudyOfRun = None,
    quiet: Annotated[bool, arg(help="No progress, only the result.")] = False,
) -> None:
    """How an agent gets along with partners: length, return and share of finished episodes with each.

    An agent of a run plays with the partners that nobody trained with there.

    Example: coadapt evaluate salesman/behaviour-conditioned/1 --partners salesman/partners/100-skilled --episodes 20000
    """
    announce(f"Evaluating {agent}", quiet)
    from coadapt.configs.checks import whole
    from coadapt.pipeline.trial import try_out
    from coadapt.runs.progress import for_terminal

    with mistakes_explained():
        whole("episodes", episodes)
        whole("seed", seed, least=0)
        seated = _seated(agent, partners, study)
    with for_terminal(quiet).stage("episodes", episodes, first="compiling") as advance:
        players = list(seated.partners.values())
        cells = try_out(seated.game, seated.player, players, episodes, greedy, seed, advance)
    _table(agent, tuple(seated.partners), cells, episodes, greedy).show()


def watch(
    agent: AgentName = OURS,
    partner: Annotated[
        str | None, arg(help="Whom it plays with, by name or path. Usually: the last held-out partner there is.")
    ] = None,
    seed: Seed = 0,
    greedy: Greedy = False,
    to: Annotated[Path, arg(help="The file to write: an animated .gif, or a .png or .svg of some moments.")] = EPISODE,
    study: StudyOfRun = None,
) -> None:
    """See an episode: the grid, and beside it what the agent believes its partner to be.

    An episode of a game that nobody has said how to draw is printed step by step.

    Example: coadapt watch --partner salesman/partners/101-novice --seed 4 --to novice.gif
    """
    announce(f"Watching {agent}")
    import jax

    from coadapt.configs.checks import whole
    from coadapt.evaluation.watching import as_table, record_episode
    from coadapt.experiments.registry import SUITES
    from coadapt.storage.files import write_bytes

    with mistakes_explained():
        whole("seed", seed, least=0)
        if to.suffix not in (".gif", ".png", ".svg"):
            raise ValueError(f"an episode can be written as .gif, .png or .svg, not as {to.name!r}")
        seated = _seated(agent, () if partner is None else (partner,), study)
    name, other = list(seated.partners.items())[-1]
    truth = next((each for each in seated.task.types if name.endswith(f"-{each}")), None)
    key, players = jax.random.key(seed), (seated.player, other)
    episode = record_episode(key, seated.game, players, greedy, seated.task.types, truth)
    suite = SUITES.get(seated.task.name)
    renderer = None if suite is None or not isinstance(seated.task, suite.package.task) else suite.showing.renderer
    if renderer is None:
        as_table(episode).show()
        return
    with mistakes_explained():
        write_bytes(to, renderer.film(episode) if to.suffix == ".gif" else renderer.strip(episode)[to.suffix[1:]])
    tell(f"{episode.steps} steps, return {episode.return_after(episode.steps):.2f}. The episode is in {to}.")


class Seated(NamedTuple):
    """Who meets whom, and in which game."""

    task: "AnyTask"
    player: "Player"
    partners: dict[str, "Player"]

    @property
    def game(self) -> Any:
        return self.task.game


def _seated(agent: str, partners: tuple[str, ...], study: Path | None) -> Seated:
    """An agent and its partners, who must have learnt the same game."""
    from coadapt.storage.compiled import remember_compiled_programs

    remember_compiled_programs()
    run = _run_named(agent)
    return _of_package(agent, partners) if run is None else _of_run(*run, partners, study)


def _run_named(agent: str) -> tuple[Path, Path] | None:
    """The folder of the run that a name begins with, and the rest of it; none if there is no such run."""
    from coadapt.pipeline.saved import comes_with_the_package

    first, *rest = Path(agent).parts
    folder = run_folder(Path(first))
    is_run = not Path(agent).is_absolute() and (folder / "run.json").exists() and not comes_with_the_package(agent)
    return (folder, Path(*rest)) if is_run else None


def _of_package(agent: str, partners: tuple[str, ...]) -> Seated:
    """An agent of the package, or in a file, with partners of the package, or in files."""
    from coadapt.catalogue import find, path_of, pretrained
    from coadapt.pipeline.saved import check_same_game

    ours = find(agent)
    names = partners or tuple(name for name in pretrained() if name.startswith(f"{ours.task.name}/partners/"))
    if not names:
        raise ValueError("the package has no partners for this game; say whom to play with: --partners PATH")
    others = {name: find(name) for name in names}
    for name, other in others.items():
        check_same_game(ours, other, path_of(name))
        _check_is_partner(name, other)
    return Seated(ours.task, ours.player(), {name: other.player() for name, other in others.items()})


def _of_run(folder: Path, name: Path, partners: tuple[str, ...], file: Path | None) -> Seated:
    """An agent of a run with partners of the same run, or in files."""
    from coadapt.catalogue import find, study_of
    from coadapt.pipeline.methods import METHODS
    from coadapt.pipeline.saved import AGENTS

    study = study_of(folder, file)
    if not name.parts:
        name = Path(METHODS[study.methods[0]].folder)
    agents, task = folder / AGENTS, study.task
    ours = find(agents / name, task)
    if partners:
        others = {each: find(each, task) for each in partners}
        for each, other in others.items():
            _check_is_partner(each, other)
        met = {each: other.player() for each, other in others.items()}
    else:
        met = dict((study.held_out or study.partners).each_alone(study, agents))
    return Seated(task, ours.player(), met)


def _check_is_partner(name: str, saved: "Saved") -> None:
    from coadapt.pipeline.saved import PARTNER
    from coadapt.storage.files import Incompatible

    if saved.agent is not PARTNER:
        raise Incompatible(f"{name} is an agent ({saved.agent.name}), not a partner of clone training")


def _table(agent: str, names: tuple[str, ...], cells: list, episodes: int, greedy: bool):
    from coadapt.tables import Table

    rows = [
        [name, f"{cell.length:.2f}", f"{cell.total:.4f}", f"{cell.total_error:.4f}", f"{cell.finished:.2%}"]
        for name, cell in zip(names, cells, strict=True)
    ]
    how = "taking its likeliest action" if greedy else "sampling its actions"
    title = f"{agent}, {how}, {episodes:,} episodes with each partner"
    return Table(title, ["partner", "length", "return", "standard error", "finished"], rows)
