"""The example of an exact optimum: what it prints is what the oracles know."""

import runpy
from pathlib import Path

import jax
import pytest

from coadapt.experiments.salesman.oracle import over_all_starts
from coadapt.experiments.salesman.task import TYPES
from coadapt.games.salesman.layouts import layout_of
from coadapt.games.salesman.rules import Salesman
from coadapt.oracles.salesman import joint_optimum

SCRIPT = Path(__file__).parents[2] / "examples" / "best_response.py"


@pytest.fixture(scope="module")
def printed():
    """By row: the numbers in it."""
    lines = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("builtins.print", lines.append)
        patch.setattr("sys.argv", [str(SCRIPT)])
        runpy.run_path(str(SCRIPT), run_name="__main__")
    return {line[:36].strip().rpartition("-")[2]: [float(number) for number in line[36:].split()] for line in lines[1:]}


def test_a_better_partner_lets_one_do_better(printed):
    returns, steps = ([printed[name][column] for name in TYPES] for column in (0, 1))
    assert returns == sorted(returns)
    assert steps == sorted(steps, reverse=True)


def test_nobody_is_faster_than_two_at_their_best(printed):
    game = Salesman()
    layout = layout_of(game.reset(jax.random.key(0)))
    fewest, _ = printed["(both at their best)"]
    assert fewest == pytest.approx(float(over_all_starts(game, layout, joint_optimum(game, layout))), abs=0.005)
    assert fewest <= min(printed[name][1] for name in TYPES)


def test_an_episode_that_is_finished_for_sure_earns_what_its_steps_leave(printed):
    # Four subgoals and the goal pay 0.05 each, and every step costs 0.01.
    game = Salesman()
    total, steps, *_ = printed["skilled"]
    rewards = (game.subgoals + 1) * game.goal_reward
    assert total == pytest.approx(rewards + steps * game.step_reward, abs=2e-4)
