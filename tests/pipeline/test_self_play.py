"""What clone training leaves behind, on returns and lengths made by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.learning.ppo import PPOInfo
from coadapt.pipeline.self_play import by_length, by_plan, clones
from tests.experiments.small_salesman import SMALL, SMALL_PPO


@pytest.fixture
def left_behind(monkeypatch):
    """What is left of clones whose episodes have these lengths; each iteration adds one to every weight."""

    def train(kept, lengths):
        waiting = iter(lengths)

        def iterate(state, *_):
            network = jax.tree.map(lambda leaf: leaf + 1, state.policy.network)
            after = state._replace(iteration=state.iteration + 1, policy=state.policy._replace(network=network))
            seen = {"length": jnp.float32(next(waiting)), "finished": jnp.float32(1)}
            return after, PPOInfo._make([*[jnp.float32(0)] * 8, seen])

        monkeypatch.setattr("coadapt.pipeline.self_play.selfplay.iterate", iterate)
        learner = clones(SMALL.task, SMALL_PPO, kept)
        state = learner.start(jax.random.key(0), ())
        with jax.disable_jit():
            for _ in lengths:
                state, _ = learner.chunk(state, (), 1)
        return learner.networks(state)

    return train


def grown(left):
    """By how much the weights of each snapshot are larger than those of the first: how often it has learnt."""
    by_leaf = [np.asarray(leaf - leaf[:1]).reshape(len(leaf), -1) for leaf in jax.tree.leaves(left.snapshots)]
    return np.concatenate(by_leaf, axis=1)


def has_learnt(left, times):
    np.testing.assert_allclose(grown(left), np.broadcast_to(np.array(times)[:, None], grown(left).shape), atol=1e-5)


def test_the_intermediate_is_kept_the_first_time_it_comes_by(left_behind):
    """Lengths 8, 6.4, 5.9, 4, 6: the third is nearest to six; what comes back after the fourth is too late."""
    left = left_behind(by_length(((5.0, 7.0),)), [8.0, 6.4, 5.9, 4.0, 6.0])
    assert left.iterations.tolist() == [0, 2, SMALL_PPO.iterations]
    has_learnt(left, [0, 2, 5])


def test_each_level_is_met_by_itself(left_behind):
    """Of 8, 6.4, 4.2, 2.8, 5.9 the second is nearest to six and the fourth to three.

    When the last comes it is too late for the first level, which was passed at 4.2, and it is further from three.
    """
    left = left_behind(by_length(((5.0, 7.0), (2.0, 4.0))), [8.0, 6.4, 4.2, 2.8, 5.9])
    assert left.iterations.tolist() == [0, 1, 3, SMALL_PPO.iterations]
    has_learnt(left, [0, 1, 3, 5])


def test_without_levels_the_untrained_and_the_trained_are_left(left_behind):
    left = left_behind(by_length(()), [8.0, 6.0])
    assert left.iterations.tolist() == [0, SMALL_PPO.iterations]
    has_learnt(left, [0, 2])
    assert all(
        np.array_equal(one, other[1])
        for one, other in zip(*map(jax.tree.leaves, (left.trained, left.snapshots)), strict=True)
    )


@pytest.mark.parametrize("kept", [by_length(((5.0, 7.0),)), by_plan((2, 3))])
def test_where_training_stands_is_finite_from_the_beginning(kept):
    """Or a run would take it for one that has diverged."""
    state = clones(SMALL.task, SMALL_PPO, kept).start(jax.random.key(0), ())
    numbers = [leaf for leaf in jax.tree.leaves(state) if jnp.issubdtype(leaf.dtype, jnp.floating)]
    assert all(np.isfinite(leaf).all() for leaf in numbers)


def test_candidates_are_kept_when_it_is_their_turn(left_behind):
    """However long their episodes are."""
    left = left_behind(by_plan((1, 3)), [8.0, 2.0, 6.0, 8.0, 1.0])
    assert left.iterations.tolist() == [0, 1, 3, SMALL_PPO.iterations]
    has_learnt(left, [0, 1, 3, 5])
