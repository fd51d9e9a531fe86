import os
from pathlib import Path

import jax
import pytest

from coadapt.storage.files import CannotWrite, Damaged, make_folder, read_json, write_json, write_text
from coadapt.storage.journal import read_lines
from coadapt.storage.provenance import provenance
from coadapt.storage.sealed import read_sealed, write_sealed


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    write_text(tmp_path / "a.txt", "old")
    with pytest.raises(TypeError):
        write_json(tmp_path / "a.txt", {"no": object()})
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "a.txt", {"no": float("nan")})
    assert (tmp_path / "a.txt").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_folder_that_cannot_be_made_is_explained(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CannotWrite, match=r"cannot write to the folder .*file/below: Not a directory"):
        make_folder(tmp_path / "file" / "below")


def test_making_a_folder_leaves_nothing_in_it(tmp_path):
    assert list(make_folder(tmp_path / "new" / "folder").iterdir()) == []


@pytest.mark.parametrize("text", ["", "{", '{"a": 1', "\x00", "[" * 100_000, "nonsense"])
def test_what_is_not_json_is_damaged_and_named(tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(Damaged, match=r"a\.json is not readable as JSON"):
        read_json(tmp_path / "a.json")


def test_what_is_not_there_or_not_readable_is_damaged_and_named(tmp_path):
    with pytest.raises(Damaged, match=r"a\.json is missing"):
        read_json(tmp_path / "a.json")
    with pytest.raises(Damaged, match="cannot be read: Is a directory"):
        read_json(tmp_path)


def sparse(file):
    with file.open("wb") as hole:
        hole.truncate(200 * 2**30)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (os.mkfifo, "it is not a regular file"),
        (lambda file: file.symlink_to("/dev/zero"), "it is not a regular file"),
        (lambda file: file.symlink_to(file), "Too many levels of symbolic links"),
        (sparse, "it has 214,748,364,800 bytes, and 67,108,864 at the most are expected"),
        (Path.mkdir, "Is a directory"),
    ],
)
def test_what_is_no_file_or_too_large_is_neither_read_nor_waited_for(tmp_path, make, words):
    make(tmp_path / "a.json")
    with pytest.raises(Damaged, match=f"a\\.json cannot be read: {words}"):
        read_json(tmp_path / "a.json")


@pytest.mark.parametrize(
    "text",
    ["1e999", "-1e999", "NaN", "1" + "0" * 400, "-1" + "0" * 30, r'"\ud800"', r'{"\udfff": 1}', "[" * 70 + "]" * 70],
)
def test_what_nobody_could_compute_with_or_write_again_is_no_json_of_ours(tmp_path, text):
    (tmp_path / "a.json").write_text(f"[{text}]")
    with pytest.raises(Damaged, match=r"a\.json is not readable as JSON"):
        read_json(tmp_path / "a.json")
    (tmp_path / "a.jsonl").write_text(f'{{"number": {text}}}\n{{"number": 1}}\n')
    assert [line.record for line in read_lines(tmp_path / "a.jsonl")] == [None, {"number": 1}]


def test_numbers_and_characters_of_all_kinds_come_back(tmp_path):
    data = {"numbers": [0, -1, 2**62, 1e300, -0.5, 5e-324], "text": "é 日本 😀", "levels": [[[[{}]]]]}
    write_json(tmp_path / "a.json", data)
    assert read_json(tmp_path / "a.json") == data


def test_a_seal_breaks_at_any_change(tmp_path):
    file = tmp_path / "a.json"
    write_sealed(file, {"name": "x", "number": 0.1, "list": [1, 2]})
    assert read_sealed(file) == {"name": "x", "number": 0.1, "list": [1, 2]}
    written = file.read_text()
    for changed in (
        written.replace("0.1", "0.2"),
        written.replace('"x"', '"y"'),
        written.replace(" ", "  ", 1),
        written.replace('"list"', '"lisp"'),
        written + "\n",
        "{}",
        "[]",
    ):
        file.write_text(changed)
        with pytest.raises(Damaged, match=r"a\.json (was changed|has no seal)"):
            read_sealed(file)


def test_provenance_names_code_versions_and_machine(monkeypatch):
    monkeypatch.setenv("PJRT_NPROC", "7")
    told = provenance()
    assert set(told) == {"commit", "python", "packages", "numerics", "machine", "command"}
    assert told["packages"]["jax"]
    assert told["numerics"]["jax_enable_x64"] == "False"
    machine = told["machine"]
    assert (machine["platform"], machine["device"]) == (jax.devices()[0].platform, jax.devices()[0].device_kind)
    assert machine["usable_cores"] <= machine["cores"]
    assert machine["threads"] == 7
    monkeypatch.setenv("PJRT_NPROC", "all")
    assert provenance()["machine"]["threads"] == machine["usable_cores"]
