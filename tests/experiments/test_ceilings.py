"""Regrets of made-up numbers, counted by hand."""

import jax.numpy as jnp
import pytest

from coadapt.experiments.salesman.ceilings import Played, regrets_of
from coadapt.experiments.salesman.config import Measures


def test_layouts_partners_and_starts_are_held_against_their_own_best_response():
    """The best response earns the number of the layout, plus 100 with the second partner, in ten steps.

    The agent earns 1 less with the first partner; with the second as many less as the layout's number. It takes two
    steps more. So the regret with the second is the mean of 0 to 19, and they deviate by the root of 35.
    """
    layouts, starts = 20, 3
    number = jnp.arange(float(layouts))
    best = jnp.stack([number, number + 100], axis=1)[:, :, None] + jnp.zeros((1, 1, starts))  # layout, partner, start
    lost = jnp.stack([jnp.ones(layouts), number], axis=1)[:, :, None]
    steps = jnp.full(best.shape, 10.0)
    first, second = regrets_of(Played(best, steps), Played(best - lost, steps + 2))
    assert (first.total, first.total_error, first.length, first.best_length) == (1, 0, 2, 10)
    assert first.best_total == pytest.approx(9.5)
    assert second.best_total == pytest.approx(109.5)
    assert second.total == pytest.approx(9.5)
    assert second.total_error == pytest.approx((35 / layouts) ** 0.5)


def test_layouts_come_in_tens():
    with pytest.raises(ValueError, match="multiple of 10"):
        Measures(layouts=25)
