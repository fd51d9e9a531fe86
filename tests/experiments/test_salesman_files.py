"""What files of agents say of themselves is true of the run they come from, whoever's it is."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

from coadapt.experiments.salesman import FAST, QUICK
from coadapt.experiments.salesman.report import model_card
from coadapt.experiments.salesman.reproduce import files_of
from coadapt.experiments.salesman.results import Partner, gather

ONE_OF_ONES_OWN = replace(FAST, seeds=(7,), companions=(0, 7), references=(), methods=("behaviour_conditioned",))


class Trained(NamedTuple):
    networks: Any


class Left(NamedTuple):
    novice: Any


def test_a_file_names_the_commits_of_the_stages_it_comes_from():
    """The clones of whom an agent trained with and its own networks; all but the predictor were there before."""
    config = replace(FAST, seeds=(3,), companions=(3, 0), references=(100,))
    weight = np.zeros((1, 2))
    trained = [f"{training}_3" for training in ("policy", "predictor", "label_blind", "lstm_clones", "lstm")]
    trained += ["lstm_matched_3"]
    clones = ["clones_100", "clones_3", "clones_0"]
    outcomes = {stage: Trained(weight) for stage in trained} | {stage: Trained(Left(weight)) for stage in clones}
    commits = dict.fromkeys(outcomes, "before") | {"predictor_3": "now"}
    results = gather(config, {})._replace(partners=[Partner(100, "novice", 0, 50.0, -0.5)])
    found = {name: saved.about["stages"] for name, saved in files_of(results, outcomes, commits).items()}
    company = {"clones_3": "before", "clones_0": "before"}
    assert found == {
        "behaviour-conditioned/3": company | {"policy_3": "before", "predictor_3": "now"},
        "label-blind/3": company | {"label_blind_3": "before"},
        "lstm/3": company | {"lstm_clones_3": "before", "lstm_3": "before"},
        "lstm-matched/3": company | {"lstm_clones_3": "before", "lstm_matched_3": "before"},
        "partners/100-novice": {"clones_100": "before"},
    }


def test_the_card_of_ones_own_run_speaks_of_that_run():
    card = model_card(gather(ONE_OF_ONES_OWN, {}))
    assert "Agents of seed 7 trained with clones of seeds 0 and 7." in card
    assert "No agent was\nmeasured with partners it had not trained with." in card
    for of_others in ("five", "reference", "`lstm", "`label-blind", "reproduce salesman"):
        assert of_others not in card


@pytest.mark.parametrize(
    ("companions", "sentences"),
    [
        (FAST.companions, "Agents of seeds 0, 1, 2, 3 and 4 trained with clones of seeds 0, 1, 2, 3 and 4."),
        ((9,), " ".join(f"Agents of seed {seed} trained with clones of seed {seed}." for seed in range(5))),
    ],
)
def test_the_card_says_who_trained_with_whose_clones(companions, sentences):
    card = model_card(gather(replace(FAST, companions=companions), {}))
    assert f"self-play. {sentences}" in card
    assert "- `partners/SEED-KIND`: the reference partners" in card


def test_the_card_of_a_quick_run_names_no_files_of_partners_that_it_did_not_make():
    card = model_card(gather(QUICK, {}))
    assert "`partners/SEED-KIND`" not in card
    assert "- The reference partners, which no agent was trained with, are those that come with coadapt.\n" in card
