"""Agents by name: pretrained ones, which come with the package, and those in files of one's own.

player = coadapt.load("salesman/behaviour-conditioned")
"""

from pathlib import Path

from coadapt.experiments.registry import SUITES
from coadapt.pipeline.methods import METHODS
from coadapt.pipeline.saved import PARTNER, Saved, agent_of, path_of, pretrained, read
from coadapt.players import Player

__all__ = ["find", "load", "path_of", "pretrained"]


def load(name: str | Path) -> Player:
    """The player of this name, such as salesman/behaviour-conditioned or salesman/partners/100-skilled.

    Where several were trained, the name alone means the first; salesman/behaviour-conditioned/3 is that of seed 3. The
    path of a file that training has left behind (without its ending) does as well.
    """
    return find(name).player()


def find(name: str | Path) -> Saved:
    """The networks of this name, with all that is known of them."""
    tasks = {game: suite.package.task for game, suite in SUITES.items()}
    return read(path_of(name), tasks, (*map(agent_of, METHODS.values()), PARTNER))
