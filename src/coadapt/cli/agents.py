"""Commands for agents that are trained already: what they are worth, and what they look like."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from coadapt.cli.answers import announce, mistakes_explained, tell

if TYPE_CHECKING:
    from coadapt.pipeline.saved import Saved

OURS, SKILLED, EPISODE = "salesman/behaviour-conditioned", "salesman/partners/100-skilled", Path("episode.gif")

AgentName = Annotated[
    Positional[str], arg(help="An agent of the package, as salesman/behaviour-conditioned/3, or the path of your own.")
]
Greedy = Annotated[bool, arg(help="The agent takes its likeliest action instead of sampling. Partners always sample.")]
Seed = Annotated[int, arg(help="Of all chances: layouts, and actions.")]


def evaluate(
    agent: AgentName = OURS,
    partners: Annotated[tuple[str, ...], arg(help="Whom it plays with. Usually: all held-out partners.")] = (),
    episodes: Annotated[int, arg(help="With each partner.")] = 2_000,
    greedy: Greedy = False,
    seed: Seed = 0,
    quiet: Annotated[bool, arg(help="No progress, only the result.")] = False,
) -> None:
    """How an agent gets along with partners: length, return and share of finished episodes with each.

    Example: coadapt evaluate salesman/behaviour-conditioned/1 --partners salesman/partners/100-skilled --episodes 20000
    """
    announce(f"Evaluating {agent}", quiet)
    from coadapt.catalogue import pretrained
    from coadapt.configs.checks import whole
    from coadapt.pipeline.trial import try_out
    from coadapt.runs.progress import for_terminal
    from coadapt.tables import Table

    with mistakes_explained():
        whole("episodes", episodes)
        whole("seed", seed, least=0)
        names = partners or tuple(name for name in pretrained() if name.startswith("salesman/partners/"))
        if not names:
            raise ValueError("the package has no partners; say whom to play with: --partners PATH")
        ours, others = _seated(agent, names)
    with for_terminal(quiet).stage("episodes", episodes, first="compiling") as advance:
        cells = try_out(ours, others, episodes, greedy, seed, advance)
    shown = lambda of: [f"{of.length:.2f}", f"{of.total:.4f}", f"{of.total_error:.4f}", f"{of.finished:.2%}"]
    rows = [[name, *shown(cell)] for name, cell in zip(names, cells, strict=True)]
    how = "taking its likeliest action" if greedy else "sampling its actions"
    title = f"{agent}, {how}, {episodes:,} episodes with each partner"
    Table(title, ["partner", "length", "return", "standard error", "finished"], rows).show()


def watch(
    agent: AgentName = OURS,
    partner: Annotated[str, arg(help="Whom it plays with, by name or path.")] = SKILLED,
    seed: Seed = 0,
    greedy: Greedy = False,
    to: Annotated[Path, arg(help="The file to write: an animated .gif, or a .png or .svg of some moments.")] = EPISODE,
) -> None:
    """See an episode: the grid, and beside it what the agent believes its partner to be.

    Example: coadapt watch --partner salesman/partners/101-novice --seed 4 --to novice.gif
    """
    announce(f"Watching {agent}")
    import jax

    from coadapt.configs.checks import whole
    from coadapt.evaluation.watching import record_episode
    from coadapt.experiments.registry import SUITES
    from coadapt.storage.files import write_bytes

    with mistakes_explained():
        whole("seed", seed, least=0)
        if to.suffix not in (".gif", ".png", ".svg"):
            raise ValueError(f"an episode can be written as .gif, .png or .svg, not as {to.name!r}")
        ours, (other,) = _seated(agent, (partner,))
        renderer = SUITES[ours.task.name].showing.renderer
        if renderer is None:
            raise ValueError(f"nobody has said how the game {ours.task.name} is drawn")
    players = ours.player(), other.player()
    task, truth = ours.task, other.about.get("type")
    episode = record_episode(jax.random.key(seed), task.game, players, greedy, task.types, truth)
    with mistakes_explained():
        write_bytes(to, renderer.film(episode) if to.suffix == ".gif" else renderer.strip(episode)[to.suffix[1:]])
    tell(f"{episode.steps} steps, return {episode.return_after(episode.steps):.2f}. The episode is in {to}.")


def _seated(agent: str, partners: tuple[str, ...]) -> tuple["Saved", list["Saved"]]:
    """The agent and its partners, who must have learnt the same game."""
    from coadapt.catalogue import find, path_of
    from coadapt.pipeline.saved import PARTNER, check_same_game
    from coadapt.storage.compiled import remember_compiled_programs
    from coadapt.storage.files import Incompatible

    remember_compiled_programs()
    ours = find(agent)
    others = [find(name) for name in partners]
    for name, other in zip(partners, others, strict=True):
        check_same_game(ours, other, path_of(name))
        if other.agent is not PARTNER:
            raise Incompatible(f"{name} is an agent ({other.agent.name}), not a partner of clone training")
    return ours, others
