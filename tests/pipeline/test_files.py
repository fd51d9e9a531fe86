"""What files of agents say of themselves is true of the run they come from, whoever's it is."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

from coadapt.evaluation.returns import Means
from coadapt.experiments.salesman import FAST, QUICK
from coadapt.experiments.salesman.showing import SHOWING
from coadapt.experiments.salesman.task import TYPES
from coadapt.partners.dirichlet import Stationary
from coadapt.pipeline.experiment import files_of
from coadapt.pipeline.model_card import model_card
from coadapt.pipeline.results import gather
from coadapt.pipeline.sources.scripted import Scripted
from coadapt.pipeline.sources.self_play import SelfPlay

ONE_OF_ONES_OWN = replace(
    FAST, seeds=(7,), partners=SelfPlay((0, 7), own=True), held_out=None, methods=("behaviour_conditioned",)
)


class Trained(NamedTuple):
    networks: Any


class Left(NamedTuple):
    snapshots: Any
    iterations: Any


def test_a_file_names_the_commits_of_the_stages_it_comes_from():
    """The clones of whom an agent trained with and its own networks; all but the predictor were there before."""
    study = replace(FAST, seeds=(3,), partners=SelfPlay((3, 0), own=True), held_out=SelfPlay((100,)))
    weight = np.zeros((1, 2))
    trained = [f"{training}_3" for training in ("policy", "predictor", "label_blind", "lstm_clones", "lstm")]
    trained += ["lstm_matched_3"]
    clones = ["clones_100", "clones_3", "clones_0"]
    left = Left(np.zeros((1, 3, 2)), np.array([[0, 40, 80]]))
    in_self_play = Means(*[np.zeros((1, 3))] * 4)  # pyright: ignore[reportArgumentType] (NumPy's)
    outcomes = {stage: Trained(weight) for stage in trained} | {stage: Trained(left) for stage in clones}
    outcomes |= {"self_play_100": in_self_play, "self_play_3": in_self_play}
    commits = dict.fromkeys(outcomes, "before") | {"predictor_3": "now"}
    results = gather(study, {}, SHOWING)
    found = {name: saved.about["stages"] for name, saved in files_of(results, outcomes, commits).items()}
    company = {"clones_3": "before", "clones_0": "before"}
    assert found == {
        "behaviour-conditioned/3": company | {"policy_3": "before", "predictor_3": "now"},
        "label-blind/3": company | {"label_blind_3": "before"},
        "lstm/3": company | {"lstm_clones_3": "before", "lstm_3": "before"},
        "lstm-matched/3": company | {"lstm_clones_3": "before", "lstm_matched_3": "before"},
        **{f"partners/100-{type_}": {"clones_100": "before"} for type_ in TYPES},
        **{f"training-partners/3-{type_}": {"clones_3": "before"} for type_ in TYPES},
    }


def test_the_card_of_ones_own_run_speaks_of_that_run():
    card = model_card(gather(ONE_OF_ONES_OWN, {}, SHOWING))
    assert "Agents of seed 7 trained with clones of seeds 0 and 7." in card
    assert "No agent was\nmeasured with partners it had not trained with." in card
    for of_others in ("five", "held-out", "`lstm", "`label-blind", "reproduce salesman"):
        assert of_others not in card


@pytest.mark.parametrize(
    ("partners", "sentences"),
    [
        (FAST.partners, "Agents of seeds 0, 1, 2, 3 and 4 trained with clones of seeds 0, 1, 2, 3 and 4."),
        (
            SelfPlay((9,), own=True),
            " ".join(f"Agents of seed {seed} trained with clones of seed {seed}." for seed in range(5)),
        ),
    ],
)
def test_the_card_says_who_trained_with_whose_clones(partners, sentences):
    card = model_card(gather(replace(FAST, partners=partners), {}, SHOWING))
    assert f"3 types of partners. {sentences}" in card
    assert "- `partners/SEED-TYPE`: the held-out partners" in card


def test_the_card_of_a_quick_run_names_no_files_of_partners_that_it_did_not_make():
    card = model_card(gather(QUICK, {}, SHOWING))
    assert "`partners/SEED-TYPE`" not in card
    everybody = ", ".join(f"{seed}-{type_}" for seed in (100, 101, 102) for type_ in TYPES)
    assert f"- pretrained partners ({everybody}): the held-out partners, which no agent was trained with.\n" in card


def test_the_card_of_agents_that_trained_with_scripted_players_names_no_files_of_these():
    players = {type_: Stationary(np.zeros(4, np.float32)) for type_ in TYPES}  # pyright: ignore[reportArgumentType]
    study = replace(FAST, seeds=(7,), partners=Scripted(players), held_out=None)  # pyright: ignore[reportArgumentType]
    card = model_card(gather(study, {}, SHOWING))
    assert "Agents of seed 7 trained with scripted partners (0-novice, 0-intermediate, 0-skilled)." in card
    assert "training-partners" not in card
