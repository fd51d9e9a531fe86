"""What comes with the package: it loads, it is light, and its manifests hold what the project asks of it."""

import json

import jax
import numpy as np
import pytest

import coadapt
from coadapt.catalogue import find
from coadapt.experiments.salesman.task import TYPES
from coadapt.pipeline.saved import PRETRAINED
from coadapt.players import seen_first

PARTNERS = [name for name in coadapt.pretrained() if "/partners/" in name]
OURS = [name for name in coadapt.pretrained() if "/behaviour-conditioned/" in name]


def test_it_is_light():
    sizes = [file.stat().st_size for file in PRETRAINED.rglob("*") if file.is_file()]
    assert max(sizes) < 5e6
    assert sum(sizes) < 21e6


def test_it_says_which_commits_made_it():
    """The manifests of agents do, stage by stage; where they are older than that, the page beside them does."""
    of_manifests = [find(name).about.get("stages", {}) for name in coadapt.pretrained()]
    told = (PRETRAINED / "salesman" / "README.md").read_text() + json.dumps(of_manifests)
    stages = json.loads((PRETRAINED / "salesman" / "training-provenance.json").read_text())["stages"]
    assert all(making["commit"][:7] in told for making in stages.values())


@pytest.mark.parametrize("name", coadapt.pretrained())
def test_it_plays(name):
    game = coadapt.Salesman()
    player = coadapt.load(name)
    seen = seen_first(game, game.reset(jax.random.key(0)), coadapt.MAIN)
    decision = player.decide(seen, player.start(jax.random.key(1)))
    assert decision.logits.shape == (4,)
    assert np.isfinite(decision.logits).all()


def file_of(measured):
    population, name = measured["id"][:2]
    return f"salesman/partners/{population}-{name}"


def test_held_out_partners_are_three_of_each_type_as_long_as_they_should_be():
    measured = [find(name).about["measured"] for name in PARTNERS]
    lengths = {name: [m["length"] for m in measured if m["id"][1] == name] for name in TYPES}
    assert [file_of(m) for m in measured] == PARTNERS
    assert [len(each) for each in lengths.values()] == [3, 3, 3]
    assert min(lengths["novice"]) > 49
    assert all(30 <= length <= 36 for length in lengths["intermediate"])
    assert max(lengths["skilled"]) < 16.9  # the paper's skilled agent with a copy of itself


def test_the_agents_beat_the_papers_rows():
    """Mean over seeds of the return with held-out partners, on the agents' own predictions."""
    measured = [find(name).about["measured"] for name in OURS]
    mean = {name: np.mean([m[f"return_{name}"] for m in measured]) for name in TYPES}
    assert mean["skilled"] >= 0.100
    assert mean["intermediate"] > 0.011
    assert mean["novice"] >= -0.022
