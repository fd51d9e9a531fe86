"""A study whose agents train with clones and with players of one's own; levels of skill are picked afterwards."""

import json
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.experiments.salesman.showing import SHOWING
from coadapt.partners.dirichlet import Stationary
from coadapt.pipeline.experiment import report_of, stages_of
from coadapt.pipeline.sources.mixture import Mixture
from coadapt.pipeline.sources.scripted import Scripted
from coadapt.pipeline.sources.self_play import SelfPlay
from coadapt.pipeline.study import Study
from coadapt.runs.experiment import Experiment
from coadapt.runs.launch import carry_out
from tests.experiments.small_salesman import SMALL, SMALL_PPO

pytestmark = pytest.mark.slow

TYPES = ("novice", "intermediate", "skilled")
UP, DOWN, LEFT, RIGHT = (Stationary(jnp.zeros(4).at[n].set(3.0)) for n in range(4))
STUDY = Study(
    clones=SMALL_PPO,
    policy=SMALL_PPO,
    predictor=SMALL.predictor,
    lstm_clones=None,
    lstm=SMALL_PPO,
    task=SMALL.task,
    partners=Mixture((SelfPlay(own=True), Scripted({"novice": UP}))),
    held_out=Scripted({"novice": DOWN, "intermediate": LEFT, "skilled": RIGHT}),
    methods=("behaviour_conditioned",),
    shares=(0.5,),
    seeds=(3,),
    curve_points=2,
    episodes=20,
    validation_episodes=20,
    batch=20,
    measures=replace(SMALL.measures, closer=("evaluation_matrix",), episodes=20),
)
EXPERIMENT = Experiment(
    "mixed", Study, stages_of, lambda study, outcomes, folder: report_of(study, outcomes, folder, SHOWING)
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    made, _ = carry_out(EXPERIMENT, STUDY, tmp_path_factory.mktemp("mixed") / "run")
    return made


@pytest.fixture(scope="module")
def summary(run):
    return json.loads((run.results / "summary.json").read_text())


def test_the_intermediate_returns_about_half_as_much_more_than_the_untrained_as_the_trained(run, summary):
    """Of four iterations all three in between were measured: the one nearest to the middle has become a partner."""
    lines = (run.folder / "metrics" / "levels_3.jsonl").read_text().splitlines()
    returns = np.array([json.loads(line)["return"][0] for line in lines])
    assert len(returns) == 5
    nearest = 1 + np.abs(returns[1:4] - (returns[0] + returns[4]) / 2).argmin()
    iterations = {partner["partner_id"]: partner["iteration"] for partner in summary["partners"]}
    assert iterations == {"3-novice": 0, "3-intermediate": nearest, "3-skilled": 4}


def test_clones_are_measured_once_more_as_they_were_picked(run, summary):
    """In 20 episodes, within four standard errors.

    A return is at least -0.08, for eight steps, and at most 0.08, for two goals in two steps: so it is 0.08 from its
    mean, as a root mean square, at the most, and the error of the mean of twenty is below 0.018.
    """
    lines = (run.folder / "metrics" / "levels_3.jsonl").read_text().splitlines()
    returns = [json.loads(line)["return"][0] for line in lines]
    for partner in summary["partners"]:
        assert partner["total"] == pytest.approx(returns[partner["iteration"]], abs=4 * 0.018)


def test_everybody_is_met_under_their_own_name(summary):
    """The scripted novice is of population 0, and the clone's of its own; those held out are others."""
    met = [row["partner_id"] for row in summary["evaluation_matrix"] if row["mode"] == "sample"]
    assert met == ["0-novice", "0-intermediate", "0-skilled", "3-novice", "3-intermediate", "3-skilled", "0-novice"]
    validated = {row["partner_type"] for row in summary["validation"]}
    assert validated == set(TYPES)


def test_only_clones_are_left_behind_as_files(run):
    agents = run.results / "agents"
    written = {path.relative_to(agents).as_posix() for path in agents.rglob("*.safetensors")}
    partners = {f"training-partners/3-{name}.safetensors" for name in TYPES}
    assert written == {"behaviour-conditioned/3.safetensors", *partners}
    card = (agents / "README.md").read_text()
    assert "Agents of seed 3 trained with clones of seed 3 and scripted partners (0-novice)." in card
    assert "`training-partners/SEED-TYPE`" in card
