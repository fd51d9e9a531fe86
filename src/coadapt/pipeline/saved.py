"""Agents and partners as files: their weights, and beside them all that is needed to make them play.

A file is known by its path without an ending: `path.safetensors` has the arrays, `path.json` says whose they are.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax

from coadapt.agents.behaviour_conditioned import CONDITIONINGS
from coadapt.configs.checks import shown
from coadapt.configs.data import differences, plain, read_config
from coadapt.pipeline.method import Method, Networks
from coadapt.pipeline.older_words import in_words_of_today, tensor_name
from coadapt.pipeline.self_play import as_partner
from coadapt.pipeline.task import AnyTask, new_policy
from coadapt.players import Player, prepared
from coadapt.storage import trees
from coadapt.storage.files import Damaged, Incompatible, check_kinds

PRETRAINED = Path(__file__).parents[1] / "weights"
"""What comes with the package, a folder a game."""

AGENTS = Path("results", "agents")
"""Where in the folder of a run its agents and partners are saved."""

KEPT_IN = "partners", "training-partners"
"""The folders there of partners that were trained: of held-out ones, and of those that agents trained with."""

MANY = 20_000
"""Whoever wants to play asks for so many decisions or more; tables that take longer are not worked out."""

SAID_BY_A_WORD: dict[str, Any] = {"game": str, "agent": str, "conditioning": str | None, "type": str | None}


class Agent(NamedTuple):
    """What an agent or partner is called in files, how its networks are made, and how they become a player."""

    name: str
    new: Callable[[AnyTask], dict[str, Any]]
    player: Callable[[Networks, AnyTask, str], Player]
    has_belief: bool = False


def agent_of(method: Method) -> Agent:
    """The agents of a method."""
    return Agent(method.folder, method.new, method.player, method.has_belief)


PARTNER = Agent(
    "partner",
    lambda task: {"policy": new_policy(jax.random.key(0), task)},
    lambda networks, task, conditioning: as_partner(networks["policy"], task),
)
"""Who is left behind by clone training."""


class Saved(NamedTuple):
    """Networks by name, and what is known of them."""

    agent: Agent
    task: AnyTask
    networks: dict[str, Any]
    about: dict[str, Any]

    def as_player(self) -> Player:
        """Whoever has these networks."""
        return self.agent.player(self.networks, self.task, self.about.get("conditioning", "probabilities"))

    def player(self) -> Player:
        """The same, ready to play."""
        return prepared(self.as_player(), MANY)


def save(path: Path, saved: Saved) -> None:
    """Networks to a file. Critics are for training and not part of it."""
    task = saved.task
    identity = {"game": task.name, "agent": saved.agent.name, "labels": list(task.types), "task": plain(task)}
    trees.save(path, saved.networks, identity | plain(saved.about))


def read(path: Path, tasks: Mapping[str, Any], agents: Sequence[Agent] = (PARTNER,)) -> Saved:
    """Networks from a file, for one of these tasks by name, of one of these agents or partners.

    A task is given itself, or as its class if the file says the rest. Whatever does not fit is refused with a sentence.
    """
    known_agents = {agent.name: agent for agent in agents}
    about = trees.read_manifest(path)["about"]
    if "task" not in about:  # as nobody writes any more: users' own words stay as they are
        about = in_words_of_today(about)
    manifest = trees.manifest_file(path)
    check_kinds(manifest, about, SAID_BY_A_WORD)
    if about.get("game") not in tasks:
        raise Incompatible(
            f"{manifest} is for the game {about.get('game')!r}; known are {', '.join(tasks)}; of another game say the"
            " task, as in coadapt.load(path, task=study.task)"
        )
    agent = known_agents.get(about.get("agent"))
    if agent is None:
        raise Incompatible(f"{manifest} is of {about.get('agent')!r}; wanted is one of: {', '.join(known_agents)}")
    if agent.has_belief and about.get("conditioning") not in CONDITIONINGS:
        known, there = ", ".join(CONDITIONINGS), about.get("conditioning")
        raise Incompatible(f"{manifest} has a policy that is conditioned on {there!r}; known are {known}")
    task = _task(manifest, tasks[about["game"]], about)
    try:
        shapes = jax.eval_shape(lambda: agent.new(task))
    except (ValueError, TypeError, OverflowError) as problem:
        raise Incompatible(f"{manifest} is of networks that cannot be made: {problem}") from None
    networks = trees.load(path, like=shapes, renamed=lambda name: tensor_name(name, shapes))
    trees.check_finite(path, networks)
    return Saved(agent, task, networks, about)


def _task(manifest: Path, given: Any, about: dict[str, Any]) -> AnyTask:
    if isinstance(given, type):
        task = _task_as_told(manifest, given, about)
    else:
        task = given
        for place, there, here in differences(about.get("task"), plain(task)):
            raise Incompatible(f"{manifest} is of another task: {place} was {shown(there)} and is {shown(here)}")
    if about.get("labels") != list(task.types):
        raise Incompatible(f"{manifest} has the labels {about.get('labels')!r}, not {list(task.types)!r}")
    return task


def _task_as_told(manifest: Path, kind: type, about: dict[str, Any]) -> AnyTask:
    try:
        task = read_config(kind, about.get("task"))
    except ValueError as problem:
        raise Damaged(f"{manifest}: {problem}") from None
    if plain(task) != about["task"]:
        raise Incompatible(
            f"{manifest} was written by another version of coadapt, whose networks saw the game differently"
        )
    return task


def path_of(name: str | Path) -> Path:
    """Where a name's file is: in the package, or else where the path says. Several in a folder: the first."""
    for path in (PRETRAINED / name, _without_ending(Path(name)), *_in_runs(Path(name))):
        first = min(path.glob("*.safetensors"), default=None) if path.is_dir() else None
        if first is not None:
            return first.with_suffix("")
        if trees.manifest_file(path).exists():
            return path
    families = dict.fromkeys(each.rpartition("/")[0] for each in pretrained())
    offer = ", ".join(families) or "which has none"
    raise Incompatible(f"there is no agent {str(name)!r}, neither in the package ({offer}) nor as a file {name}.json")


def _in_runs(name: Path) -> list[Path]:
    """Where the agents of a run lie, if a name begins with the folder of one."""
    runs = [folder for folder in name.parents if (folder / "run.json").exists()]
    return [run / AGENTS / _without_ending(name.relative_to(run)) for run in runs]


def comes_with_the_package(name: str) -> bool:
    """Whether it is the name of an agent, or of several in a folder, that came with the package."""
    folders = (each.rpartition("/")[0] for each in pretrained())
    return name in (*pretrained(), *folders)


def pretrained() -> list[str]:
    """The names of all that came with the package."""
    files = sorted(PRETRAINED.rglob("*.safetensors"))
    return [file.relative_to(PRETRAINED).with_suffix("").as_posix() for file in files]


def _without_ending(path: Path) -> Path:
    return path.with_suffix("") if path.suffix in (".json", ".safetensors") else path


def check_same_game(one: Saved, other: Saved, path: Path) -> None:
    """Refuse to seat two who have learnt different games; the path is the other's."""
    if one.task.name != other.task.name:
        raise Incompatible(f"{path} was trained for {other.task.name}, the agent for {one.task.name}")
    for name, value in plain(one.task.game).items():
        there = plain(other.task.game)[name]
        if there != value:
            raise Incompatible(f"{path} was trained in a game with {name} {there}, the agent in one with {value}")
