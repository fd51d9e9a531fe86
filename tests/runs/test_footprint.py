"""What would not fit into memory is refused before anything is computed, by the setting that makes it so large."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from coadapt import memory
from coadapt.configs.data import changed
from coadapt.experiments import matrix_game, salesman
from coadapt.experiments.matrix_game.replicates import all_replicates
from coadapt.experiments.matrix_game.training import training_of
from coadapt.memory import DoesNotFit
from coadapt.pipeline.regret import joint_optimum_of
from coadapt.pipeline.self_play import cloning_of
from coadapt.pipeline.task import new_policy
from coadapt.runs import experiment
from coadapt.runs.footprint import weighed
from coadapt.runs.stage import Stage

FREE = 10**9


@pytest.fixture(autouse=True)
def a_gigabyte_is_free(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: FREE)


def stage(state: int, go_on, settings: Any = None) -> Stage:
    """One whose state is so many floats."""
    begin = lambda inputs: jnp.zeros(state)
    return Stage("it", (), settings, 1, begin, go_on, lambda state: state[:3], larger_by=("units", "games"))


def nothing_new(state, inputs):
    return state, {}


def test_what_fits_has_its_shapes_told():
    state, outcome = weighed(stage(FREE // 8, nothing_new), {})
    assert (state.shape, outcome.shape) == ((FREE // 8,), (3,))


def test_shapes_are_found_once_for_the_same_settings_and_numerics(monkeypatch):
    """Whatever settings are: a stage of one's own may have none, or a list of them."""
    found = []
    monkeypatch.setattr(experiment, "_known_shapes", {})
    monkeypatch.setattr(experiment, "weighed", lambda stage, inputs: found.append(stage.settings))
    for settings in (None, None, [1], {"seed": 1, "size": 2}, {"seed": 2, "size": 2}):
        experiment._shapes(stage(1, nothing_new, settings), {})
    assert found == [None, [1], {"seed": 1, "size": 2}]
    with jax.enable_x64(True):
        experiment._shapes(stage(1, nothing_new, None), {})
    assert found[3:] == [None]


def test_a_state_is_there_before_a_chunk_and_after_it():
    with pytest.raises(DoesNotFit, match=r"about 1\.0 GB are needed for the state of it, .*; make units smaller"):
        weighed(stage(FREE // 8 + 1, nothing_new), {})


def stacks_up(number):
    """A loop within a loop that leaves so many floats behind."""
    inner = lambda: jax.lax.scan(lambda x, _: (x, jnp.zeros(1000)), 0.0, length=number // 1000)[1]
    return jax.lax.scan(lambda x, _: (x + jnp.max(inner()), None), 0.0, length=5)[0]


def multiplies(number):
    side = jnp.ones((int(number**0.5), 1))
    return jnp.max(side @ side.T)


WORK = {
    "a loop": stacks_up,
    "a product": multiplies,
    "chance": lambda n: jnp.max(jax.random.bits(jax.random.key(0), n)),
}


@pytest.mark.parametrize("work", WORK)
def test_what_a_chunk_writes_down_counts(work):
    go_on = lambda number: lambda state, inputs: (state, {"most": WORK[work](number)})
    weighed(stage(1, go_on(FREE // 5)), {})
    with pytest.raises(DoesNotFit, match=r"are needed for a chunk of it, .*; make games smaller"):
        weighed(stage(1, go_on(FREE // 3)), {})


def test_what_the_compiler_need_not_write_down_does_not_count():
    weighed(stage(1, lambda state, inputs: (state, {"most": jnp.max(jnp.sin(jnp.arange(0.0, 1e9)))})), {})


def test_what_it_is_given_counts():
    given = {"first": jax.ShapeDtypeStruct((FREE // 4,), jnp.float32)}
    with pytest.raises(DoesNotFit, match="a chunk of it"):
        weighed(stage(1, nothing_new), given)


def test_what_cannot_even_be_counted_is_refused():
    def go_on(state, inputs):
        raise OverflowError

    with pytest.raises(DoesNotFit, match="it is larger than a program can count; make units or games smaller"):
        weighed(stage(1, go_on), {})


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (("policy.num_envs=10000000",), "for a chunk of policy, .*; make policy.num_envs smaller"),
        (("sizes.policy_hidden=[100000,100000]",), "for the state of policy, .*; make the layers in sizes"),
    ],
)
def test_a_matrix_game_that_does_not_fit(settings, sentence):
    config = changed(matrix_game.FAST, settings)
    with pytest.raises(DoesNotFit, match=sentence):
        weighed(training_of("policy", config, all_replicates((0.1,), (0,))), {})


def test_a_grid_that_does_not_fit(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: FREE // 10)
    study = changed(salesman.FAST, ("task.game.size=200",))
    with pytest.raises(DoesNotFit, match=r"the table of all pairs of a 200x200 grid, .*; make task.game.size smaller"):
        weighed(cloning_of(study, 0), {})
    with pytest.raises(DoesNotFit, match="the exact tables of a 200x200 grid with 4 subgoals"):
        weighed(joint_optimum_of(study, study.task.oracle), {})
    seen_as_the_paper_does = replace(study.task, pairs="absolute", game=replace(study.task.game, size=60))
    with pytest.raises(DoesNotFit, match="or see pairs as relative"):
        new_policy(jax.random.key(0), seen_as_the_paper_does)
