"""The salesman's agents and partners as files: their weights, and beside them all that is needed to make them play.

A file is known by its path without an ending: `path.safetensors` has the arrays, `path.json` says whose they are.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax

from coadapt.agents.behaviour_conditioned import FEEDS
from coadapt.agents.relational import RelationalBelief, RelationalLSTM, RelationalPolicy, RelationSizes
from coadapt.configs.data import plain, read_config
from coadapt.experiments.salesman.baseline import finding_out
from coadapt.experiments.salesman.clones import told_nothing
from coadapt.experiments.salesman.training import told_by
from coadapt.experiments.salesman.world import KINDS, VIEWS, World
from coadapt.players import Player
from coadapt.storage import trees
from coadapt.storage.files import Damaged, Incompatible, check_kinds

PUBLISHED = Path(__file__).parents[2] / "weights"
"""What comes with the package, a folder a game."""

GAME = "salesman"
FAMILIES = {
    "behaviour_conditioned": "behaviour-conditioned",
    "label_blind": "label-blind",
    "lstm": "lstm",
    "lstm_matched": "lstm-matched",
}
"""The methods whose agents become files, and what an agent of each is called; its folder has the same name."""

MOST_ROWS = 200_000
"""Larger tables of pairs are not worked out for whoever just wants to play."""


LARGEST_ABSOLUTE = 30
"""The largest grid, seen in absolute places, all of whose pairs a machine can write down: some millions."""

KINDS_TOLD = {"agent": str, "feed": str | None, "kind": str | None}
"""What is said of networks by a word."""


class Saved(NamedTuple):
    """Networks by name, and what is known of them."""

    agent: str  # one of AGENTS
    world: World
    networks: dict[str, Any]
    about: dict[str, Any]

    def player(self) -> Player:
        """Whoever has these networks, ready to play."""
        return AGENTS[self.agent].as_player(self.networks, self.about)


class Agent(NamedTuple):
    """How an agent's networks are made, and how they become a player."""

    networks: Callable[[World, RelationSizes], dict[str, Any]]
    as_player: Callable[[dict[str, Any], dict[str, Any]], Player]


def _policy(world: World, sizes: RelationSizes) -> RelationalPolicy:
    return RelationalPolicy(jax.random.key(0), sizes, len(KINDS), world.game.num_actions[0])


def _belief(world: World, sizes: RelationSizes) -> RelationalBelief:
    units, hidden = world.sizes.lstm_units, world.sizes.predictor_hidden
    return RelationalBelief(jax.random.key(0), sizes, units, hidden, len(KINDS))


def _lstm(world: World, sizes: RelationSizes) -> RelationalLSTM:
    return RelationalLSTM(jax.random.key(0), sizes, world.sizes.lstm_units, world.game.num_actions[0])


def _untold(networks: dict[str, Any], about: dict[str, Any]) -> Player:
    del about
    return told_nothing(networks["policy"])


_BASELINE = Agent(
    lambda world, sizes: {"policy": _lstm(world, sizes)}, lambda networks, about: finding_out(networks["policy"])
)
AGENTS = {
    "behaviour-conditioned": Agent(
        lambda world, sizes: {"policy": _policy(world, sizes), "belief": _belief(world, sizes)},
        lambda networks, about: told_by(networks["belief"], networks["policy"], about["feed"]),
    ),
    "label-blind": Agent(lambda world, sizes: {"policy": _policy(world, sizes)}, _untold),
    "lstm": _BASELINE,
    "lstm-matched": _BASELINE,
    "partner": Agent(lambda world, sizes: {"policy": _policy(world, sizes)}, _untold),
}


def save(path: Path, saved: Saved) -> None:
    """Networks to a file. Critics are for training and not part of it."""
    identity = {"game": GAME, "agent": saved.agent, "labels": list(KINDS), "world": plain(saved.world)}
    trees.save(path, saved.networks, identity | plain(saved.about))


def read(path: Path) -> Saved:
    """Networks from a file; whatever does not fit is refused with a sentence."""
    about = trees.read_manifest(path)["about"]
    manifest = trees.manifest_file(path)
    check_kinds(manifest, about, KINDS_TOLD)
    if about.get("game") != GAME:
        raise Incompatible(f"{manifest} is for the game {about.get('game')!r}, not for {GAME!r}")
    if about.get("agent") not in AGENTS:
        raise Incompatible(f"{manifest} is of an agent {about.get('agent')!r}; known are {', '.join(AGENTS)}")
    if about.get("labels") != list(KINDS):
        raise Incompatible(f"{manifest} has the labels {about.get('labels')!r}, not {list(KINDS)!r}")
    if about["agent"] == "behaviour-conditioned" and about.get("feed") not in FEEDS:
        raise Incompatible(f"{manifest} has a policy to be fed {about.get('feed')!r}; known are {', '.join(FEEDS)}")
    try:
        world = read_config(World, about.get("world"))
    except ValueError as problem:
        raise Damaged(f"{manifest}: {problem}") from None
    if plain(world) != about["world"]:
        raise Incompatible(
            f"{manifest} was written by another version of coadapt, whose networks saw the game differently"
        )
    if world.pairs == "absolute" and world.game.size > LARGEST_ABSOLUTE:
        raise Incompatible(
            f"{manifest} is of a grid of size {world.game.size}; seen so, {LARGEST_ABSOLUTE} is the most"
        )
    try:
        shapes = _shapes(about["agent"], world)
    except (ValueError, TypeError, OverflowError) as problem:
        raise Incompatible(f"{manifest} is of networks that cannot be made: {problem}") from None
    networks = trees.load(path, like=shapes)
    trees.check_finite(path, networks)
    return Saved(about["agent"], world, networks, about)


def _shapes(agent: str, world: World) -> dict[str, Any]:
    view = VIEWS[world.pairs](world.game.size)
    tabulated = len(view.table()) <= MOST_ROWS
    sizes = world.looking_through(view, tabulated)
    return jax.eval_shape(lambda: AGENTS[agent].networks(world, sizes))


def check_same_game(one: Saved, other: Saved, path: Path) -> None:
    """Refuse to seat two who have learnt different games; the path is the other's."""
    for name, value in plain(one.world.game).items():
        there = plain(other.world.game)[name]
        if there != value:
            raise Incompatible(f"{path} was trained in a game with {name} {there}, the agent in one with {value}")
