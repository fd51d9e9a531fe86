import json
from dataclasses import dataclass

import numpy as np
import pytest
from coadapt.storage.results import make_folder, provenance, write_json, write_text


@dataclass(frozen=True)
class Inner:
    sizes: tuple[int, ...] = (1, 2)


@dataclass(frozen=True)
class Outer:
    inner: Inner
    rate: float = 0.5


def test_json_of_nested_dataclasses_arrays_and_missing_numbers(tmp_path):
    write_json(tmp_path / "a.json", {"config": Outer(Inner()), "numbers": np.array([1.5, np.nan]), "n": np.int32(3)})
    assert json.loads((tmp_path / "a.json").read_text()) == {
        "config": {"inner": {"sizes": [1, 2]}, "rate": 0.5},
        "numbers": [1.5, None],
        "n": 3,
    }


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    write_text(tmp_path / "a.txt", "old")
    with pytest.raises(TypeError):
        write_json(tmp_path / "a.txt", {"no": object()})
    assert (tmp_path / "a.txt").read_text() == "old"


def test_a_folder_that_cannot_be_made_is_explained(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=r"cannot write to the output folder .*file/below: Not a directory"):
        make_folder(tmp_path / "file" / "below")


def test_making_a_folder_leaves_nothing_in_it(tmp_path):
    assert list(make_folder(tmp_path / "new" / "folder").iterdir()) == []


def test_provenance_names_code_versions_and_machine():
    told = provenance()
    assert set(told) == {"commit", "python", "packages", "machine", "command"}
    assert told["packages"]["jax"]
