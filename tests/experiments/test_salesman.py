"""The salesman's experiment: what it is made of, and what it refuses."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.experiments.salesman import FAST, PAPER
from coadapt.experiments.salesman.clones import clones
from coadapt.experiments.salesman.seats import seats_of, told_by_sources, told_labels
from coadapt.experiments.salesman.world import World
from coadapt.games.salesman.rules import Salesman
from coadapt.learning.ppo import PPOInfo
from tests.experiments.small_salesman import SMALL


def test_in_execution_nobody_but_the_controls_is_told_anything():
    """Whatever the label of an episode is, the same player sits down to it."""
    labels = jnp.eye(3)
    world = SMALL.world
    made = {
        "policy": world.new_policy(jax.random.key(0)),
        "predictor": world.new_predictor(jax.random.key(1)),
        "label_blind": world.new_policy(jax.random.key(2)),
        "lstm": world.new_recurrent_policy(jax.random.key(3)),
        "lstm_matched": world.new_recurrent_policy(jax.random.key(4)),
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
        (lambda: World(pairs="polar"), "pairs must be one of relative, turned, absolute, not 'polar'"),
        (lambda: replace(FAST, intermediate_length=(36.0, 30.0)), "intermediate_length must be two lengths"),
        (lambda: replace(FAST, intermediate_length=(30.0, 60.0)), "intermediate_length must be a number from 1 to 50"),
        (lambda: replace(FAST, batch=3_000), r"episodes \(2000\) must be a multiple of batch \(3000\)"),
        (lambda: replace(FAST, clones=replace(FAST.clones, num_steps=20)), r"clones.num_steps must cover an episode \(50\)"),
        (lambda: replace(FAST, lstm=replace(FAST.lstm, num_envs=604)), "lstm.num_envs must be a multiple of the 15 training"),
        (lambda: replace(FAST, curve_points=7), r"clones.iterations \(\d+\) must be a multiple of curve_points \(7\)"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(change, complaint):
    with pytest.raises(ValueError, match=complaint):
        change()
