"""A peer is measured only if it makes of an observation what ours does."""

import pytest

from benchmarks.client import PeerFailed, Process
from benchmarks.training import OBSERVATIONS, sees_as_ours
from coadapt.experiments.salesman.task import SalesmanTask


class Peer(Process):
    """It makes its features pair by pair, in plain Python. `towards` is 1 for who sees where an object is from here."""

    def __init__(self, towards=1):
        self.name, self.towards = "a peer", towards

    def ask(self, request, longest):
        rows, size, subgoals = request["look_at"], request["size"], request["subgoals"]
        assert len(rows) == OBSERVATIONS
        seen = [self.look([int(number) for number in row], size, subgoals) for row in rows]
        return {"pairs": [pairs for pairs, _ in seen], "rest": [rest for _, rest in seen]}

    def look(self, row, size, subgoals):
        places = [tuple(row[at : at + 2]) for at in range(0, 2 * (subgoals + 3), 2)]
        own, other, *objects, goal = places
        collected = row[2 * (subgoals + 3) :]
        pairs = [
            pair
            for role, (agent, beside) in enumerate(((own, other), (other, own)))
            for pair in [
                *(
                    self.pair(role, 3 if gone else 0, agent, there, size)
                    for there, gone in zip(objects, collected, strict=True)
                ),
                self.pair(role, 1, agent, goal, size),
                self.pair(role, 2, agent, beside, size),
            ]
        ]
        centred = [2 * number / (size - 1) - 1 for number in (*own, *other)]
        return pairs, [*centred, *((b - a) / (size - 1) for a, b in zip(own, other, strict=True))]

    def pair(self, role, kind, agent, there, size):
        step = [0, 0] if kind == 3 else [self.towards * (b - a) / (size - 1) for a, b in zip(agent, there, strict=True)]
        return [float(role == 0), float(role == 1), *(float(kind == k) for k in range(4)), *step]


def test_who_sees_the_same_may_be_measured():
    sees_as_ours(SalesmanTask())(Peer())


def test_who_sees_something_else_may_not():
    with pytest.raises(PeerFailed, match="a peer does not see what ours sees: other pairs"):
        sees_as_ours(SalesmanTask())(Peer(towards=-1))


class Silent(Peer):
    def ask(self, request, longest):
        return {}


def test_who_says_nothing_may_not_either():
    with pytest.raises(PeerFailed, match="a peer does not see"):
        sees_as_ours(SalesmanTask())(Silent())
