"""How far agents are from the best there is, where an oracle knows that.

Each held-out partner has an exact best response. What that is worth, from many starts on many layouts, is worked out
once; then every agent plays from the same starts. So does the conditioned policy when it is told more than it could
know: by the exact posterior, and the truth. Beside them stand the oracle's own players, which need no training.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.arrays import Count, Key
from coadapt.evaluation.starts import Played, with_each
from coadapt.partners.population import Partners
from coadapt.pipeline.co_op import acting_on
from coadapt.pipeline.method import Method
from coadapt.pipeline.oracle import Optima, Oracle
from coadapt.pipeline.partners import partners_of
from coadapt.pipeline.seats import THIS_RUN, AgentSource, Met, Seat, in_each_mode, measurement, taken_by, told_labels
from coadapt.pipeline.stages import key_for, measuring_stage
from coadapt.pipeline.study import LAYOUTS_AT_ONCE, Study
from coadapt.pipeline.task import code_of, identity_of
from coadapt.runs.stage import Info, Inputs, Stage

JOINT_OPTIMUM, OPTIMA, REGRET = "joint_optimum", "optima", "regret"
LARGER_BY = "measures.layouts or measures.starts", "measures.starts"


def joint_optimum_of(study: Study, oracle: Oracle) -> Stage:
    """The stage that works out the joint optimum of the game, a layout at a time."""

    def measure(inputs: Inputs, key: Key, number: Count) -> tuple[dict[str, Any], Info]:
        del inputs
        found = oracle.joint_optimum(jax.random.fold_in(key, number))
        return found, {name: value[None] for name, value in found.items()}

    layouts = study.measures.joint_layouts
    return measuring_stage(
        JOINT_OPTIMUM,
        (__name__, *code_of(study.task)),
        {"task": identity_of(study.task), "layouts": layouts},
        measure,
        key_for(0, "bounds"),
        layouts,
        (),
        replicates=("all starts",),
        family=JOINT_OPTIMUM,
        larger_by=("measures.joint_layouts", "task.game.size"),
    )


def optima_of(study: Study, oracle: Oracle) -> Stage:
    """The stage that works out the best response to every held-out partner, a layout at a time."""

    def measure(inputs: Inputs, key: Key, number: Count) -> tuple[Optima, Info]:
        partners, starts = partners_of(study, study.held_out, inputs), _starts(study, oracle, number)
        found = oracle.optima(jax.random.fold_in(key, number), partners, starts)
        return found, {"return": jnp.mean(found.best.total)[None]}

    layouts = study.measures.layouts
    return measuring_stage(
        OPTIMA,
        (__name__, *code_of(study.task), *study.held_out.code),
        {"task": identity_of(study.task), "held_out": study.held_out.settings, "on": (layouts, study.measures.starts)},
        measure,
        key_for(0, "responding"),
        layouts,
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
        game = study.task.game
        play = lambda seat, greedy: with_each(
            for_play, game, starts, shape, partners, seat.as_player, seat.told, greedy
        )
        seats = _seats(study, oracle, method, agents, inputs, seed, partners)
        found = {
            who: in_each_mode(lambda greedy, seat=seat: play(seat, greedy), agents.modes) for who, seat in seats.items()
        }
        return found, {who: jnp.mean(of[agents.modes[-1]].total)[None] for who, of in found.items()}

    parts, met, shown = study.measures.layouts // LAYOUTS_AT_ONCE, Met(study.held_out), (method.name,)
    settings = {"modes": agents.modes, "starts": study.measures.starts}
    made = measurement(REGRET, __name__, study, method, seed, met, measure, parts, agents, shown, **settings)
    return replace(made, larger_by=LARGER_BY)


def _seats(
    study: Study, oracle: Oracle, method: Method, agents: AgentSource, inputs: Inputs, seed: int, partners: Partners
) -> dict[str, Seat]:
    """Whose regret is measured: a method's, and its policy's when it knows more than it could."""
    labels = partners.labels
    seats = {method.name: taken_by(agents.player(study, method, inputs, seed), labels)}
    if method.has_belief:
        policy = agents.networks(method, inputs, seed)["policy"]
        seats["oracle_label"] = told_labels(policy, labels)
        posterior = oracle.posterior(partners)
        if posterior is not None:
            seats["exact_posterior"] = taken_by(acting_on(posterior, policy, study.conditioning), labels)
    return seats


def _starts(study: Study, oracle: Oracle, layout: Count) -> Any:
    """The starts on one layout. Which they are depends on its number alone: they are the same for everyone."""
    return oracle.starts(jax.random.fold_in(key_for(0, "layouts"), layout), study.measures.starts)


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
