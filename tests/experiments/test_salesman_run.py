"""The salesman's experiment in miniature: everything that the real one does, though compiling it takes minutes."""

import json
import random
import shutil
from dataclasses import replace

import jax
import numpy as np
import pytest

from coadapt import catalogue
from coadapt.encounters import rollout, start_episode
from coadapt.experiments.salesman import EXPERIMENT, PACKAGE, PRETRAINED, PretrainedSalesman
from coadapt.experiments.salesman.showing import SHOWING
from coadapt.experiments.salesman.task import TYPES
from coadapt.pipeline import pretrained as pretrained_agents
from coadapt.pipeline import saved
from coadapt.pipeline.methods import methods_of
from coadapt.pipeline.partners import partners_of
from coadapt.pipeline.record import with_record
from coadapt.pipeline.results import gather
from coadapt.pipeline.self_play import as_partner, by_length, clones
from coadapt.pipeline.sources.self_play import SelfPlay
from coadapt.pipeline.stages import Trained, key_for
from coadapt.pipeline.trial import try_out
from coadapt.runs.executor import RunOptions, Worker
from coadapt.runs.experiment import plan
from coadapt.runs.launch import carry_out
from coadapt.storage.files import Incompatible
from tests.experiments.small_salesman import SMALL, SMALL_PPO
from tests.experiments.tracing import traced_once

OURS = "behaviour_conditioned"
OTHER_LABELS = ("oracle_label", "shuffled_label", *(f"always_{type_}" for type_ in TYPES))

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def experiment():
    """Its stages are traced once, however often they are carried out."""
    return traced_once(EXPERIMENT, SMALL)


@pytest.fixture(scope="module")
def run(experiment, tmp_path_factory):
    made, _ = carry_out(experiment, SMALL, tmp_path_factory.mktemp("salesman") / "run")
    return made


@pytest.fixture(scope="module")
def summary(run):
    return json.loads((run.results / "summary.json").read_text())


def test_the_rows_are_every_method_partner_seed_and_mode(summary):
    found = [(row["method"], row["seed"], row["partner_id"], row["mode"]) for row in summary["rows"]]
    methods = (*SMALL.methods, *OTHER_LABELS)
    expected = {(m, 3, f"100-{type_}", mode) for m in methods for type_ in TYPES for mode in ("sample", "argmax")}
    assert len(found) == len(expected)
    assert set(found) == expected


def test_returns_add_up_to_steps_and_goals(summary):
    """A step costs 0.01 and each of two goals pays 0.05; a finished episode has both, another one at the most."""
    for row in summary["rows"]:
        goals = (row["mean_return"] + 0.01 * row["mean_length"]) / 0.05
        assert 2 * row["finished"] - 1e-3 <= goals <= row["finished"] + 1 + 1e-3
        assert 1 <= row["mean_length"] <= 8
        assert row["episodes"] == 60


def test_every_partner_is_measured_and_labelled(summary):
    partners = {partner["partner_id"]: partner for partner in summary["partners"]}
    assert set(partners) == {f"{seed}-{type_}" for seed in (100, 3, 0) for type_ in TYPES}
    assert partners["3-novice"]["iteration"] == 0
    assert partners["3-skilled"]["iteration"] == 4
    assert all(1 <= partner["length"] <= 8 for partner in partners.values())


def test_it_writes_what_it_promises(run):
    written = {path.relative_to(run.results).as_posix() for path in run.results.rglob("*.*")}
    numbers = ("learning", "regret", "adaptation", "calibration", "partner_switch", "evaluation_matrix")
    drawn = (*numbers, *(f"episode_{type_}" for type_ in TYPES))
    figures = {f"{name}.{ending}" for name in drawn for ending in ("png", "svg")}
    agents = {f"agents/{method}/3" for method in ("behaviour-conditioned", "label-blind", "lstm", "lstm-matched")}
    partners = {f"agents/partners/100-{type_}" for type_ in TYPES}
    trained_with = {f"agents/training-partners/{seed}-{type_}" for seed in (0, 3) for type_ in TYPES}
    files = {f"{name}.{end}" for name in agents | partners | trained_with for end in ("json", "safetensors")}
    texts = {"summary.json", "provenance.json", "table.md", "times.md", "agents/README.md", "agents/training.json"}
    assert written == texts | figures | files


def test_a_saved_agent_plays_as_it_did_when_it_was_trained(run, summary):
    """With fresh luck and many more episodes: the rows have a standard error of their own."""
    agents = run.results / "agents"
    agent = catalogue.find(agents / "behaviour-conditioned" / "3")
    partners = [catalogue.find(agents / "partners" / f"100-{type_}.json").player() for type_ in TYPES]
    cells = try_out(agent.task.game, agent.player(), partners, 2_000, greedy=False, seed=5)
    rows = {r["partner_type"]: r for r in summary["rows"] if (r["method"], r["mode"]) == (OURS, "sample")}
    for type_, cell in zip(TYPES, cells, strict=True):
        error = np.hypot(rows[type_]["return_standard_error"], cell.total_error)
        assert abs(cell.total - rows[type_]["mean_return"]) < 5 * error


def test_a_partner_is_the_policy_it_was_told_nothing():
    """Stacked with others and under its label, a partner still plays as its snapshot did in self-play."""
    learner = clones(SMALL.task, SMALL_PPO, by_length(SMALL.levels))
    left = [learner.networks(learner.start(key_for(seed, "clones"), ())) for seed in (0, 1)]
    one_replicate = lambda networks: Trained(jax.tree.map(lambda leaf: leaf[None], networks), {})
    inputs = {f"clones_{seed}": one_replicate(of) for seed, of in enumerate(left)}
    partners = partners_of(SMALL, SelfPlay((0, 1)), inputs)
    assert partners.labels.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]] * 2
    fourth = jax.tree.map(lambda leaf: leaf[3], partners.players)
    untrained = jax.tree.map(lambda leaf: leaf[0], left[1].snapshots)
    game = SMALL.task.game
    one, other = (
        rollout(start_episode(jax.random.key(9), game, (p, p)), game, (p, p), 8)[1].logits[0]
        for p in (fourth, as_partner(untrained, SMALL.task))
    )
    np.testing.assert_allclose(one, other, atol=1e-6)


class Killed(Exception):
    """As sudden as a kill: nothing is stored on the way out."""


def test_killed_in_each_of_its_stages_it_ends_with_the_same_bits(experiment, run, tmp_path, monkeypatch):
    chance = random.Random(4)
    record = Worker._record
    victims: set[str] = set()

    def dying(self, stage, *chunk):
        record(self, stage, *chunk)
        if stage.name not in victims and (self.done == stage.chunks or chance.random() < 0.5):
            victims.add(stage.name)
            raise Killed

    monkeypatch.setattr(Worker, "_record", dying)
    deaths = 0
    while True:
        try:
            again, _ = carry_out(experiment, SMALL, tmp_path / "run", RunOptions(checkpoint_every=0))
            break
        except Killed:
            deaths += 1
    assert deaths == len(experiment.stages(SMALL)) == 33
    for file in ("results/summary.json", "results/table.md", "results/agents/behaviour-conditioned/3.safetensors"):
        assert (again.folder / file).read_bytes() == (run.folder / file).read_bytes()
    for metrics in (run.folder / "metrics").iterdir():
        assert (again.folder / "metrics" / metrics.name).read_bytes() == metrics.read_bytes()


@pytest.fixture
def pretrained(run, tmp_path, monkeypatch):
    """As if the agents of the miniature came with the package."""
    shutil.copytree(run.results / "agents", tmp_path / "weights" / "salesman")
    for module in (saved, pretrained_agents):
        monkeypatch.setattr(module, "PRETRAINED", tmp_path / "weights")
    return PretrainedSalesman(episodes=60, batch=20, measures=SMALL.measures)


HANDED_ON = {pretrained_agents.STAGE, PACKAGE.partners((100,), TYPES).stage}


def test_the_pretrained_agents_are_worth_what_training_found(pretrained, summary, tmp_path):
    """The same agents, partners and chances from files: the same numbers, but for what rounding does to a choice."""
    assert pretrained.seeds == (3,)
    assert PACKAGE.methods(pretrained.seeds) == ("behaviour_conditioned", "label_blind", "lstm", "lstm_matched")
    wanted = ("evaluation", "controls")  # and the evaluation matrix
    some = lambda config: [s for s in PRETRAINED.stages(config) if s.name in HANDED_ON or s.name.startswith(wanted)]
    made, _ = carry_out(replace(PRETRAINED, stages=some), pretrained, tmp_path / "run")
    again = json.loads((made.results / "summary.json").read_text())
    place = lambda row: (row["method"], row["partner_id"], row["mode"])
    before = {place(row): row["mean_return"] for row in summary["rows"]}
    after = {place(row): row["mean_return"] for row in again["rows"]}
    assert set(after) == set(before)
    assert all(abs(after[row] - before[row]) < 0.01 for row in after)
    assert again["mode"] == summary["mode"]
    assert {place(row) for row in again["evaluation_matrix"]} == {
        place(row) for row in summary["evaluation_matrix"] if row["mode"] == summary["mode"]
    }
    trained_with = lambda summary: {
        place(row): row for row in summary["evaluation_matrix"] if not row["partner_id"].startswith("100")
    }
    assert trained_with(again)
    assert trained_with(again).items() <= trained_with(summary).items()
    for known_of_training in ("partners", "validation", "accuracy", "curves", "environment_steps"):
        assert again[known_of_training] == summary[known_of_training]


def test_a_record_of_other_agents_or_none_at_all_is_refused(run, tmp_path):
    nothing = gather(SMALL, {}, SHOWING)
    with pytest.raises(Incompatible, match=r"was written at commit .*, but the agents beside it at another"):
        with_record(run.results / "agents", nothing, "another")
    record = json.loads((run.results / "agents" / "training.json").read_text())
    (tmp_path / "training.json").write_text(json.dumps(record | {"curves": [7]}))
    with pytest.raises(Incompatible, match="does not say what it should"):
        with_record(tmp_path, nothing, record["commit"])


def test_all_that_is_measured_after_training_is_measured_of_pretrained_agents(pretrained, experiment):
    """By the same code, so planning it is enough: that traces every stage, though it runs none."""
    measured = {planned.stage.name for planned in plan(PRETRAINED, pretrained, {})}
    trainings = (each.purpose for method in methods_of(SMALL).values() for each in method.trainings(SMALL))
    made_by_training = ("clones", "self_play", "validation", *trainings)
    after_training = {s.name for s in experiment.stages(SMALL) if not s.name.startswith(made_by_training)}
    assert len(after_training) == 20  # six of our agent, four of each of the others, and what can be had at best
    assert measured == HANDED_ON | after_training


def test_nobody_beats_the_best_response(summary):
    """It is the same for everyone; by luck in four standard errors at the most."""
    regrets = summary["regret"]
    methods = {*SMALL.methods, "oracle_label", "exact_posterior"}
    found = [(row["method"], row["partner_id"], row["mode"]) for row in regrets]
    assert len(found) == len(set(found))
    trained = {(m, f"100-{type_}", mode) for m in methods for type_ in TYPES for mode in ("sample", "argmax")}
    exact = ("best_response_to_likeliest", "best_response_to_likeliest_type", "best_response_to_type")
    assert set(found) == trained | {(who, f"100-{type_}", "argmax") for who in exact for type_ in TYPES}
    for row in regrets:
        assert row["regret_return"] > -4 * row["regret_return_standard_error"]
        if row["method"] == "best_response_to_type":  # there is one of each type, so it is the best response itself
            assert row["regret_return"] < 4 * row["regret_return_standard_error"] + 1e-6
    best = {(row["partner_id"], row["best_response_return"], row["best_response_length"]) for row in regrets}
    assert len(best) == len(TYPES)


def test_everybody_plays_with_everybody(summary):
    met = {(row["method"], row["partner_id"]) for row in summary["evaluation_matrix"]}
    assert met == {(m, f"{seed}-{type_}") for m in SMALL.methods for seed in (100, 3, 0) for type_ in TYPES}


def test_all_pairs_of_types_are_switched(summary):
    """What is known of the second is told from the switch on: of five of eight steps."""
    assert len({(row["first"], row["second"]) for row in summary["partner_switch"]}) == 9
    assert {row["method"] for row in summary["partner_switch"]} == {*SMALL.methods, "announced", "oracle_label"}
    for row in summary["partner_switch"]:
        assert 1 <= row["mean_length"] <= 8
        assert len(row.get("accuracy", [0] * 5)) == 5
        assert ("accuracy" in row) == (row["method"] in ("behaviour_conditioned", "announced"))


def test_the_posterior_begins_with_the_frequencies(summary):
    """Three types as likely as each other: a third of all guesses is right, and the loss is log 3."""
    of_all = {row["source"]: row for row in summary["inference"] if row["partner_type"] is None}
    posterior = of_all["posterior"]
    assert posterior["accuracy"][0] == pytest.approx(1 / 3)
    assert posterior["log_loss"][0] == pytest.approx(np.log(3), abs=1e-5)
    for row in of_all.values():
        assert len(row["accuracy"]) == len(row["calibration_error_by_step"]) == 8
