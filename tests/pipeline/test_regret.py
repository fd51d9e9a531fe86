"""Regrets of made-up numbers, counted by hand."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.evaluation.adaptation import Opinion
from coadapt.evaluation.returns import Notes
from coadapt.evaluation.starts import Played
from coadapt.experiments.salesman.showing import SHOWING
from coadapt.pipeline.adaptation import switched_pairs
from coadapt.pipeline.partners import PartnerId
from coadapt.pipeline.regret import Regret, by_layout, regrets_of
from coadapt.pipeline.regret_tables import share_gained
from coadapt.pipeline.results import _since, gather
from coadapt.pipeline.study import Measures
from tests.experiments.small_salesman import SMALL

TYPES = ("novice", "intermediate", "skilled")


def test_layouts_partners_and_starts_are_held_against_their_own_best_response():
    """The best response earns the number of the layout, plus 100 with the second partner, in ten steps.

    The agent earns 1 less with the first partner; with the second as many less as the layout's number. It takes two
    steps more.
    """
    layouts, starts = 20, 3
    number = jnp.arange(float(layouts))
    best = jnp.stack([number, number + 100], axis=1)[:, :, None] + jnp.zeros((1, 1, starts))  # layout, partner, start
    lost = jnp.stack([jnp.ones(layouts), number], axis=1)[:, :, None]
    steps = jnp.full(best.shape, 10.0)
    first, second = regrets_of(Played(best, steps), Played(best - lost, steps + 2))
    assert (first.best_total, first.best_length) == (9.5, 10)
    assert second.best_total == 109.5
    assert first.lost.tolist() == [1] * layouts
    assert second.lost.tolist() == list(range(layouts))
    assert first.longer.tolist() == second.longer.tolist() == [2] * layouts


def test_what_was_played_in_parts_is_put_in_the_order_of_layouts():
    """Two parts, three partners, five layouts a part, four starts: a number tells its layout, partner and start."""
    number = lambda part, partner, layout, start: 100 * (5 * part + layout) + 10 * partner + start
    played = np.fromfunction(number, (2, 3, 5, 4))
    ordered = by_layout(Played(played, played))  # pyright: ignore[reportArgumentType] (NumPy's)
    expected = np.fromfunction(lambda layout, partner, start: 100 * layout + 10 * partner + start, (10, 3, 4))
    np.testing.assert_array_equal(ordered.total, expected)


def test_the_share_gained_is_counted_from_the_label_blind_control():
    """Blindly 0.04 of the best response's return is lost and by our agent 0.01: three quarters of the way are gained.

    The control itself has gained nothing that one could count, and no more has anybody without it.
    """
    layouts = lambda lost: [Regret(0.12, 14.0, np.full(3, lost), np.zeros(3))] * len(SMALL.held_out_ids)
    lost = {"behaviour_conditioned": 0.01, "label_blind": 0.04}
    regrets = {(who, seed, "argmax"): layouts(of) for who, of in lost.items() for seed in SMALL.seeds}
    results = gather(SMALL, {}, SHOWING)._replace(mode="argmax", regrets=regrets)
    assert share_gained(results, "behaviour_conditioned", "novice") == pytest.approx(0.75)
    assert share_gained(results, "label_blind", "novice") is None
    alone = results._replace(study=replace(SMALL, methods=("behaviour_conditioned",)))
    assert share_gained(alone, "behaviour_conditioned", "novice") is None


def test_partner_switches_stay_within_a_population():
    """Six partners of two populations: pairs of the first three, then of the others, the second changing fastest."""
    ids = [PartnerId(population, name) for population in (100, 101) for name in TYPES]
    first, second = switched_pairs(ids, TYPES)
    assert first.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5]
    assert second.tolist() == [0, 1, 2, 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5]


def test_a_population_without_a_type_borrows_one():
    """Two novices and one skilled partner, who is met with either novice; nobody is intermediate."""
    ids = [PartnerId(0, "novice"), PartnerId(1, "novice"), PartnerId(0, "skilled")]
    first, second = switched_pairs(ids, TYPES)
    assert first.tolist() == [0, 0, 2, 2, 1, 1, 2, 2]
    assert second.tolist() == [0, 2, 0, 2, 1, 2, 1, 2]


def test_a_population_borrows_only_what_it_does_not_have():
    """The first has nobody skilled and borrows; the second and the third each have their own."""
    ids = [PartnerId(0, "novice"), *(PartnerId(n, name) for n in (1, 2) for name in ("novice", "skilled"))]
    first, second = switched_pairs(ids, TYPES)
    assert first.tolist() == [0, 0, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4]
    assert second.tolist() == [0, 2, 0, 2, 1, 2, 1, 2, 3, 4, 3, 4]


def test_layouts_come_in_tens():
    with pytest.raises(ValueError, match="multiple of 10"):
        Measures(layouts=25)


def test_episodes_that_were_over_before_a_partner_switch_do_not_count():
    """Two episodes: one is over after a step, and right; the other takes three, and is wrong, right and wrong."""
    by_step = lambda *numbers: np.array(numbers, np.float64)[None, None]  # one part, one pair
    opinions = lambda counted, correct: Opinion(*[counted] * 4, *[counted[..., None]] * 3)._replace(correct=correct)
    lasting = opinions(by_step(2, 1, 1), by_step(1, 1, 0))
    kept = opinions(by_step(2, 2, 2), by_step(1, 2, 1))
    since = _since(1, Notes(lasting, kept))
    assert since is not None
    assert since.counted.tolist() == [[1, 1]]
    assert since.correct.tolist() == [[1, 0]]
