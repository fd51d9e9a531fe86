"""Whatever happens to a file is noticed and named; the newest good checkpoint is used, and no result is ever wrong."""

import json
import random
import re
import shutil

import numpy as np
import pytest
import safetensors.numpy

from coadapt.cli import main
from coadapt.runs.executor import Worker
from coadapt.runs.interruption import Interrupted
from coadapt.storage import runs, trees
from coadapt.storage.files import StorageError
from coadapt.storage.sealed import checksum, read_sealed, write_sealed
from tests.runs.toy import ToyConfig, bits, run_toy

CASES = 240
DAMAGES = ("truncated", "bit flipped", "missing")
FILES = (
    "run/run.json",
    "run/config.json",
    "run/checkpoints/*.json",
    "run/checkpoints/*.safetensors",
    "artefacts/*/outcome.json",
    "artefacts/*/outcome.safetensors",
)


@pytest.fixture(scope="module")
def stopped_once(tmp_path_factory):
    """A run in the middle of its second stage, with three checkpoints of it and the artefact of the first."""
    root = tmp_path_factory.mktemp("stopped")
    record = Worker._record

    def stopping(self, stage, *chunk):
        record(self, stage, *chunk)
        if stage.name == "second" and self.done == 3:
            self.interruption.signal = 2

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Worker, "_record", stopping)
        with pytest.raises(Interrupted):
            run_toy(root / "run")
    assert len(list((root / "run/checkpoints").glob("second-*.json"))) == 3
    return root


@pytest.fixture
def stopped(stopped_once, tmp_path):
    """The same, with a copy of it in the test's own folder to do harm to."""
    for name in ("run", "artefacts"):
        shutil.copytree(stopped_once / name, tmp_path / name)
    return stopped_once


def harm(path, damage, chance):
    if damage == "missing":
        path.unlink()
        return
    data = bytearray(path.read_bytes())
    if damage == "truncated":
        del data[chance.randrange(len(data)) :]
    else:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def heard_of(folder):
    """What was said by a run that went on, or why it did not."""
    try:
        return run_toy(folder), None
    except StorageError as problem:
        return [], str(problem)


def same_json(one, other):
    try:
        return json.loads(one.read_bytes()) == json.loads(other.read_bytes())
    except ValueError:
        return False


@pytest.mark.parametrize("number", range(CASES))
def test_damage_is_named_and_never_changes_a_result(whole, stopped, tmp_path, number):
    chance = random.Random(number)
    pattern, damage = FILES[number % len(FILES)], DAMAGES[number // len(FILES) % len(DAMAGES)]
    file = chance.choice(sorted(tmp_path.glob(pattern)))
    original = stopped / file.relative_to(tmp_path)
    harm(file, damage, chance)
    heard, problem = heard_of(tmp_path / "run")
    if problem is not None:
        assert file.name in problem
        assert file.name in ("run.json", "config.json")  # without these two nobody can say what should be run
        return
    if not (file.name == "config.json" and same_json(file, original)):  # 1e-5 for 1E-5 is no damage
        assert any(file.name in line for line in heard)
    expected = bits(whole)
    if file.stem == "first-000004":  # of a finished stage, and set aside
        del expected["run/checkpoints/first-000004.safetensors"]
    assert bits(tmp_path / "run") == expected


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", ["json", "safetensors"])
def test_the_newest_good_checkpoint_is_used(whole, stopped, tmp_path, kind, damage):
    for done in (3, 2):
        harm(tmp_path / f"run/checkpoints/second-00000{done}.{kind}", damage, random.Random(0))
    heard = run_toy(tmp_path / "run")
    assert [line for line in heard if "second-000003" in line]
    assert [line for line in heard if "second-000002" in line]
    assert "second: going on after 5 of 20 iterations." in heard
    assert damage == "missing" or list((tmp_path / "run/checkpoints").glob("*.damaged"))
    assert bits(tmp_path / "run") == bits(whole)


def test_with_no_good_checkpoint_left_the_stage_begins_anew(whole, stopped, tmp_path):
    for file in (tmp_path / "run/checkpoints").glob("second-*.safetensors"):
        file.write_bytes(b"")
    heard = run_toy(tmp_path / "run")
    assert sum("0 bytes" in line for line in heard) == 3
    assert bits(tmp_path / "run") == bits(whole)


def test_a_lost_artefact_comes_back_from_the_last_checkpoint_without_training(stopped, tmp_path):
    shutil.rmtree(tmp_path / "artefacts")
    heard = run_toy(tmp_path / "run")
    assert "first: going on after 20 of 20 iterations." in heard


@pytest.mark.parametrize("line", [b"{not json\n", b"\xff\xfe\n", b"[1, 2]\n", b"\n", b'{"done": "3"}\n', b"{}\n"])
def test_a_bad_metrics_line_is_reported_and_does_not_stop_the_run(whole, stopped, tmp_path, line):
    files = [tmp_path / f"run/metrics/{stage}.jsonl" for stage in ("first", "second")]
    for file in files:
        lines = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(b"".join([*lines[:2], line, *lines[2:]]))
    heard = run_toy(tmp_path / "run")
    for file in files:
        assert any(f"line 3 of {file} cannot be read" in text for text in heard)
    assert bits(tmp_path / "run") == bits(whole)


def test_a_metrics_line_that_is_lost_is_reported_and_that_of_a_finished_stage_comes_back(whole, stopped, tmp_path):
    first, second = (tmp_path / f"run/metrics/{stage}.jsonl" for stage in ("first", "second"))
    for file in (first, second):
        file.write_bytes(file.read_bytes().split(b"\n", 1)[1])
    heard = run_toy(tmp_path / "run")
    assert f"{second}: lines are missing or were changed after they were written." in heard
    assert first.read_bytes() == (whole / "metrics/first.jsonl").read_bytes()
    assert second.read_bytes() == (whole / "metrics/second.jsonl").read_bytes().split(b"\n", 1)[1]


def test_a_line_that_was_cut_off_by_a_kill_is_no_damage(whole, stopped, tmp_path):
    with (tmp_path / "run/metrics/second.jsonl").open("ab") as file:
        file.write(b'{"do')
    assert not any("metrics" in line for line in run_toy(tmp_path / "run"))
    assert bits(tmp_path / "run") == bits(whole)


def test_half_written_files_are_swept_up(stopped, tmp_path):
    for place in ("run", "run/checkpoints"):
        (tmp_path / place / ".something.99999.part").write_bytes(b"half")
    run_toy(tmp_path / "run", ToyConfig())
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize("name", ["state.json", "provenance.json", "times.jsonl", "log.txt"])
@pytest.mark.parametrize("text", ["", "[]", "{}", '{"seconds": "x", "progress": "half", "state": 3}\n', "\0", None])
def test_nobody_stumbles_over_files_that_are_only_good_to_have(whole, stopped, tmp_path, capsys, name, text):
    file = tmp_path / "run" / name
    file.unlink() if text is None else file.write_text(text)
    for command in (["list", "--root", str(tmp_path)], ["show", str(tmp_path / "run")]):
        main(["runs", *command])
    assert "toy" in capsys.readouterr().out
    run_toy(tmp_path / "run")
    assert bits(tmp_path / "run") == bits(whole)


@pytest.mark.parametrize(
    ("file", "changes", "words"),
    [
        ("run.json", {"origins": []}, "run.json does not say what it should under 'origins'"),
        ("run.json", {"id": None}, "run.json does not say what it should under 'id'"),
        ("run.json", {"version": 9}, "is a run of version 9; this coadapt knows version 1"),
        ("checkpoints/second-000003.json", {"about": {}}, "second-000003.json does not say what it should under"),
        ("checkpoints/second-000003.json", {"arrays": {"x": {}}}, "second-000003.json has no array"),
        ("checkpoints/second-000003.json", {"version": 9}, "second-000003.json is of version 9 of the format"),
        ("run.json", {"origins": {"first": 3}}, "run.json does not say what it should under 'origins'"),
    ],
)
def test_files_of_another_version_or_forged_are_refused(stopped, tmp_path, file, changes, words):
    path = tmp_path / "run" / file
    write_sealed(path, read_sealed(path) | changes)
    _, problem = heard_of(tmp_path / "run")
    assert problem is not None
    assert words in problem


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"stage": "first"}, "second-000003.json is of 'first' after 3 chunks, which is not its name"),
        ({"stage": "../second"}, "which is not its name"),
        ({"done": -3}, "which is not its name"),
        ({"done": 4}, "second-000003.json is of 'second' after 4 chunks, which is not its name"),
        ({"done": True}, "does not say what it should under 'done'"),
        ({"done": 3.0}, "does not say what it should under 'done'"),
        ({"chunks": 2}, "is of 3 of 2 chunks of 5 iterations, which cannot be"),
        ({"chunks": 10**18}, f"is of {10**18} chunks of 5 iterations and not 4 chunks of 5 iterations"),
        ({"iterations": 0}, "is of 3 of 4 chunks of 0 iterations, which cannot be"),
        ({"iterations": 6}, "is of 4 chunks of 6 iterations and not 4 chunks of 5 iterations"),
        ({"replicates": [1, 2, 3]}, "does not say what it should under 'replicates'"),
        ({"replicates": ["somebody"]}, "is of somebody and not walker 0; walker 1; walker 2"),
    ],
)
def test_a_checkpoint_that_cannot_be_is_refused(stopped, tmp_path, fields, words):
    """Whatever a manifest says has to fit the name of its file and what is to be made."""
    path = tmp_path / "run/checkpoints/second-000003.json"
    manifest = read_sealed(path)
    write_sealed(path, manifest | {"about": manifest["about"] | fields})
    _, problem = heard_of(tmp_path / "run")
    assert problem is not None
    assert re.search(words, problem)


def test_a_checkpoint_whose_numbers_are_not_finite_is_refused(stopped, tmp_path):
    path = tmp_path / "run/checkpoints/second-000003"
    arrays = safetensors.numpy.load(trees.arrays_file(path).read_bytes())
    data = safetensors.numpy.save(arrays | {"states/place": np.full_like(arrays["states/place"], np.nan)})
    trees.arrays_file(path).write_bytes(data)
    manifest = read_sealed(trees.manifest_file(path))
    write_sealed(trees.manifest_file(path), manifest | {"bytes": len(data), "sha256": checksum(data)})
    _, problem = heard_of(tmp_path / "run")
    assert problem is not None
    assert "second-000003.safetensors has an array 'place' with numbers that are not finite" in problem


@pytest.mark.parametrize("seconds", ["1e999", "1e308", "-5.0", "NaN", "1" + "0" * 400, "[]", "true"])
def test_times_that_cannot_be_do_not_count(whole, stopped, tmp_path, seconds):
    with (tmp_path / "run/times.jsonl").open("a") as file:
        file.write(f'{{"stage": "second", "seconds": {seconds}}}\n' * 2)
    run_toy(tmp_path / "run")
    assert bits(tmp_path / "run") == bits(whole)
    made = json.loads((tmp_path / "run/results/provenance.json").read_text())["stages"]
    assert 0 <= made["second"]["seconds"] < runs.LONGEST


@pytest.mark.parametrize(("field", "value"), [("seconds", "long"), ("seconds", []), ("commit", []), ("finished", 7)])
def test_an_artefact_that_does_not_say_how_it_was_made_is_made_again(whole, stopped, tmp_path, field, value):
    (path,) = (tmp_path / "artefacts").glob("first-*/outcome.json")
    manifest = read_sealed(path)
    write_sealed(path, manifest | {"about": manifest["about"] | {field: value}})
    assert any(f"does not say what it should under {field!r}" in line for line in run_toy(tmp_path / "run"))
    assert bits(tmp_path / "run") == bits(whole)


def test_an_artefact_of_another_version_is_made_again(whole, stopped, tmp_path):
    (path,) = (tmp_path / "artefacts").glob("first-*/outcome.json")
    write_sealed(path, read_sealed(path) | {"version": 9})
    heard = run_toy(tmp_path / "run")
    assert any("is of version 9 of the format" in line for line in heard)
    assert bits(tmp_path / "run") == bits(whole)


def test_a_copy_of_a_checkpoint_under_another_name_is_no_checkpoint(whole, stopped, tmp_path):
    for file in list((tmp_path / "run/checkpoints").glob("second-000001.*")):
        shutil.copy(file, file.with_name(file.name.replace("000001", "backup")))
    assert "second: going on after 15 of 20 iterations." in run_toy(tmp_path / "run")


def test_metrics_that_were_changed_are_reported_by_whoever_reuses_them(stopped, tmp_path):
    file = tmp_path / "run/metrics/second.jsonl"
    file.write_text(file.read_text().replace("0.", "9.", 1))
    run_toy(tmp_path / "run")
    heard = run_toy(tmp_path / "other")
    assert "second: some of its metrics were lost or changed while it was made." in heard
