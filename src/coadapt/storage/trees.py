"""A tree of arrays to a file and back: safetensors with a JSON manifest beside it, data and never code.

`save(folder / "name", tree, about)` writes `name.safetensors` and then `name.json`. The manifest is the last to come
into being, so what has one is complete. It holds the checksum of the arrays and, under "about", what they belong to.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import safetensors.numpy

from coadapt.memory import all_memory
from coadapt.storage import files
from coadapt.storage.files import Damaged, Incompatible, check_kinds, read_bytes, write_bytes
from coadapt.storage.sealed import checksum, read_sealed, write_sealed

FORMAT = "coadapt arrays"
VERSION = 1
PARTS: dict[str, type] = {"about": dict, "arrays": dict, "bytes": int, "sha256": str}


def save(path: Path, tree: Any, about: dict[str, Any]) -> None:
    """Store a tree of arrays; random keys are arrays, too."""
    leaves = _named(tree)
    to_numpy = lambda leaf: np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf, order="C")
    data = safetensors.numpy.save({name: to_numpy(leaf) for name, leaf in leaves.items()})
    write_bytes(arrays_file(path), data)
    manifest = {"format": FORMAT, "version": VERSION, "about": about, "arrays": _described(leaves)}
    write_sealed(manifest_file(path), manifest | {"bytes": len(data), "sha256": checksum(data)})


def load(
    path: Path, like: Any, about: dict[str, Any] | None = None, renamed: Callable[[str], str] = lambda name: name
) -> Any:
    """The tree that was stored, in the structure of `like`, whose leaves have the shapes and types that are expected.

    Whatever `about` names must have been stored with that very value, such as the game the arrays are for. `renamed`
    says what an array is called now that may have been stored under an older name.
    """
    manifest, expected = read_manifest(path), _named(like)
    found = manifest["about"]
    for name, value in (about or {}).items():
        if found.get(name) != value:
            raise Incompatible(f"{manifest_file(path)} is for {name} {found.get(name)!r}, not {value!r}")
    as_named_now = lambda by_name: {renamed(name): of for name, of in by_name.items()}
    _check_arrays(manifest_file(path), as_named_now(manifest["arrays"]), _described(expected))
    arrays = as_named_now(_read_arrays(path, manifest))
    numbers_of = lambda leaf: jax.eval_shape(jax.random.key_data, leaf) if _is_key(leaf) else leaf
    stored = {name: numbers_of(leaf) for name, leaf in expected.items()}  # where keys are the numbers they are made of
    _check_arrays(arrays_file(path), _described(arrays), _described(stored))
    from_numpy = lambda array, wanted: jax.random.wrap_key_data(jnp.asarray(array)) if _is_key(wanted) else array
    leaves = [from_numpy(arrays[name], wanted) for name, wanted in expected.items()]
    return jax.tree.unflatten(jax.tree.structure(like), leaves)


def not_finite(tree: Any) -> str | None:
    """The first array with numbers that no network can compute with, if there is one."""
    is_float = lambda leaf: jnp.issubdtype(leaf.dtype, jnp.floating)
    bad = (name for name, leaf in _named(tree).items() if is_float(leaf) and not np.isfinite(leaf).all())
    return next(bad, None)


def check_finite(path: Path, tree: Any) -> None:
    """Refuse what was loaded from the path if it has such an array."""
    if name := not_finite(tree):
        raise Incompatible(f"{arrays_file(path)} has an array {name!r} with numbers that are not finite")


def check(path: Path) -> None:
    """Refuse what is damaged, without making anything of it."""
    _read_arrays(path, read_manifest(path))


def read_manifest(path: Path) -> dict[str, Any]:
    """What is known of stored arrays without reading them."""
    file = manifest_file(path)
    manifest = read_sealed(file)
    if manifest.get("format") != FORMAT:
        raise Incompatible(f"{file} does not describe arrays stored by coadapt")
    if (version := manifest.get("version")) != VERSION:
        raise Incompatible(f"{file} is of version {version!r} of the format; this coadapt reads version {VERSION}")
    check_kinds(file, manifest, PARTS)
    return manifest


def remove(path: Path) -> None:
    """Away with it, the manifest first: never is there one without its arrays."""
    files.remove(manifest_file(path))
    files.remove(arrays_file(path))


def arrays_file(path: Path) -> Path:
    return path.with_name(path.name + ".safetensors")


def manifest_file(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _named(tree: Any) -> dict[str, Any]:
    """The leaves, which all have a type, by their place in the tree, such as policy/network/layers/0/weight."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    with_type = lambda leaf: leaf if hasattr(leaf, "dtype") else np.asarray(leaf)
    return {jax.tree_util.keystr(place, simple=True, separator="/"): with_type(leaf) for place, leaf in leaves}


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _described(leaves: dict[str, Any]) -> dict[str, Any]:
    return {name: {"type": str(leaf.dtype), "shape": list(leaf.shape)} for name, leaf in leaves.items()}


def _check_arrays(file: Path, found: dict[str, Any], wanted: dict[str, Any]) -> None:
    for name in sorted(wanted.keys() | found.keys()):
        if name not in found:
            raise Incompatible(f"{file} has no array {name!r}")
        if name not in wanted:
            raise Incompatible(f"{file} has an array {name!r}, for which there is no place")
        if found[name] != wanted[name]:
            there, here = (_in_words(described) for described in (found[name], wanted[name]))
            raise Incompatible(f"{file} has an array {name!r} of {there}, where {here} is expected")


def _in_words(described: Any) -> str:
    as_written = isinstance(described, dict) and set(described) == {"type", "shape"}
    return f"{described['type']}{described['shape']}" if as_written else repr(described)


def _read_arrays(path: Path, manifest: dict[str, Any]) -> dict[str, np.ndarray]:
    """The arrays, if their file is as large as was written; only then is it read."""
    file, written = arrays_file(path), manifest["bytes"]
    if written > all_memory():
        said = f"{manifest_file(path)} speaks of {written:,} bytes of arrays"
        raise Incompatible(f"{said}, more than this machine can hold")
    with suppress(OSError):  # which reading it will tell
        if file.is_file() and (size := file.stat().st_size) != written:
            raise Damaged(f"{file} has {size:,} bytes where {written:,} were written")
    data = read_bytes(file, most=max(written, 0))
    if checksum(data) != manifest["sha256"]:
        raise Damaged(f"{file} was changed after it was written: its checksum is another one")
    try:
        return safetensors.numpy.load(data)
    except Exception as problem:  # whatever the library comes up with where somebody has forged what it reads
        raise Damaged(f"{file} is not readable as safetensors: {problem}") from problem
