"""The salesman's experiment in miniature: everything that the real one does, though compiling it takes minutes."""

import json
import random
from dataclasses import replace

import jax
import numpy as np
import pytest

from coadapt import catalogue
from coadapt.encounters import rollout, start_episode
from coadapt.experiments.salesman import EXPERIMENT, pretrained, shipped
from coadapt.experiments.salesman.clones import clones, partners_from, told_nothing
from coadapt.experiments.salesman.config import METHODS
from coadapt.experiments.salesman.record import with_record
from coadapt.experiments.salesman.results import gather
from coadapt.experiments.salesman.seats import LABEL_SOURCES
from coadapt.experiments.salesman.trial import try_out
from coadapt.experiments.salesman.world import KINDS
from coadapt.pipeline.stages import key_for
from coadapt.runs.executor import RunOptions, Worker
from coadapt.runs.experiment import plan
from coadapt.runs.launch import carry_out
from coadapt.storage.files import Incompatible
from tests.experiments.small_salesman import SMALL
from tests.experiments.tracing import traced_once

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
    methods = (*METHODS, *LABEL_SOURCES)
    expected = {(m, 3, f"100-{kind}", mode) for m in methods for kind in KINDS for mode in ("sample", "argmax")}
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
    assert set(partners) == {f"{seed}-{kind}" for seed in (100, 3, 0) for kind in KINDS}
    assert partners["3-novice"]["iteration"] == 0
    assert partners["3-skilled"]["iteration"] == 4
    assert all(1 <= partner["length"] <= 8 for partner in partners.values())


def test_it_writes_what_it_promises(run):
    written = {path.relative_to(run.results).as_posix() for path in run.results.rglob("*.*")}
    numbers = ("learning", "regret", "adaptation", "calibration", "exchange", "crossplay")
    drawn = (*numbers, *(f"episode_{kind}" for kind in KINDS))
    figures = {f"{name}.{ending}" for name in drawn for ending in ("png", "svg")}
    agents = {f"agents/{method}/3" for method in ("behaviour-conditioned", "label-blind", "lstm", "lstm-matched")}
    partners = {f"agents/partners/100-{kind}" for kind in KINDS}
    trained_with = {f"agents/training-partners/{seed}-{kind}" for seed in (0, 3) for kind in KINDS}
    files = {f"{name}.{end}" for name in agents | partners | trained_with for end in ("json", "safetensors")}
    texts = {"summary.json", "provenance.json", "table.md", "times.md", "agents/README.md", "agents/training.json"}
    assert written == texts | figures | files


def test_a_saved_agent_plays_as_it_did_when_it_was_trained(run, summary):
    """With fresh luck and many more episodes: the rows have a standard error of their own."""
    agents = run.results / "agents"
    agent = catalogue.find(agents / "behaviour-conditioned" / "3")
    partners = [catalogue.find(agents / "partners" / f"100-{kind}.json") for kind in KINDS]
    cells = try_out(agent, partners, 2_000, greedy=False, seed=5)
    rows = {r["partner_kind"]: r for r in summary["rows"] if (r["method"], r["mode"]) == (METHODS[0], "sample")}
    for kind, cell in zip(KINDS, cells, strict=True):
        error = np.hypot(rows[kind]["return_standard_error"], cell.total_error)
        assert abs(cell.total - rows[kind]["mean_return"]) < 5 * error


def test_a_partner_is_the_policy_it_was_told_nothing(run):
    """Stacked with others and under its label, a partner still plays as its snapshot did in self-play."""
    outcomes = [clones(SMALL.world, SMALL.clones, SMALL.intermediate_length)] * 2
    left = [learner.networks(learner.start(key_for(s, "clones"), ())) for s, learner in enumerate(outcomes)]
    partners = partners_from(left)
    assert partners.labels.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]] * 2
    fourth = jax.tree.map(lambda leaf: leaf[3], partners.players)
    game = SMALL.world.game
    one, other = (
        rollout(start_episode(jax.random.key(9), game, (p, p)), game, (p, p), 8)[1].logits[0]
        for p in (fourth, told_nothing(left[1].novice))
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
    assert deaths == len(experiment.stages(SMALL)) == 20
    for file in ("results/summary.json", "results/table.md", "results/agents/behaviour-conditioned/3.safetensors"):
        assert (again.folder / file).read_bytes() == (run.folder / file).read_bytes()
    for metrics in (run.folder / "metrics").iterdir():
        assert (again.folder / "metrics" / metrics.name).read_bytes() == metrics.read_bytes()


@pytest.fixture
def published(run, monkeypatch):
    """As if the agents of the miniature came with the package."""
    monkeypatch.setattr(pretrained, "FOLDER", run.results / "agents")
    pretrained.read_published.cache_clear()
    yield shipped.ShippedConfig(episodes=60, batch=20, measures=SMALL.measures)
    pretrained.read_published.cache_clear()


def test_the_published_agents_are_worth_what_training_found(published, summary, tmp_path):
    """The same agents, partners and chances from files: the same numbers, but for what rounding does to a choice."""
    assert published.seeds == (3,)
    assert published.methods == ("behaviour_conditioned", "label_blind", "lstm", "lstm_matched")
    some = lambda config: [s for s in shipped.stages(config) if s.name in ("published", "evaluation_3", "crossplay_3")]
    made, _ = carry_out(replace(shipped.EXPERIMENT, stages=some), published, tmp_path / "run")
    again = json.loads((made.results / "summary.json").read_text())
    place = lambda row: (row["method"], row["partner_id"], row["mode"])
    before = {place(row): row["mean_return"] for row in summary["rows"]}
    after = {place(row): row["mean_return"] for row in again["rows"]}
    assert set(after) == set(before)
    assert all(abs(after[row] - before[row]) < 0.01 for row in after)
    assert again["mode"] == summary["mode"]
    assert {place(row) for row in again["crossplay"]} == {
        place(row) for row in summary["crossplay"] if row["mode"] == summary["mode"]
    }
    trained_with = lambda summary: {place(r): r for r in summary["crossplay"] if not r["partner_id"].startswith("100")}
    assert trained_with(again).items() <= trained_with(summary).items()
    for known_of_training in ("partners", "rehearsal", "accuracy", "curves", "environment_steps"):
        assert again[known_of_training] == summary[known_of_training]


def test_a_record_of_other_agents_or_none_at_all_is_refused(run, tmp_path):
    nothing = gather(SMALL, {})
    with pytest.raises(Incompatible, match=r"was written at commit .*, but the agents beside it at another"):
        with_record(run.results / "agents", nothing, "another")
    record = json.loads((run.results / "agents" / "training.json").read_text())
    (tmp_path / "training.json").write_text(json.dumps(record | {"curves": [7]}))
    with pytest.raises(Incompatible, match="does not say what it should"):
        with_record(tmp_path, nothing, record["commit"])


def test_all_that_is_measured_after_training_is_measured_of_published_agents(published, experiment):
    """By the same code, so planning it is enough: that traces every stage, though it runs none."""
    measured = {planned.stage.name for planned in plan(shipped.EXPERIMENT, published, {})}
    made_by_training = ("clones", "self_play", "rehearsal", *SMALL.trainings)
    after_training = {s.name for s in experiment.stages(SMALL) if not s.name.startswith(made_by_training)}
    assert measured == {"published"} | after_training


def test_nobody_beats_the_best_response(summary):
    """It is the same for everyone; by luck in four standard errors at the most."""
    regrets = summary["regret"]
    methods = {*METHODS, "true_label", "exact_posterior"}
    found = [(row["method"], row["partner_id"], row["mode"]) for row in regrets]
    assert len(found) == len(set(found))
    trained = {(m, f"100-{kind}", mode) for m in methods for kind in KINDS for mode in ("sample", "argmax")}
    exact = ("best_response_to_likeliest", "best_response_to_likeliest_kind", "best_response_to_kind")
    assert set(found) == trained | {(who, f"100-{kind}", "argmax") for who in exact for kind in KINDS}
    for row in regrets:
        assert row["regret_return"] > -4 * row["regret_return_standard_error"]
        if row["method"] == "best_response_to_kind":  # there is one of each kind, so it is the best response itself
            assert row["regret_return"] < 4 * row["regret_return_standard_error"] + 1e-6
    best = {(row["partner_id"], row["best_response_return"], row["best_response_length"]) for row in regrets}
    assert len(best) == len(KINDS)


def test_everybody_plays_with_everybody(summary):
    met = {(row["method"], row["partner_id"]) for row in summary["crossplay"]}
    assert met == {(m, f"{seed}-{kind}") for m in METHODS for seed in (100, 3, 0) for kind in KINDS}


def test_all_pairs_of_kinds_are_exchanged(summary):
    """What is known of the second is told from the exchange on: of five of eight steps."""
    assert len({(row["first"], row["second"]) for row in summary["exchange"]}) == 9
    assert {row["method"] for row in summary["exchange"]} == {*METHODS, "announced", "true_label"}
    for row in summary["exchange"]:
        assert 1 <= row["mean_length"] <= 8
        assert len(row.get("accuracy", [0] * 5)) == 5
        assert ("accuracy" in row) == (row["method"] in ("behaviour_conditioned", "announced"))


def test_the_posterior_begins_with_the_frequencies(summary):
    """Three kinds as likely as each other: a third of all guesses is right, and the loss is log 3."""
    of_all = {row["source"]: row for row in summary["inference"] if row["partner_kind"] is None}
    posterior = of_all["posterior"]
    assert posterior["accuracy"][0] == pytest.approx(1 / 3)
    assert posterior["log_loss"][0] == pytest.approx(np.log(3), abs=1e-5)
    for row in of_all.values():
        assert len(row["accuracy"]) == len(row["calibration_error_by_step"]) == 8
