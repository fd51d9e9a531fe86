"""A run that is stopped goes on with the same bits; what is finished is shared; what has changed is refused."""

import json
import shutil
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from coadapt.agents.encoders import VectorSpec
from coadapt.agents.recurrent import RecurrentPolicy
from coadapt.encounters import rollout, start_episode
from coadapt.games.game import MAIN
from coadapt.games.matrix import MatrixGame, full_view
from coadapt.partners.dirichlet import DirichletPartners
from coadapt.players import seen_first
from coadapt.runs.executor import Diverged, RunOptions, Worker
from coadapt.runs.interruption import Interrupted
from coadapt.runs.launch import Changed, carry_out
from coadapt.storage import lock, runs, trees
from coadapt.storage.files import Damaged, Incompatible
from coadapt.storage.lock import TakenOver
from tests.runs import toy
from tests.runs.toy import TOY, ToyConfig, bits, run_toy

CHUNKS = 3 * ToyConfig().points


@pytest.fixture
def stop_after(monkeypatch):
    """Carry it out and interrupt it after so many chunks, as Ctrl-C would."""

    def stop(chunks, *run, **options):
        left = [chunks]
        record = Worker._record

        def stopping(self, *chunk):
            record(self, *chunk)
            left[0] -= 1
            if left[0] == 0:
                self.interruption.signal = 2

        monkeypatch.setattr(Worker, "_record", stopping)
        with pytest.raises(Interrupted):
            run_toy(*run, **options)

    return stop


def metrics(folder):
    files = [folder / f"metrics/{stage}.jsonl" for stage in ("first", "second", "look")]
    return [json.loads(line) for file in files if file.exists() for line in file.read_text().splitlines()]


def test_a_run_is_a_folder(whole):
    assert {path.name for path in whole.iterdir()} == {
        *("run.json", "config.json", "provenance.json", "state.json", "metrics", "times.jsonl", "log.txt"),
        *("lock", "checkpoints", "results"),
    }
    assert json.loads((whole / "config.json").read_text()) == {
        "stride": 1.0,
        "pull": 0.5,
        "iterations": 20,
        "points": 4,
        "patience": 0,
        "first_walker": 0,
    }


def test_metrics_have_one_line_a_chunk_and_no_clock(whole):
    lines = metrics(whole)
    assert [(line["done"], line["iteration"]) for line in lines[:5]] == [(1, 5), (2, 10), (3, 15), (4, 20), (1, 5)]
    assert len(lines) == CHUNKS
    assert set(lines[0]) == {"done", "iteration", "place", "loss"}
    assert len(lines[0]["place"]) == 3


@pytest.mark.parametrize("chunks", range(1, CHUNKS))
def test_stopped_anywhere_it_goes_on_with_the_same_bits(whole, tmp_path, stop_after, chunks):
    folder = tmp_path / "run"
    stop_after(chunks, folder)
    assert len(metrics(folder)) == chunks
    assert runs.glance(folder).state == "interrupted"
    assert runs.glance(folder).progress == pytest.approx(chunks / CHUNKS, abs=1e-4)
    run_toy(folder)
    assert bits(folder) == bits(whole)
    assert runs.glance(folder).state == "finished"


def test_stopped_after_every_chunk_it_still_ends_the_same(whole, tmp_path, stop_after):
    folder = tmp_path / "run"
    for _ in range(CHUNKS):
        stop_after(1, folder)
    run_toy(folder)
    assert bits(folder) == bits(whole)


def test_what_is_finished_is_not_made_twice_and_said_so(whole, tmp_path):
    shutil.copytree(whole.parent / "artefacts", tmp_path / "artefacts")
    heard = run_toy(tmp_path / "other")
    assert [line.split(":")[0] for line in heard] == ["first", "second", "look"]
    assert all("reusing" in line for line in heard)
    assert metrics(tmp_path / "other") == metrics(whole)


def test_only_what_depends_on_a_change_is_made_again(whole, tmp_path):
    shutil.copytree(whole.parent / "artefacts", tmp_path / "artefacts")
    heard = run_toy(tmp_path / "other", ToyConfig(pull=0.25))
    assert [line.split(",")[0] for line in heard if "reusing" in line] == [f"first: reusing {first_artefact(whole)}"]
    assert metrics(tmp_path / "other")[:4] == metrics(whole)[:4]
    assert metrics(tmp_path / "other")[4:] != metrics(whole)[4:]


def first_artefact(folder):
    (path,) = (folder.parent / "artefacts").glob("first-*")
    return path.name


def test_fresh_makes_everything_again_and_keeps_the_earlier_run(whole, tmp_path):
    for name in ("run", "artefacts"):
        shutil.copytree(whole.parent / name, tmp_path / name)
    before = (tmp_path / "run/run.json").read_text()
    heard = run_toy(tmp_path / "run", fresh=True)
    assert not any("reusing" in line for line in heard)
    assert (tmp_path / "run-2/run.json").read_text() == before
    assert bits(tmp_path / "run") == bits(whole)


def test_a_fresh_run_that_was_stopped_reuses_only_what_it_made_itself(whole, tmp_path, stop_after):
    shutil.copytree(whole.parent / "artefacts", tmp_path / "artefacts")
    stop_after(6, tmp_path / "run", fresh=True)  # in the middle of the second stage
    heard = run_toy(tmp_path / "run")
    assert [line.split(":")[0] for line in heard if "reusing" in line] == ["first"]
    assert bits(tmp_path / "run") == bits(whole)


def test_a_changed_configuration_is_refused_by_field(tmp_path, stop_after):
    stop_after(2, tmp_path / "run")
    with pytest.raises(Changed, match=r"pull was 0\.5 and is 0\.25, points was 4 and is 2; .* --init-from"):
        run_toy(tmp_path / "run", ToyConfig(pull=0.25, points=2))
    run_toy(tmp_path / "run")


def test_a_configuration_edited_in_the_folder_is_refused_by_field(tmp_path, stop_after):
    stop_after(2, tmp_path / "run")
    config = tmp_path / "run/config.json"
    config.write_text(config.read_text().replace("0.5", "0.25"))
    with pytest.raises(Changed, match=r"config\.json was changed since it began: pull was 0\.5 and is 0\.25"):
        run_toy(tmp_path / "run")


def test_a_run_of_something_else_is_refused(whole):
    other = replace(TOY, name="another")
    with pytest.raises(Incompatible, match="is a run of toy, not of another"):
        carry_out(other, ToyConfig(), whole)


def test_a_folder_with_other_things_in_it_is_refused(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(Incompatible, match=r"holds thesis\.tex but no run\.json"):
        run_toy(tmp_path)


def checkpoint(folder, name) -> dict[str, Any]:
    return {"init_from": (folder / "checkpoints" / name,)}


def test_a_new_run_goes_on_from_a_checkpoint_under_other_settings(whole, tmp_path, stop_after):
    """With another pull the second walk starts where the first settings had led it by its second chunk."""
    stop_after(6, tmp_path / "run")
    from_second = checkpoint(tmp_path / "run", "second-000002")
    heard = run_toy(tmp_path / "new", ToyConfig(pull=0.25), **from_second)
    assert [line.split(",")[0] for line in heard][1:2] == ["second: going on after 10 of 20 iterations."]
    assert metrics(tmp_path / "new")[:6] == metrics(whole)[:6]
    assert len(metrics(tmp_path / "new")) == CHUNKS
    assert metrics(tmp_path / "new")[6:] != metrics(whole)[6:]
    run_toy(tmp_path / "straight", ToyConfig(pull=0.25))
    stored = sorted(path.name for path in (tmp_path / "artefacts").glob("second-*"))
    assert len(stored) == 2  # what went on from a checkpoint is not taken for what was trained from the start
    run_toy(tmp_path / "run")
    assert metrics(tmp_path / "run") == metrics(whole)


def test_a_stage_is_named_by_the_checkpoint_it_went_on_from(tmp_path, stop_after):
    """Under the same settings: from one chunk, and from two, it has a name each; from the same one, the same name."""
    stop_after(2, tmp_path / "run")
    for name, chunks in {"one": 1, "two": 2, "again": 1}.items():
        run_toy(tmp_path / name, **checkpoint(tmp_path / "run", f"first-00000{chunks}"))
    assert runs.read(tmp_path / "again").origins == runs.read(tmp_path / "one").origins
    assert len(list((tmp_path / "artefacts").glob("first-*"))) == 2


def test_stopped_and_begun_again_by_the_same_command_it_goes_on(tmp_path, stop_after):
    stop_after(2, tmp_path / "run")
    from_first = checkpoint(tmp_path / "run", "first-000002")
    stop_after(1, tmp_path / "new", ToyConfig(stride=2.0), **from_first)
    heard = run_toy(tmp_path / "new", ToyConfig(stride=2.0), **from_first)
    assert heard[0] == "first: going on after 15 of 20 iterations."
    assert len(metrics(tmp_path / "new")) == CHUNKS


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (ToyConfig(points=2), "first-000002 is of 4 chunks of 5 iterations and not 2 chunks of 10 iterations"),
        (ToyConfig(iterations=80), "first-000002 is of 4 chunks of 5 iterations and not 4 chunks of 20 iterations"),
        (ToyConfig(first_walker=1), "first-000002 is of walker 0; walker 1; walker 2 and not walker 1; walker 2; "),
    ],
)
def test_a_checkpoint_of_another_size_is_refused_and_leaves_nothing(tmp_path, stop_after, config, sentence):
    stop_after(2, tmp_path / "run")
    with pytest.raises(Incompatible, match=sentence):
        run_toy(tmp_path / "new", config, **checkpoint(tmp_path / "run", "first-000002"))
    assert not (tmp_path / "new").exists()


def test_a_checkpoint_of_no_stage_is_refused(tmp_path, stop_after):
    stop_after(6, tmp_path / "run")
    without = replace(TOY, stages=lambda config: toy.stages(config)[:1])
    with pytest.raises(Incompatible, match="second-000002 is of second, which is no stage here"):
        carry_out(without, ToyConfig(), tmp_path / "new", RunOptions(**checkpoint(tmp_path / "run", "second-000002")))


def test_a_run_that_is_there_does_not_begin_with_other_checkpoints(tmp_path, stop_after):
    stop_after(2, tmp_path / "run")
    with pytest.raises(Incompatible, match="run did not begin with these checkpoints; choose another run"):
        run_toy(tmp_path / "run", **checkpoint(tmp_path / "run", "first-000002"))


def test_a_stage_whose_first_checkpoint_is_lost_is_not_made_from_nothing_under_its_name(tmp_path, stop_after):
    stop_after(2, tmp_path / "run")
    stop_after(1, tmp_path / "new", ToyConfig(stride=2.0), **checkpoint(tmp_path / "run", "first-000002"))
    for file in (tmp_path / "new/checkpoints").iterdir():
        file.unlink()
    with pytest.raises(Damaged, match=r"first of .*new has lost the checkpoint it began with"):
        run_toy(tmp_path / "new", ToyConfig(stride=2.0))


def test_under_other_code_what_is_finished_can_be_taken_along(whole, tmp_path, stop_after, monkeypatch):
    stop_after(6, tmp_path / "run")
    monkeypatch.setattr("coadapt.runs.experiment.fingerprint", lambda module: "other code")
    both = tuple(tmp_path / "run/checkpoints" / name for name in ("first-000004", "second-000002"))
    run_toy(tmp_path / "new", init_from=both)
    assert metrics(tmp_path / "new") == metrics(whole)
    assert set(runs.read(tmp_path / "new").origins) == {"first", "second"}


def test_an_artefact_under_a_false_name_is_not_used(whole, tmp_path):
    shutil.copytree(whole.parent / "artefacts", tmp_path / "artefacts")
    run_toy(tmp_path / "other", ToyConfig(pull=0.25))
    one, other = sorted((tmp_path / "artefacts").glob("second-*"))
    for source, to in ((one, "x"), (other, one.name), (tmp_path / "artefacts/x", other.name)):
        source.rename(tmp_path / "artefacts" / to)
    heard = run_toy(tmp_path / "run")
    assert any(
        f"is for artefact '{other.name}', not '{one.name}'" in line or "is for artefact" in line for line in heard
    )
    assert metrics(tmp_path / "run") == metrics(whole)


def test_weights_that_are_not_finite_are_never_kept_even_if_the_loss_is(tmp_path, monkeypatch):
    """The walk leaves the numbers in its very last chunk, after its loss was taken."""
    monkeypatch.setattr(toy, "LOST_AT", 19)
    monkeypatch.setattr(toy, "TOY", replace(TOY, stages=toy.stages.__wrapped__))
    with pytest.raises(
        Diverged, match="a weight of first is not finite after 20 iterations; the last good checkpoint, of"
    ):
        run_toy(tmp_path / "run")
    assert not list((tmp_path / "artefacts").glob("first-*"))


def test_what_happens_outside_the_stages_is_remembered_too(tmp_path, monkeypatch):
    def fails(*_):
        raise RuntimeError("no ink")

    with pytest.raises(RuntimeError, match="no ink"):
        carry_out(replace(TOY, report=fails), ToyConfig(), tmp_path / "run")
    seen = runs.glance(tmp_path / "run")
    assert (seen.state, seen.note, seen.progress) == ("failed", "no ink", 1.0)
    run_toy(tmp_path / "run")


def test_code_that_has_changed_is_refused(tmp_path, stop_after, monkeypatch):
    stop_after(2, tmp_path / "run")
    monkeypatch.setattr("coadapt.runs.experiment.fingerprint", lambda module: "other code")
    changed = "the code that makes first has changed since its checkpoint; --fresh makes everything again, --init-from"
    with pytest.raises(Incompatible, match=f"{changed} {tmp_path}/run/checkpoints/first-000002 goes on in a new run"):
        run_toy(tmp_path / "run")


def test_a_compiler_that_is_set_otherwise_is_named(tmp_path, stop_after, monkeypatch):
    """Its numbers may be other ones, so its outcomes have names of their own."""
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=false --xla_dump_hlo_as_text=false")
    stop_after(2, tmp_path / "run")
    monkeypatch.setenv("XLA_FLAGS", "")
    with pytest.raises(
        Incompatible,
        match=r"^XLA_FLAGS was --xla_cpu_enable_fast_math=false when the checkpoint of first was made; --fresh",
    ):
        run_toy(tmp_path / "run")


def test_a_loss_that_is_no_number_stops_the_run_at_its_last_good_checkpoint(tmp_path, stop_after, monkeypatch):
    stop_after(2, tmp_path / "run")
    monkeypatch.undo()
    with pytest.raises(Diverged) as stop:
        run_toy(tmp_path / "new", ToyConfig(stride=1e30), **checkpoint(tmp_path / "run", "first-000002"))
    assert str(stop.value) == (
        "loss of first is inf after 15 iterations (walker 0); the last good checkpoint, of iteration 10, is "
        f"{tmp_path}/new/checkpoints/first-000002; look at stride"
    )
    seen = runs.glance(tmp_path / "new")
    assert (seen.state, seen.note) == ("failed", str(stop.value))
    assert [path.name for path in (tmp_path / "new/checkpoints").glob("*.json")] == ["first-000002.json"]
    assert metrics(tmp_path / "new")[-1]["loss"] == [None] * 3  # as far as it came, to look at


def test_two_writers_where_no_lock_holds(whole, tmp_path, monkeypatch):
    """In the middle of the second stage another machine comes, works on the same run and finishes it."""
    monkeypatch.setattr(lock, "lock_descriptor", lambda *_, **__: True)
    record, folder, said = Worker._record, tmp_path / "run", []

    def overtaken(self, stage, *chunk):
        record(self, stage, *chunk)
        if stage.name == "second" and self.done == 2:
            monkeypatch.setattr(Worker, "_record", record)
            with monkeypatch.context() as elsewhere:
                elsewhere.setattr("socket.gethostname", lambda: "elsewhere")
                said.extend(run_toy(folder))

    monkeypatch.setattr(Worker, "_record", overtaken)
    with pytest.raises(TakenOver, match=r"run was taken over by another process, for no lock holds"):
        run_toy(folder)
    assert said[0] == f"No lock holds where {folder} lies; see to it that no other process works on it."
    assert bits(folder) == bits(whole)
    assert runs.glance(folder).state == "finished"


def test_lines_that_somebody_else_writes_stop_a_run_and_are_not_kept(whole, tmp_path, monkeypatch):
    record, folder = Worker._record, tmp_path / "run"

    def disturbed(self, stage, *chunk):
        record(self, stage, *chunk)
        if stage.name == "second" and self.done == 2:
            lines = self.run.metrics("second").read_bytes().splitlines(keepends=True)
            with self.run.metrics("second").open("ab") as file:
                file.write(lines[-1])

    monkeypatch.setattr(Worker, "_record", disturbed)
    with pytest.raises(Damaged, match=r"second\.jsonl was written by somebody else, too"):
        run_toy(folder)
    monkeypatch.undo()
    run_toy(folder)
    assert [line["done"] for line in metrics(folder)] == [line["done"] for line in metrics(whole)]


def test_games_in_flight_go_on_where_they_were(tmp_path, key):
    """Seventeen steps of ten-step games with a recurrent player: stored after eight and loaded, they end the same."""
    game = MatrixGame()
    seen = seen_first(game, game.reset(key), MAIN)
    agent = RecurrentPolicy(jax.random.key(1), VectorSpec(full_view), seen, units=4, hidden=(4,), actions=5)
    partners = DirichletPartners(jnp.full(5, 0.3)).draw(jax.random.key(2), 6)

    def on(episodes, partners, steps):
        go = lambda episode, partner: rollout(episode, game, (agent, partner), steps)
        return jax.vmap(go)(episodes, partners)

    episodes = jax.vmap(lambda k, partner: start_episode(k, game, (agent, partner)))(
        jax.random.split(key, 6), partners.players
    )
    episodes, _ = on(episodes, partners.players, 8)
    trees.save(tmp_path / "in_flight", {"episodes": episodes, "partners": partners}, {})
    like = jax.eval_shape(lambda: {"episodes": episodes, "partners": partners})
    stored = trees.load(tmp_path / "in_flight", like)
    uninterrupted, _ = on(episodes, partners.players, 9)
    resumed, _ = on(stored["episodes"], stored["partners"].players, 9)
    for one, other in zip(jax.tree.leaves(uninterrupted), jax.tree.leaves(resumed), strict=True):
        assert numbers(one) == numbers(other)


def numbers(leaf):
    return (jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf).tolist()


def test_every_reference_to_a_stage_is_by_all_it_depends_on(tmp_path, monkeypatch):
    """The same configuration under other code has other names; comments and docstrings make no difference."""
    from coadapt.runs.experiment import plan

    names = lambda config: [each.artefact for each in plan(TOY, config, {})]
    before = names(ToyConfig())
    assert names(ToyConfig(pull=0.1))[0] == before[0]
    assert all(a != b for a, b in zip(names(ToyConfig(pull=0.1))[1:], before[1:], strict=True))
    monkeypatch.setattr("coadapt.runs.experiment.fingerprint", lambda module: "other code")
    assert all(a != b for a, b in zip(names(ToyConfig()), before, strict=True))
