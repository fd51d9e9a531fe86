"""Studies that are made to fail, one way each: their reports must name the right cause."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import coadapt as ca
from coadapt.pipeline.study_file import study_in

pytestmark = pytest.mark.slow

LAKE = study_in(Path(__file__).parents[2] / "examples" / "own_game.py").study
WALKS = type(LAKE.partners.cast.players[0])
ON, BACK = 2, 0
"""Which way a friend goes, as an action."""


def friends(on: list[tuple[int, float]], back: list[tuple[int, float]]) -> ca.Scripted:
    """Friends who are said to go on, and to go back: by the way they really take, and how often they slip."""
    return ca.Scripted({"goes on": [WALKS(*each) for each in on], "goes back": [WALKS(*each) for each in back]})


def gap(observation):
    return observation["gap"]


def friend(observation):
    return observation["friend"]


PPO = ca.PPOConfig(
    200, num_envs=64, num_steps=8, learning_rate=3e-3, discount=0.9, entropy_coefficient=1.0
)  # with less entropy it would just wait for its friend
HEALTHY = replace(
    LAKE,
    task=replace(
        LAKE.task,
        encoders={"policy": ca.VectorSpec(gap), "critic": ca.VectorSpec(gap), "belief": ca.VectorSpec(friend)},
        heads=ca.Heads((32,), 16, (16,)),
        exact=False,
    ),
    partners=friends([(ON, 0.1), (ON, 0.02)], [(BACK, 0.1), (BACK, 0.02)]),
    held_out=friends([(ON, 0.05)], [(BACK, 0.05)]),
    methods=("behaviour_conditioned", "label_blind"),
    policy=PPO,
    lstm=PPO,
    predictor=ca.SupervisedConfig(100, num_envs=64, num_steps=8, learning_rate=1e-2),
    conditioning="map",
    seeds=(0,),
    episodes=1_000,
    validation_episodes=200,
    batch=200,
    measures=ca.Measures(closer=("adaptation",), episodes=1_000),
)
ONCE = {"curve_points": 1}
FAILING = {
    "nothing": {},
    "the predictor": {"predictor": replace(HEALTHY.predictor, iterations=1)} | ONCE,
    "the policy": {"policy": replace(PPO, iterations=1)} | ONCE,
    "the labels": {"partners": friends([(ON, 0.1), (BACK, 0.02)], [(ON, 0.02), (BACK, 0.1)])},
}
"""What is wrong, and what of the study makes it so."""


@pytest.mark.parametrize("wrong", FAILING)
def test_the_report_names_what_is_wrong(tmp_path, wrong):
    ca.run(replace(HEALTHY, **FAILING[wrong]), tmp_path / "lake", quiet=True)
    summary = json.loads((tmp_path / "lake" / "results" / "summary.json").read_text())
    found = [cause["name"] for cause in summary["diagnosis"]["causes"] if cause["wrong"]]
    assert found == ([] if wrong == "nothing" else [wrong])
