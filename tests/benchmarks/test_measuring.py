"""Medians, spreads and ratios, by hand."""

from dataclasses import replace

import pytest

from benchmarks.client import PeerFailed
from benchmarks.measuring import Contender, Quantity, Spread, ratio_to_ours, side_by_side, spread, turns
from benchmarks.report import number
from benchmarks.scaling import against_linear

RATE = Quantity("rate", "steps/s")
TIME = Quantity("time", "s", more_is_better=False)


class Turns:
    """Contenders that give what they are told to, and a list of whose turn it was."""

    def __init__(self):
        self.taken, self.advanced = [], 0

    def contender(self, name, *values):
        left = list(values)

        def measure():
            self.taken.append(name)
            value = left.pop(0)
            if value is None:
                raise PeerFailed(f"{name} is gone")
            return {RATE: value}

        return Contender(name, measure)

    def advance(self, parts=1, **numbers):
        self.advanced += parts


@pytest.fixture
def game():
    return Turns()


def test_the_middle_the_lowest_and_the_highest():
    assert spread([5.0, 1.0, 3.0]) == Spread(3.0, 1.0, 5.0)
    assert spread([1.0, 2.0]) == Spread(1.5, 1.0, 2.0)


def test_a_ratio_is_taken_turn_by_turn():
    # Ours slows down when theirs does: the ratio does not notice.
    assert ratio_to_ours(RATE, [10.0, 20.0, 60.0], [5.0, 10.0, 20.0]) == Spread(2.0, 2.0, 3.0)


def test_above_one_we_are_better_whether_more_or_less_is_good():
    assert ratio_to_ours(RATE, [10.0], [5.0]) == Spread(2.0, 2.0, 2.0)
    assert ratio_to_ours(TIME, [5.0], [10.0]) == Spread(2.0, 2.0, 2.0)


def test_nothing_is_said_where_nothing_can_be_divided():
    assert ratio_to_ours(RATE, [1.0], [0.0]) is None
    assert ratio_to_ours(RATE, [], []) is None


def test_contenders_take_turns_and_warming_up_does_not_count(game):
    contenders = [game.contender("ours", 1.0, 8.0, 6.0), game.contender("theirs", 1.0, 2.0, 3.0)]
    ours, theirs = side_by_side("row", contenders, 2, game.advance)
    assert game.taken == ["ours", "theirs"] * 3
    assert game.advanced == turns(contenders, 2) == 6
    assert ours.repetitions == (8.0, 6.0)
    assert ours.ratio is None
    assert theirs.value == Spread(2.5, 2.0, 3.0)
    assert theirs.ratio == Spread(3.0, 2.0, 4.0)


def test_who_fails_is_left_out_and_nothing_else_is_lost(game):
    contenders = [
        game.contender("ours", 1.0, 8.0, 6.0),
        game.contender("late", 1.0, 2.0, None),
        game.contender("never", None),
    ]
    ours, late, never = side_by_side("row", contenders, 2, game.advance)
    assert game.advanced == 9
    assert ours.repetitions == (8.0, 6.0)
    assert (late.repetitions, late.failed, late.ratio) == ((2.0,), "late is gone", Spread(4.0, 4.0, 4.0))
    assert (never.value, never.failed, never.unit) == (None, "never is gone", "steps/s")


def test_some_take_fewer_turns(game):
    contenders = [game.contender("ours", 1.0, 4.0, 8.0, 9.0), replace(game.contender("slow", 1.0, 2.0), most=1)]
    ours, slow = side_by_side("row", contenders, 3, game.advance)
    assert game.taken == ["ours", "slow", "ours", "slow", "ours", "ours"]
    assert game.advanced == turns(contenders, 3) == 8
    assert (ours.repetitions, slow.repetitions, slow.ratio) == ((4.0, 8.0, 9.0), (2.0,), Spread(2.0, 2.0, 2.0))
    assert slow.failed is None


def test_cost_against_linear_scaling():
    # Twice the size for three times the cost is half as much again as linear.
    assert against_linear(10, (2.0, 2.0), 20, (6.0, 4.0)) == Spread(1.25, 1.0, 1.5)


def test_scaling_is_compared_turn_by_turn():
    # When the small one took long, so did the large one: it costs as much as linear in both turns.
    assert against_linear(10, (2.0, 4.0), 20, (4.0, 8.0)) == Spread(1.0, 1.0, 1.0)
    assert against_linear(10, (2.0,), 20, ()) is None


def test_three_figures():
    assert [number(value) for value in (1234567.0, 123.456, 12.345, 0.012345)] == ["1,230,000", "123", "12.3", "0.0123"]
