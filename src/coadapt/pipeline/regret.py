"""How far agents are from the best there is, where an oracle knows that.

Each held-out partner has an exact best response. What that is worth, from many starts on many layouts, is worked out
once; then every agent plays from the same starts. So does the conditioned policy when it is told more than it could
know: by the exact posterior, and the truth. Beside them stand the oracle's own players, which need no training.
"""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.arrays import Count, Key
from coadapt.encounters import Greedy, rollout, start_episode
from coadapt.evaluation.episodes import EpisodeScores, episode_scores
from coadapt.games.game import Game, StartsAt
from coadapt.partners.population import Partners
from coadapt.pipeline.co_op import acting_on
from coadapt.pipeline.method import Method
from coadapt.pipeline.seats import THIS_RUN, AgentSource, Seat, display_of, in_each_mode, taken_by, told_labels
from coadapt.pipeline.stages import key_for, measuring_stage, stage_name
from coadapt.pipeline.study import LAYOUTS_AT_ONCE, Study, partners_of
from coadapt.pipeline.task import Optima, Oracle, Played, code_of, identity_of
from coadapt.players import Player, prepared
from coadapt.runs.stage import Info, Inputs, Stage

BOUNDS, OPTIMA, REGRET = "bounds", "optima", "regret"
LARGER_BY = "measures.layouts or measures.starts", "measures.starts"


def bounds_of(study: Study, oracle: Oracle) -> Stage:
    """The stage that works out the bounds of the game itself, a layout at a time."""

    def measure(inputs: Inputs, key: Key, number: Count) -> tuple[dict[str, Any], Info]:
        del inputs
        found = oracle.bounds(jax.random.fold_in(key, number))
        return found, {name: value[None] for name, value in found.items()}

    layouts = study.measures.bound_layouts
    return measuring_stage(
        BOUNDS,
        (__name__, *code_of(study.task)),
        {"task": identity_of(study.task), "layouts": layouts},
        measure,
        key_for(0, BOUNDS),
        layouts,
        (),
        replicates=("all starts",),
        family=BOUNDS,
        larger_by=("measures.bound_layouts", "task.game.size"),
    )


def optima_of(study: Study, oracle: Oracle) -> Stage:
    """The stage that works out the best response to every held-out partner, a layout at a time."""

    def measure(inputs: Inputs, key: Key, number: Count) -> tuple[Optima, Info]:
        partners, starts = partners_of(study, study.held_out, inputs), _starts(study, oracle, number)
        found = oracle.optima(jax.random.fold_in(key, number), partners, starts)
        return found, {"return": jnp.mean(found.best.total)[None]}

    return measuring_stage(
        OPTIMA,
        (__name__, *code_of(study.task), *study.held_out.code),
        _settings(study),
        measure,
        key_for(0, "responding"),
        study.measures.layouts,
        study.held_out.needs(study),
        replicates=("all partners",),
        family=OPTIMA,
        shown=("return",),
        larger_by=LARGER_BY,
    )


def regret_of(study: Study, oracle: Oracle, method: Method, seed: int, agents: AgentSource = THIS_RUN) -> Stage:
    """The stage that lets an agent of one seed play from all starts, with every held-out partner."""

    def measure(inputs: Inputs, key: Key, part: Count) -> tuple[dict[str, dict[str, Played]], Info]:
        partners = partners_of(study, study.held_out, inputs)
        layouts = part * LAYOUTS_AT_ONCE + jnp.arange(LAYOUTS_AT_ONCE)
        starts = jax.vmap(lambda layout: _starts(study, oracle, layout))(layouts)
        for_play = jax.random.fold_in(key, part)
        shape = LAYOUTS_AT_ONCE, study.measures.starts
        play = lambda seat, greedy: with_each(for_play, study.task.game, starts, shape, partners, seat, greedy)
        seats = _seats(study, oracle, method, agents, inputs, seed, partners)
        found = {
            who: in_each_mode(lambda greedy, seat=seat: play(seat, greedy), agents.modes) for who, seat in seats.items()
        }
        return found, {who: jnp.mean(of[agents.modes[-1]].total)[None] for who, of in found.items()}

    settings = _settings(study) | {"seed": seed, "conditioning": study.conditioning, "modes": agents.modes}
    return measuring_stage(
        stage_name(REGRET, seed, method.name),
        (__name__, method.code, *code_of(study.task), *study.held_out.code),
        settings | {"method": method.name},
        measure,
        key_for(seed, REGRET),
        study.measures.layouts // LAYOUTS_AT_ONCE,
        (*agents.made_by(method, seed), *study.held_out.needs(study)),
        **display_of(f"{REGRET} {method.name}", seed, method.name) | {"larger_by": LARGER_BY},
    )


def _seats(
    study: Study, oracle: Oracle, method: Method, agents: AgentSource, inputs: Inputs, seed: int, partners: Partners
) -> dict[str, Seat]:
    """Whose regret is measured: a method's, and its policy's when it knows more than it could."""
    labels = partners.labels
    seats = {method.name: taken_by(agents.player(study, method, inputs, seed), labels)}
    if method.has_belief:
        policy = agents.networks(method, inputs, seed)["policy"]
        seats["oracle_label"] = told_labels(policy, labels)
        informed = acting_on(oracle.posterior(partners), policy, study.conditioning)
        seats["exact_posterior"] = taken_by(informed, labels)
    return seats


def _starts(study: Study, oracle: Oracle, layout: Count) -> Any:
    """The starts on one layout. Which they are depends on its number alone: they are the same for everyone."""
    return oracle.starts(jax.random.fold_in(key_for(0, "layouts"), layout), study.measures.starts)


def with_each(
    key: Key, game: Game, starts: Any, shape: tuple[int, ...], partners: Partners, seat: Seat, greedy: Greedy
) -> Played:
    """An episode from each start with every partner; the seat is told something for each of them.

    `shape` is that of the starts: how many layouts there are, if there is more than one, and how many starts on each.
    """
    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[len(shape) :]), starts)

    def with_one(row: Any) -> Played:
        partner, told = row
        scores = from_starts(key, game, flat, math.prod(shape), seat.as_player(told), partner, greedy)
        return Played(scores.total.reshape(shape), scores.length.reshape(shape))

    return jax.lax.map(with_one, (partners.players, seat.told))


def from_starts(
    key: Key, game: Game, starts: Any, number: int, player: Player, partner: Any, greedy: Greedy = False
) -> EpisodeScores:
    """An episode from each of so many starts."""
    players = prepared((player, partner), number * game.max_steps)

    def one(key: Key, start: Any):
        here = StartsAt(game, start)
        return rollout(start_episode(key, here, players), here, players, game.max_steps, greedy)[1]

    return episode_scores(jax.vmap(one)(jax.random.split(key, number), starts))


def _settings(study: Study) -> dict[str, Any]:
    measures = study.measures
    return {
        "task": identity_of(study.task),
        "held_out": study.held_out.settings,
        "layouts": measures.layouts,
        "starts": measures.starts,
    }


class Regret(NamedTuple):
    """How much less than the best response a player came to with one partner."""

    best_total: float  # the best response's return
    best_length: float
    lost: np.ndarray  # by layout: so much less the player's return is
    longer: np.ndarray  # by layout: so many more steps it takes


def regrets_of(best: Played, played: Played) -> list[Regret]:
    """With each partner; all is by layout, partner and start."""
    (most, fewest), (total, length) = ([np.asarray(values, np.float64) for values in of] for of in (best, played))
    best_total, best_length = (table.mean(axis=(0, 2)) for table in (most, fewest))
    lost, longer = ((more - less).mean(axis=2) for more, less in ((most, total), (length, fewest)))
    return [Regret(float(best_total[n]), float(best_length[n]), lost[:, n], longer[:, n]) for n in range(lost.shape[1])]


def by_layout(played: Played) -> Played:
    """What was played in parts (part, partner, layout, start) as layout, partner, start."""
    moved = (np.moveaxis(np.asarray(values), 1, 2) for values in played)
    return Played(*(values.reshape(-1, *values.shape[2:]) for values in moved))  # pyright: ignore[reportArgumentType] (NumPy's)
