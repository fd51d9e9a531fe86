"""The salesman's experiment in miniature: everything that the real one does, in seconds."""

import json
import random
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt import catalogue
from coadapt.agents.relational import RelationalBelief, RelationalLSTM, RelationalPolicy
from coadapt.encounters import meet, play
from coadapt.experiments.running import carry_out
from coadapt.experiments.salesman import EXPERIMENT, FAST, PAPER, shipped
from coadapt.experiments.salesman.clones import clones, partners_from, told_nothing
from coadapt.experiments.salesman.config import METHODS
from coadapt.experiments.salesman.seats import LABEL_SOURCES, seats_of, told_by_sources, told_labels
from coadapt.experiments.salesman.trial import try_out
from coadapt.experiments.salesman.world import KINDS, World
from coadapt.experiments.stages import key_for
from coadapt.experiments.working import Manner, Worker
from coadapt.games.salesman import Salesman
from coadapt.learning.ppo import PPOInfo
from tests.experiments.small_salesman import SMALL


@pytest.fixture(scope="module")
def experiment():
    """Its stages are traced once, however often they are carried out."""
    traced = [
        replace(stage, begin=jax.jit(stage.begin), go_on=jax.jit(stage.go_on)) for stage in EXPERIMENT.stages(SMALL)
    ]
    return replace(EXPERIMENT, stages=lambda config: traced)


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
    agents = {f"agents/{method}/3" for method in ("behaviour-conditioned", "label-blind", "lstm")}
    partners = {f"agents/partners/100-{kind}" for kind in KINDS}
    trained_with = {f"agents/training-partners/{seed}-{kind}" for seed in (0, 3) for kind in KINDS}
    files = {f"{name}.{end}" for name in agents | partners | trained_with for end in ("json", "safetensors")}
    texts = {"summary.json", "provenance.json", "table.md", "times.md", "agents/README.md"}
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


def test_in_execution_nobody_but_the_controls_is_told_anything():
    """Whatever the label of an episode is, the same player sits down to it."""
    labels = jnp.eye(3)
    world = SMALL.world
    sizes = world.relation_sizes(SMALL.policy)
    made = {
        "policy": RelationalPolicy(jax.random.key(0), sizes, 3, 4),
        "predictor": RelationalBelief(jax.random.key(1), sizes, 4, (4,), 3),
        "label_blind": RelationalPolicy(jax.random.key(2), sizes, 3, 4),
        "lstm": RelationalLSTM(jax.random.key(3), sizes, 4, 4),
        "lstm_matched": RelationalLSTM(jax.random.key(4), sizes, 4, 4),
    }
    seats = seats_of(SMALL, made.__getitem__, labels)
    told = told_by_sources(jax.random.key(5), labels)
    seats |= {source: told_labels(made["policy"], rows) for source, rows in told.items()}
    observation = world.game.observe(world.game.reset(jax.random.key(6)), 0)
    for method, seat in seats.items():
        players = [seat.as_player(row) for row in seat.told]
        logits = [player.decide(observation, player.start(jax.random.key(0))).logits for player in players]
        same = all(np.array_equal(logits[0], other) for other in logits[1:])
        assert same == (method not in ("true_label", "shuffled_label")), method


def test_a_partner_is_the_policy_it_was_told_nothing(run):
    """Stacked with others and under its label, a partner still plays as its snapshot did in self-play."""
    outcomes = [clones(SMALL.world, SMALL.clones, SMALL.intermediate_length)] * 2
    left = [learner.networks(learner.start(key_for(s, "clones"), ())) for s, learner in enumerate(outcomes)]
    partners = partners_from(left)
    assert partners.labels.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]] * 2
    fourth = jax.tree.map(lambda leaf: leaf[3], partners.players)
    game = SMALL.world.game
    one, other = (
        play(meet(jax.random.key(9), game, (p, p)), game, (p, p), 8)[1].logits[0]
        for p in (fourth, told_nothing(left[1].novice))
    )
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_the_intermediate_is_kept_the_first_time_it_comes_by(monkeypatch):
    """Lengths 8, 6.4, 5.9, 4, 6: the third is nearest to six; what comes back after the fourth is too late."""
    lengths = iter([8.0, 6.4, 5.9, 4.0, 6.0])

    def iterate(state, *_):
        network = jax.tree.map(lambda leaf: leaf + 1, state.policy.network)
        after = state._replace(iteration=state.iteration + 1, policy=state.policy._replace(network=network))
        seen = {"length": jnp.float32(next(lengths)), "finished": jnp.float32(1)}
        return after, PPOInfo._make([*[jnp.float32(0)] * 8, seen])

    monkeypatch.setattr("coadapt.experiments.salesman.clones.selfplay.iterate", iterate)
    learner = clones(SMALL.world, SMALL.clones, (5.0, 7.0))
    state = learner.start(jax.random.key(0), ())
    with jax.disable_jit():
        for _ in range(5):
            state, _ = learner.chunk(state, (), 1)
    left = learner.networks(state)
    assert int(left.intermediate_iteration) == 2
    grown = jax.tree.map(lambda new, old: float(jnp.mean(new - old)), left.intermediate, left.novice)
    assert jax.tree.leaves(grown) == pytest.approx([2.0] * len(jax.tree.leaves(grown)), abs=1e-5)


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
            again, _ = carry_out(experiment, SMALL, tmp_path / "run", Manner(checkpoint_every=0))
            break
        except Killed:
            deaths += 1
    assert deaths == len(experiment.stages(SMALL)) == 20
    for file in ("results/summary.json", "results/table.md", "results/agents/behaviour-conditioned/3.safetensors"):
        assert (again.folder / file).read_bytes() == (run.folder / file).read_bytes()
    for metrics in (run.folder / "metrics").iterdir():
        assert (again.folder / "metrics" / metrics.name).read_bytes() == metrics.read_bytes()


def test_the_matched_baseline_has_all_the_steps_of_ours():
    steps = FAST.environment_steps
    ours = steps("clones") + steps("policy") + steps("predictor")
    theirs = steps("lstm_clones") + steps("lstm_matched")
    one_point = FAST.lstm.steps_per_iteration * FAST.curve_points
    assert ours <= theirs < ours + one_point
    assert steps("lstm_clones") + steps("lstm") == steps("clones") + steps("policy")


def test_partners_are_split_by_partner():
    for config in (FAST, PAPER):
        for seed in config.seeds:
            assert not set(config.population_of(seed)) & set(config.references)
    assert len(FAST.references) >= 3
    assert FAST.population_of(3) == (3, 0, 1, 2, 4)
    assert FAST.population_of(77) == (77, 0, 1, 2, 3)
    assert PAPER.population_of(3) == (3,)


def test_the_paper_preset_is_what_the_paper_states():
    assert PAPER.world == World(pairs="absolute")
    assert (PAPER.clones.iterations, PAPER.policy.iterations, PAPER.predictor.iterations) == (3_000, 1_000, 5_000)
    assert (PAPER.lstm_clones.iterations, PAPER.lstm.iterations) == (3_000, 1_000)
    for training in (PAPER.clones, PAPER.policy, PAPER.predictor, PAPER.lstm_clones, PAPER.lstm):
        assert training.learning_rate == 5e-4
        assert training.steps_per_iteration == pytest.approx(4_000, rel=0.02)
    sizes = PAPER.world.sizes
    assert (sizes.before_sum, sizes.after_sum, sizes.lstm_units) == ((128,) * 7, (64, 64), 64)
    assert PAPER.companions == ()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda: World(Salesman(size=2, subgoals=4)), "size must leave room for 4 subgoals, a goal and two agents"),
        (lambda: replace(FAST, references=(1, 100)), "references must be seeds that nobody trains with, and 1 is"),
        (lambda: replace(FAST, feed="luck"), "feed must be one of probabilities, likeliest, drawn, not 'luck'"),
        (lambda: replace(FAST, methods=("magic",)), "methods must be one of behaviour_conditioned"),
        (lambda: World(pairs="polar"), "pairs must be one of relative, absolute, not 'polar'"),
        (lambda: replace(FAST, intermediate_length=(36.0, 30.0)), "intermediate_length must be two lengths"),
        (lambda: replace(FAST, intermediate_length=(30.0, 60.0)), "intermediate_length must be a number from 1 to 50"),
        (lambda: replace(FAST, batch=3_000), r"episodes \(20000\) must be a multiple of batch \(3000\)"),
        (lambda: replace(FAST, clones=replace(FAST.clones, steps=20)), r"clones.steps must cover an episode \(50\)"),
        (lambda: replace(FAST, lstm=replace(FAST.lstm, games=604)), "lstm.games must be a multiple of the 15 training"),
        (lambda: replace(FAST, curve_points=7), r"clones.iterations \(\d+\) must be a multiple of curve_points \(7\)"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(change, complaint):
    with pytest.raises(ValueError, match=complaint):
        change()


def test_the_published_agents_are_worth_what_training_found(run, summary, tmp_path, monkeypatch):
    """The same agents, partners and chances from files: the same numbers, but for what rounding does to a choice."""
    monkeypatch.setattr(shipped, "FOLDER", run.results / "agents")
    shipped._read.cache_clear()
    config = shipped.ShippedConfig(episodes=60, batch=20, measures=SMALL.measures)
    assert config.seeds == (3,)
    assert config.methods == ("behaviour_conditioned", "label_blind", "lstm")
    made, _ = carry_out(shipped.EXPERIMENT, config, tmp_path / "run")
    shipped._read.cache_clear()
    again = json.loads((made.results / "summary.json").read_text())
    place = lambda row: (row["method"], row["partner_id"], row["mode"])
    before = {place(row): row["mean_return"] for row in summary["rows"]}
    after = {place(row): row["mean_return"] for row in again["rows"]}
    assert set(after) == {row for row in before if row[0] != "lstm_matched"}
    assert all(abs(after[row] - before[row]) < 0.01 for row in after)
    assert again["mode"] == summary["mode"]
    assert again["bounds"] == summary["bounds"]
    assert {row["partner_id"] for row in again["crossplay"]} == {f"100-{kind}" for kind in KINDS}


def test_nobody_beats_the_best_response(summary):
    """It is the same for everyone; by luck in four standard errors at the most."""
    regrets = summary["regret"]
    methods = {*METHODS, "true_label", "exact_posterior"}
    found = [(row["method"], row["partner_id"], row["mode"]) for row in regrets]
    assert len(found) == len(set(found))
    trained = {(m, f"100-{kind}", mode) for m in methods for kind in KINDS for mode in ("sample", "argmax")}
    assert set(found) == trained | {("best_response_to_likeliest", f"100-{kind}", "argmax") for kind in KINDS}
    for row in regrets:
        assert row["regret_return"] > -4 * row["regret_return_standard_error"]
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
