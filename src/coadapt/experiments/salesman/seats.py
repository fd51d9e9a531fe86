"""Who sits down to play with the reference partners: all methods of a seed, and controls."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.agents.posterior import PartnerPosterior
from coadapt.agents.relational import ready
from coadapt.arrays import Array, Float, Key
from coadapt.encounters import Greedy
from coadapt.experiments.salesman.baseline import finding_out
from coadapt.experiments.salesman.clones import networks_of, partners_from, stage_name, told_nothing
from coadapt.experiments.salesman.config import SalesmanConfig
from coadapt.experiments.salesman.training import told_by, told_the_truth
from coadapt.experiments.salesman.world import KINDS
from coadapt.partners.population import Partners
from coadapt.players import Player
from coadapt.runs.stage import Inputs

MODES = {"sample": False, "argmax": True}
"""How the main agent acts, and whether that is greedy."""
LABEL_SOURCES = ("true_label", "shuffled_label", "always_skilled", "always_novice")
"""What else than its belief the policy can be told."""
REMEDY = "look at the networks it was given: their training must have gone wrong"


class Seat(NamedTuple):
    """Who plays, given what it is told in each game."""

    as_player: Callable[[Any], Player]
    told: Float[Array, "games label"]


def taken_by(agent: Player, labels: Float[Array, "games label"]) -> Seat:
    """One who plays all games, and is told nothing of the labels."""
    return Seat(lambda _: agent, labels)


def told_labels(policy: Any, labels: Float[Array, "games label"]) -> Seat:
    """The conditioned policy, told these labels, true or not."""
    at_hand = ready(policy)
    return Seat(lambda label: told_the_truth(at_hand, label), labels)


def agents_of(config: SalesmanConfig, networks: Callable[[str], Any]) -> dict[str, Player]:
    """All methods of one seed, whom nobody tells anything; networks are by training."""
    found: dict[str, Player] = {}
    if "behaviour_conditioned" in config.methods:
        found["behaviour_conditioned"] = told_by(networks("predictor"), networks("policy"), config.feed)
    if "label_blind" in config.methods:
        found["label_blind"] = told_nothing(networks("label_blind"))
    lstms = (method for method in ("lstm", "lstm_matched") if method in config.methods)
    return found | {method: finding_out(networks(method)) for method in lstms}


def seats_of(
    config: SalesmanConfig, networks: Callable[[str], Any], labels: Float[Array, "games label"]
) -> dict[str, Seat]:
    """All methods of one seed."""
    return {method: taken_by(agent, labels) for method, agent in agents_of(config, networks).items()}


def told_by_sources(key: Key, labels: Float[Array, "games label"]) -> dict[str, Float[Array, "games label"]]:
    """What else than its belief a policy can be told, given the truth."""
    always = lambda kind: jnp.tile(jax.nn.one_hot(KINDS.index(kind), len(KINDS)), (len(labels), 1))
    rows = labels, jax.random.permutation(key, labels), always("skilled"), always("novice")
    return dict(zip(LABEL_SOURCES, rows, strict=True))


def in_each_mode(play: Callable[[Greedy], Any], modes: Sequence[str] = tuple(MODES)) -> dict[str, Any]:
    """What is played in each mode, by one program that is gone through once for each."""
    return for_each(play, {mode: jnp.bool_(MODES[mode]) for mode in modes})


def for_each(do: Callable[[Any], Any], given: dict[str, Any]) -> dict[str, Any]:
    """`do` with each of what is given, all of it alike, by one program: it is compiled once, not once for each."""
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *given.values())
    done = jax.lax.map(do, stacked)
    return {name: jax.tree.map(lambda leaf, n=n: leaf[n], done) for n, name in enumerate(given)}


def posterior_of(config: SalesmanConfig, partners: Partners) -> PartnerPosterior:
    """All that can be known of whom one plays with, if it is one of these, each as likely as any other."""
    number = len(partners.ids)
    return PartnerPosterior(config.world.game, partners.players, partners.labels, jnp.full(number, 1 / number))


def display_of(seed: int, *shown: str) -> dict[str, Any]:
    """What people see of a measurement of one seed's agents while it goes on."""
    return {"replicates": (f"seed {seed}",), "shown": shown, "remedy": REMEDY, "larger_by": LARGER_BY}


LARGER_BY = "episodes, measures.episodes or world.game.max_steps", "batch or world.game.max_steps"


Find = Callable[[Inputs, str, int], Any]
"""The networks of a training and a seed, in what a stage is given."""


class Source(NamedTuple):
    """Where a measurement gets its networks from: the trainings of this run, if nothing else is said."""

    find: Find = networks_of
    made_by: Callable[[str, int], str] = stage_name  # the stage that makes the networks of a training and a seed
    modes: tuple[str, ...] = tuple(MODES)  # in which agents are looked at closely: one, if it was chosen before
    evaluated_modes: tuple[str, ...] = tuple(MODES)  # in which they are tried with the reference partners

    def partners(self, config: SalesmanConfig, inputs: Inputs) -> Partners:
        """The reference partners."""
        return self.partners_of(config.references, inputs)

    def partners_of(self, clones: tuple[int, ...], inputs: Inputs) -> Partners:
        """The partners that some clones have left behind."""
        return partners_from([self.find(inputs, "clones", clone) for clone in clones])

    def networks(self, inputs: Inputs, seed: int) -> Callable[[str], Any]:
        """The networks of one seed, by training."""
        return lambda training: self.find(inputs, training, seed)

    def needs(
        self, clones: tuple[int, ...], seed: int | None = None, trainings: tuple[str, ...] = ()
    ) -> tuple[str, ...]:
        """The stages that make the partners of some clones and trainings of a seed."""
        trained = (self.made_by(training, seed) for training in trainings if seed is not None)
        return tuple(dict.fromkeys((*trained, *(self.made_by("clones", clone) for clone in clones))))


THIS_RUN = Source()
