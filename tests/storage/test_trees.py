"""Arrays come back as they went, and only where they belong."""

import json
import os
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from coadapt.agents.beliefs import LearnedBelief
from coadapt.agents.encoders import VectorSpec
from coadapt.games.game import MAIN
from coadapt.games.matrix import MatrixGame, partner_watch
from coadapt.players import seen_first
from coadapt.storage import trees
from coadapt.storage.files import Damaged, Incompatible
from coadapt.storage.sealed import checksum, read_sealed, write_sealed


class State(NamedTuple):
    key: Any
    network: Any
    step: Any
    flags: Any


@pytest.fixture
def state(key):
    seen = seen_first(MatrixGame(), MatrixGame().reset(key), MAIN)
    belief = LearnedBelief(key, VectorSpec(partner_watch), seen, units=4, hidden=(3,), labels=5)
    return State(jax.random.split(key, 3), belief, np.int32(7), {"done": jnp.array([True, False]), "none": ()})


def like(tree):
    return jax.eval_shape(lambda: tree)


def leaves(tree):
    numbers = lambda x: jax.random.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x
    return [(str(leaf.dtype), np.asarray(numbers(leaf)).tolist()) for leaf in jax.tree.leaves(tree)]


def test_a_tree_with_keys_networks_and_flags_comes_back(tmp_path, state):
    trees.save(tmp_path / "state", state, {"stage": "policy"})
    loaded = trees.load(tmp_path / "state", like(state), {"stage": "policy"})
    assert jax.tree.structure(loaded) == jax.tree.structure(state)
    assert leaves(loaded) == leaves(state)
    assert jax.random.split(loaded.key[0]).shape == (2,)


@settings(max_examples=50)
@given(
    array=arrays.arrays(
        st.sampled_from([np.float32, np.int32, np.uint32, np.bool_, np.float64, np.int8, np.float16]),
        arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    )
)
def test_every_bit_of_any_array_comes_back(tmp_path_factory, array):
    path = tmp_path_factory.mktemp("any") / "tree"
    trees.save(path, {"a": array.T}, {})
    loaded = trees.load(path, {"a": array.T})["a"]
    assert (loaded.dtype, loaded.shape, loaded.tobytes()) == (array.dtype, array.T.shape, array.T.tobytes())


def test_the_same_tree_is_the_same_file(tmp_path, state):
    for name in ("one", "other"):
        trees.save(tmp_path / name, state, {})
    one, other = (tmp_path / f"{name}.safetensors" for name in ("one", "other"))
    assert one.read_bytes() == other.read_bytes()


WEIGHTS = {"weight": np.ones((2, 3), np.float32), "bias": np.zeros(3, np.float32)}
ABOUT = {"game": "matrix", "labels": ["novice", "skilled"], "kind": "behaviour-conditioned"}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"game": "salesman"}, "is for game 'matrix', not 'salesman'"),
        ({"labels": ["novice", "expert"]}, r"is for labels \['novice', 'skilled'\], not \['novice', 'expert'\]"),
        ({"size": 11}, "is for size None, not 11"),
    ],
)
def test_weights_for_something_else_are_refused(tmp_path, asked, words):
    trees.save(tmp_path / "w", WEIGHTS, ABOUT)
    with pytest.raises(Incompatible, match=words):
        trees.load(tmp_path / "w", WEIGHTS, asked)
    assert trees.load(tmp_path / "w", WEIGHTS, ABOUT)["bias"].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        (WEIGHTS | {"weight": np.ones((2, 4), np.float32)}, r"'weight' of float32\[2, 3\], where float32\[2, 4\] is"),
        (WEIGHTS | {"bias": np.zeros(3, np.int32)}, r"'bias' of float32\[3\], where int32\[3\] is expected"),
        (WEIGHTS | {"more": np.ones(1)}, "has no array 'more'"),
        ({"weight": WEIGHTS["weight"]}, "has an array 'bias', for which there is no place"),
    ],
)
def test_weights_of_another_size_are_refused(tmp_path, expected, words):
    trees.save(tmp_path / "w", WEIGHTS, ABOUT)
    with pytest.raises(Incompatible, match=words):
        trees.load(tmp_path / "w", expected)


def forged(path, **changes):
    """A manifest that somebody sealed by hand."""
    manifest = read_sealed(trees.manifest_file(path)) | changes
    write_sealed(trees.manifest_file(path), {name: value for name, value in manifest.items() if value is not None})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"version": 2}, "is of version 2 of the format; this coadapt reads version 1"),
        ({"format": "something"}, "does not describe arrays stored by coadapt"),
        ({"arrays": None}, "does not say what it should under 'arrays'"),
        ({"about": []}, "does not say what it should under 'about'"),
        ({"bytes": "many"}, "does not say what it should under 'bytes'"),
        ({"arrays": {"weight": 3, "bias": None}}, "has an array 'bias' of None, where"),
    ],
)
def test_a_manifest_that_is_not_ours_is_refused(tmp_path, changes, words):
    trees.save(tmp_path / "w", WEIGHTS, ABOUT)
    forged(tmp_path / "w", **changes)
    with pytest.raises(Incompatible, match=words):
        trees.load(tmp_path / "w", WEIGHTS)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff" * 8,
        b"\xff" * 100,
        (2**62).to_bytes(8, "little") + b"{}",
        b"\x80\x04K\x01.",
        b"\x02" + b"\0" * 7 + b"{}",
    ],
)
def test_arrays_that_are_something_else_are_refused_even_with_a_fitting_checksum(tmp_path, data):
    trees.save(tmp_path / "w", WEIGHTS, ABOUT)
    (tmp_path / "w.safetensors").write_bytes(data)
    forged(tmp_path / "w", bytes=len(data), sha256=checksum(data))
    with pytest.raises((Damaged, Incompatible), match=r"w\.safetensors"):
        trees.load(tmp_path / "w", WEIGHTS)


def test_arrays_of_another_size_are_not_read(tmp_path, monkeypatch):
    """200 GB of nothing: the file is as large as its manifest says, or larger; there is no memory for either."""
    trees.save(tmp_path / "w", WEIGHTS, ABOUT)
    monkeypatch.setattr(trees, "checksum", lambda data: pytest.fail("it was read"))
    os.truncate(tmp_path / "w.safetensors", 200 * 2**30)
    with pytest.raises(Damaged, match=r"w\.safetensors has 214,748,364,800 bytes where \d+ were written"):
        trees.load(tmp_path / "w", WEIGHTS)
    monkeypatch.setattr(trees, "all_memory", lambda: 100 * 2**30)
    forged(tmp_path / "w", bytes=200 * 2**30)
    with pytest.raises(
        Incompatible, match=r"speaks of 214,748,364,800 bytes of arrays, more than this machine can hold"
    ):
        trees.load(tmp_path / "w", WEIGHTS)


@pytest.mark.parametrize("size", [-1, 0, True, 10**18])
def test_a_size_that_cannot_be_is_refused(tmp_path, size):
    trees.save(tmp_path / "w", WEIGHTS, ABOUT)
    forged(tmp_path / "w", bytes=size)
    with pytest.raises((Damaged, Incompatible), match=r"w\.(json|safetensors)"):
        trees.load(tmp_path / "w", WEIGHTS)


def test_a_type_that_numpy_does_not_know_is_refused(tmp_path):
    trees.save(tmp_path / "w", WEIGHTS, ABOUT)
    file = tmp_path / "w.safetensors"
    data = file.read_bytes().replace(b'"F32"', b'"F8_E5M2"')
    data = (int.from_bytes(data[:8], "little") + 8).to_bytes(8, "little") + data[8:]
    file.write_bytes(data)
    forged(tmp_path / "w", bytes=len(data), sha256=checksum(data))
    with pytest.raises((Damaged, Incompatible), match=r"w\.safetensors"):
        trees.load(tmp_path / "w", WEIGHTS)


def test_arrays_that_are_not_what_their_manifest_says_are_refused(tmp_path):
    trees.save(tmp_path / "w", WEIGHTS, ABOUT)
    data = safetensors.numpy.save({"weight": np.ones((2, 4), np.float32), "bias": np.zeros(3, np.float32)})
    (tmp_path / "w.safetensors").write_bytes(data)
    forged(tmp_path / "w", bytes=len(data), sha256=checksum(data))
    with pytest.raises(Incompatible, match=r"w\.safetensors has an array 'weight' of float32\[2, 4\]"):
        trees.load(tmp_path / "w", WEIGHTS)


def test_a_manifest_without_arrays_or_without_itself_is_damaged(tmp_path):
    with pytest.raises(Damaged, match=r"w\.json is missing"):
        trees.load(tmp_path / "w", WEIGHTS)
    trees.save(tmp_path / "w", WEIGHTS, ABOUT)
    (tmp_path / "w.safetensors").unlink()
    with pytest.raises(Damaged, match=r"w\.safetensors is missing"):
        trees.load(tmp_path / "w", WEIGHTS)


def test_a_manifest_can_be_read_by_people(tmp_path):
    trees.save(tmp_path / "w", WEIGHTS, ABOUT)
    manifest = json.loads((tmp_path / "w.json").read_text())
    assert manifest["about"] == ABOUT
    assert manifest["arrays"]["weight"] == {"type": "float32", "shape": [2, 3]}
