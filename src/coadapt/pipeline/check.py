"""Games, partners and encoders that somebody has brought along, looked at before anything is trained.

Most of what can be wrong with them is seen from shapes alone, and that takes no time. The rest is seen in a few
episodes of random play.
"""

from collections.abc import Mapping
from itertools import combinations
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp

from coadapt.agents.encoders import build_below_head
from coadapt.configs.checks import one_of
from coadapt.games.checks import Shapes, check_functions, check_same_seats
from coadapt.games.game import PARTNER, Game
from coadapt.games.traced import Fails, Unfit, check_alike, explained, shape_of, shapes_of, traced
from coadapt.partners.dirichlet import Stationary
from coadapt.partners.mixed import Cast, OneOf
from coadapt.partners.population import FixedPopulation, Partners, Population, check_partners
from coadapt.pipeline.partners import PartnerSource, all_within
from coadapt.pipeline.random_play import Found, are_alike, check_found, played_at_random
from coadapt.pipeline.sources.mixture import together
from coadapt.pipeline.sources.scripted import Scripted
from coadapt.pipeline.task import ROLES, AnyTask, check_task, seen_in
from coadapt.players import Player, Seen, check_decision, check_is_player, shown_first

DRAWN = 60
"""So many partners are drawn from a population that has no end."""


class Block(NamedTuple):
    """Some partners that can be stacked."""

    names: list[str]  # of each, in sentences
    types: list[str]  # of each
    alone: list[tuple[str, Any]]  # those that differ in more than their numbers, by name
    players: Any


def check(game: Any, partners: Any = None, held_out: Any = None, task: AnyTask | None = None) -> list[str]:
    """Refuse what would break in training or, worse, would not: with a sentence that says what was expected.

    Partners may be a source of partners, players by type, a population, `Partners`, or a single player. With a task its
    encoders and types are looked at, too. What it returns are remarks, a sentence each, on what may be meant so.
    """
    shown = check_functions(game)
    if task is not None:
        _check_encoders(task)
    training, others = _blocks(partners, task), _blocks(held_out, task, "held-out ")
    for who, player in (each for block in (*training, *others) for each in block.alone):
        check_player(who, player, _shown_to_partner(shown), game.num_actions[PARTNER])
    _check_types(partners, training, task)
    if any(source.by_self_play for source in (*_sources(partners), *_sources(held_out))):
        check_same_seats(game, shown)
    return _play(game, training, others)


def check_player(who: str, player: Any, seen: Seen, actions: int) -> None:
    """A sentence unless it is a player for a seat with so many actions that is shown what has these shapes."""
    check_is_player(who, player)
    memory = traced(f"start of {who}", player.start, jax.eval_shape(lambda: jax.random.key(0)))
    decide = lambda seen, memory: check_decision(who, player.decide(seen, memory), actions)
    try:
        decision = traced(f"decide of {who}", decide, seen, memory)
    except Fails as problem:
        raise Fails(f"{problem}; it is shown seen.observation ({shapes_of(seen.observation)})") from problem
    check_alike(f"the memory of {who}", memory, decision.memory, "start", "decide")


def _shown_to_partner(shown: Shapes) -> Seen:
    seen = lambda observation, legal, view: shown_first(observation, legal)._replace(privileged=view)
    return jax.eval_shape(seen, shown.observations[PARTNER], shown.legal[PARTNER], shown.privileged)


def _check_encoders(task: AnyTask) -> None:
    check_task(task)
    seen = seen_in(task.game)
    for role in ROLES:
        with explained(f"the encoder for the role {role!r}"):
            spec = task.encoder(role)
        try:
            jax.eval_shape(lambda spec=spec: build_below_head(jax.random.key(0), spec, seen)[2])
        except Unfit as problem:
            raise Unfit(f"the encoder for the role {role!r} does not fit: {problem}") from problem
    if task.learning_game is not task.game:
        check_functions(task.learning_game)


def _sources(given: Any) -> list[PartnerSource]:
    return [source for source in all_within(given) if isinstance(source, PartnerSource)]


def _blocks(given: Any, task: AnyTask | None, kind: str = "") -> list[Block]:
    """Partners in any form; of a source those that are there already."""
    if given is None:
        return []
    if isinstance(given, Mapping):
        return _blocks(Scripted(given), task, kind)
    if isinstance(given, PartnerSource):
        return [_of_source(source, task, kind) for source in _sources(given) if source.known(task)]
    if isinstance(given, Partners):
        return [_of_partners(given, task, kind)]
    if isinstance(given, Population) and not isinstance(given, type):
        return [_of_partners(_drawn(given), task, kind)]
    if not hasattr(given, "start") and not hasattr(given, "decide"):
        raise Unfit(
            "partners must be a source of partners such as coadapt.Scripted, players by type, a population, Partners"
            f" or a player, not {shape_of(given)}"
        )
    who = f"the {kind}partner ({type(given).__name__})"
    check_is_player(who, given)
    return [Block([who], ["partner"], [(who, given)], OneOf(Cast((cast(Player, given),)), jnp.arange(1)))]


def _of_source(source: PartnerSource, task: AnyTask | None, kind: str) -> Block:
    known = source.known(task)
    for who, _ in known:
        one_of("types of partners", who.type, [who.type] if task is None else task.types)
    names = [f"{kind}partner {who} ({type(player).__name__})" for who, player in known]
    players = [player for _, player in known]
    if isinstance(source, Scripted):
        stacked = OneOf(source.cast, jnp.arange(len(players)))
    else:
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *players)
    return Block(names, [who.type for who, _ in known], list(zip(names, players, strict=True)), stacked)


def _drawn(population: Population) -> Partners:
    if isinstance(population, FixedPopulation):
        return population.partners
    with explained(f"{type(population).__name__}.draw"):
        return check_partners(population.draw(jax.random.key(0), DRAWN))


def _of_partners(partners: Partners, task: AnyTask | None, kind: str) -> Block:
    number, width = check_partners(partners).labels.shape
    if task is not None and width != len(task.types):
        raise Unfit(
            f"the labels of {kind}partners must have a number for each of the {len(task.types)} types of the task,"
            f" float32[{number},{len(task.types)}], not {shape_of(partners.labels)}"
        )
    names = [f"{kind}partner {n} ({type(partners.players).__name__})" for n in range(number)]
    cast = partners.players.cast.players if isinstance(partners.players, OneOf) else ()
    alone = [(f"{kind}partner {n} ({type(player).__name__})", player) for n, player in enumerate(cast)]
    first = jax.tree.map(lambda leaf: leaf[0], partners.players)
    all_the_same = OneOf(Cast((first,)), jnp.zeros(number, jnp.int32))
    players = partners.players if jax.tree.leaves(partners.players) else all_the_same
    return Block(names, [str(label) for label in partners.labels.tolist()], alone or [(names[0], first)], players)


def _check_types(given: Any, blocks: list[Block], task: AnyTask | None) -> None:
    """Whether somebody is of every type, or nobody could learn what to do with these."""
    wanted = list(given) if isinstance(given, Mapping) else []
    all_are_there = all(source.known(task) for source in _sources(given))
    if task is not None and isinstance(given, Mapping | PartnerSource) and all_are_there:
        wanted += task.types
    met = {name for block in blocks for name in block.types}
    for name in wanted:
        if name not in met:
            raise Unfit(f"partners must be of every type, and nobody is of type {name!r}: list at least one player")


def _play(game: Game, training: list[Block], others: list[Block]) -> list[str]:
    """Whether all goes well in random play; and what may be remarked of it."""
    anybody = Stationary(jnp.zeros((1, game.num_actions[PARTNER])))
    blocks = [*training, *others] or [Block(["a partner that plays at random"], [""], [], anybody)]
    names = [name for block in blocks for name in block.names]
    found = played_at_random(jax.random.key(0), game, together([block.players for block in blocks]), len(names))
    check_found(game, names, found)
    types_of = lambda blocks: [name for block in blocks for name in block.types]
    met, held_out = types_of(training), types_of(others)
    return [*_remarks(met, found, 0), *_remarks(held_out, found, len(met))]


def _remarks(types: list[str], found: Found, first: int) -> list[str]:
    """On types that nobody can tell from one another. Their partners are counted from the first."""
    members = {name: [first + n for n, each in enumerate(types) if each == name] for name in types}
    within = lambda some, all_: all(any(are_alike(found, one, other) for other in all_) for one in some)
    return [
        f"partners of type {one!r} and of type {other!r} did exactly the same in a few episodes: if they always do,"
        " nobody can tell them apart"
        for one, other in combinations(members, 2)
        if within(members[one], members[other]) and within(members[other], members[one])
    ]
