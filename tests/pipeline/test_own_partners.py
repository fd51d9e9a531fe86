"""A study without clones, from beginning to end: own types, own players to train with, and others to be tried with."""

import json
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt import catalogue
from coadapt.experiments.salesman.task import SalesmanTask
from coadapt.pipeline.experiment import report_of, stages_of
from coadapt.pipeline.methods import methods_of
from coadapt.pipeline.saved import agent_of, read
from coadapt.pipeline.showing import Showing
from coadapt.pipeline.sources.scripted import Scripted
from coadapt.pipeline.study import Study
from coadapt.players import Decision, seen_first
from coadapt.runs import experiment as planning
from coadapt.runs.experiment import Experiment, plan
from coadapt.runs.launch import Changed, carry_out
from coadapt.storage.files import Incompatible
from tests.experiments.small_salesman import SMALL, SMALL_PPO
from tests.experiments.tracing import traced_once

pytestmark = pytest.mark.slow

TYPES = ("along rows", "along columns")


@dataclass(frozen=True)
class Walkers(SalesmanTask):
    """The small gridworld, with partners that walk along rows or along columns."""

    @property
    def name(self) -> str:
        return "walkers"

    @property
    def types(self) -> tuple[str, ...]:
        return TYPES


class Walker:
    """Mostly goes up and down, or left and right. It is neither a tuple nor a dataclass."""

    def __init__(self, first: int, firmness: float):
        self.logits = jnp.zeros(4).at[jnp.array([first, first + 1])].set(firmness)

    def start(self, key):
        del key
        return ()

    def decide(self, seen, memory):
        del seen
        return Decision(self.logits, memory, {})


def walkers(*firmness: float) -> Scripted:
    """Of each type one for each firmness."""
    return Scripted({name: [Walker(2 * (1 - n), of) for of in firmness] for n, name in enumerate(TYPES)})


SMALL_TASK = SMALL.task
METHODS = ("behaviour_conditioned", "label_blind", "lstm_matched")
STUDY = Study(
    clones=None,
    policy=SMALL_PPO,
    predictor=SMALL.predictor,
    lstm_clones=None,
    lstm=SMALL_PPO,
    task=Walkers(SMALL_TASK.game, SMALL_TASK.sizes, SMALL_TASK.pairs),
    partners=walkers(2.0, 5.0),
    held_out=walkers(3.0),
    methods=METHODS,
    seeds=(3,),
    curve_points=2,
    episodes=60,
    validation_episodes=40,
    batch=20,
    measures=SMALL.measures,
)
SHOWING = Showing("Walkers")
KEY = jax.random.key(0)
HELD_OUT = [f"0-{name}" for name in TYPES]


def experiment_of(study: Study) -> Experiment:
    report = lambda study, outcomes, folder: report_of(study, outcomes, folder, SHOWING)
    return traced_once(Experiment("walkers", Study, stages_of, report), study)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    made, _ = carry_out(experiment_of(STUDY), STUDY, tmp_path_factory.mktemp("walkers") / "run")
    return made


@pytest.fixture(scope="module")
def summary(run):
    return json.loads((run.results / "summary.json").read_text())


def test_nobody_plays_with_copies_of_itself():
    trained = [stage.name for stage in stages_of(STUDY) if stage.steps]
    assert trained == ["policy_3", "predictor_3", "label_blind_3", "lstm_matched_3"]
    needs = {stage.name: stage.needs for stage in stages_of(STUDY)}
    assert needs["policy_3"] == needs["label_blind_3"] == needs["lstm_matched_3"] == ()
    assert needs["predictor_3"] == ("policy_3",)
    assert needs["evaluation_lstm_matched_3"] == ("lstm_matched_3",)
    assert "self_play_3" not in needs


def test_everybody_is_tried_with_players_that_nobody_trained_with(summary):
    others = ("oracle_label", "shuffled_label", *(f"always_{name}" for name in TYPES))
    found = [(row["method"], row["partner_id"], row["mode"]) for row in summary["rows"]]
    expected = {(who, of, mode) for who in (*METHODS, *others) for of in HELD_OUT for mode in ("sample", "argmax")}
    assert len(found) == len(expected)
    assert set(found) == expected
    met = {row["partner_id"] for row in summary["evaluation_matrix"]}
    assert met == {*HELD_OUT, *(f"{n}-{name}" for n in (0, 1) for name in TYPES)}
    assert summary["partners"] == []  # for nobody was trained to be one


def test_a_walk_along_a_row_is_known_from_one_along_a_column(summary):
    """At first nothing is known: half of all guesses is right, and the loss is log 2. Then each step tells something.

    With a firmness of three a step is along one's own line with probability 2 e^3 / (2 e^3 + 2), 95 of a hundred, and
    where it cannot be told, because a wall was in the way, the next one will do.
    """
    (posterior,) = [row for row in summary["inference"] if (row["source"], row["partner_type"]) == ("posterior", None)]
    assert posterior["accuracy"][0] == pytest.approx(1 / 2)
    assert posterior["log_loss"][0] == pytest.approx(np.log(2), abs=1e-5)
    losses = posterior["log_loss"]
    assert losses[1] < 0.5 * losses[0]
    (predictor,) = [row for row in summary["inference"] if (row["source"], row["partner_type"]) == ("predictor", None)]
    assert posterior["overall_log_loss"] < predictor["overall_log_loss"]


def test_nobody_beats_the_best_response(summary):
    for row in summary["regret"]:
        assert row["regret_return"] > -4 * row["regret_return_standard_error"]
        if row["method"] == "best_response_to_type":  # there is one of each type, so it is the best response itself
            assert row["regret_return"] < 4 * row["regret_return_standard_error"] + 1e-6
    best = {(row["partner_id"], row["best_response_return"]) for row in summary["regret"]}
    assert len(best) == len(HELD_OUT)


def test_the_matched_baseline_has_all_the_steps_of_ours(summary):
    steps = summary["environment_steps"]
    ours, theirs = (sum(steps[name].values()) for name in ("behaviour_conditioned", "lstm_matched"))
    assert steps["behaviour_conditioned"] == {"policy": 4 * 12 * 8, "predictor": 4 * 12 * 8}
    assert set(steps["lstm_matched"]) == {"lstm_matched"}
    assert ours <= theirs < ours + 2 * 12 * 8


def test_its_files_are_agents_alone_and_say_whom_they_trained_with(run):
    agents = run.results / "agents"
    folders = ("behaviour-conditioned", "label-blind", "lstm-matched")
    files = {f"{folder}/3.{ending}" for folder in folders for ending in ("json", "safetensors")}
    written = {path.relative_to(agents).as_posix() for path in agents.rglob("*.*")}
    assert written == {"README.md", "training.json", *files}
    met = ", ".join(f"{n}-{name}" for name in TYPES for n in (0, 1))
    assert f"Agents of seed 3 trained with scripted partners ({met})." in (agents / "README.md").read_text()


def test_its_agents_can_be_read_by_whoever_knows_the_task(run):
    file = run.results / "agents" / "behaviour-conditioned" / "3"
    with pytest.raises(Incompatible, match="is for the game 'walkers'; known are"):
        catalogue.find(file)
    (ours, *_) = methods_of(STUDY).values()
    found = read(file, {"walkers": Walkers}, (agent_of(ours),))
    assert found.task == STUDY.task
    game = STUDY.task.game
    player = found.player()
    decision = player.decide(seen_first(game, game.reset(KEY), 0), player.start(KEY))
    assert decision.info["belief"].shape == (2,)


def test_it_goes_on_with_the_same_players_and_with_no_others(run):
    """Players that are made anew are the same; another number in one of them is another study."""
    anew = replace(STUDY, partners=walkers(2.0, 5.0), held_out=walkers(3.0))
    carry_out(experiment_of(anew), anew, run.folder)
    other = replace(STUDY, partners=walkers(2.0, 5.5))
    with pytest.raises(Changed, match=r"partners\.described\.1-along rows\.logits was .*5\.0.* and is .*5\.5"):
        carry_out(experiment_of(other), other, run.folder)


class Unknown(Walkers):
    """The same, of which nobody knows what can be had at best."""

    @property
    def oracle(self):  # pyright: ignore[reportIncompatibleMethodOverride]
        return None


def test_without_an_oracle_all_else_is_measured(monkeypatch):
    """Planning it is enough: that traces every stage, though it runs none."""
    monkeypatch.setattr(planning, "_known_shapes", {})
    task = STUDY.task
    study = replace(STUDY, task=Unknown(task.game, task.sizes, task.pairs))
    planned = {each.stage.name: each for each in plan(experiment_of(study), study, {})}
    known = {stage.name for stage in stages_of(STUDY)}
    by_an_oracle = {"joint_optimum", "optima", *(f"regret_{name}_3" for name in METHODS)}
    assert by_an_oracle < known
    assert set(planned) == known - by_an_oracle
    noted = planned["adaptation_behaviour_conditioned_3"].outcome["sample"]
    assert set(noted.lasting) == set(noted.kept) == {"predictor"}  # and no posterior
