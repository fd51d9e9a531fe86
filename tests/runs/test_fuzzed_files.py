"""Hundreds of files that came to harm, or that somebody forged, and the commands that read them.

Whatever lies there: no traceback, an exit status that means something, a sentence, no waiting for a pipe, and whoever
only looks, or is refused, leaves nothing behind.
"""

import json
import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from coadapt.catalogue import path_of
from coadapt.cli import main
from coadapt.configs.data import plain
from coadapt.experiments import matrix_game, registry
from coadapt.runs import launch
from coadapt.runs.executor import Worker
from coadapt.runs.interruption import Interrupted
from coadapt.storage import published, runs, trees
from coadapt.storage.files import json_text
from coadapt.storage.sealed import SEAL, checksum
from tests.runs.toy import TOY, run_toy

pytestmark = pytest.mark.slow

FEWEST = 400
GIGABYTE = 2**30
DEEP = b"[" * 900 + b"]" * 900

RUN = ("runs", "show", "run"), ("resume", "run", "--quiet")
AGAIN = ("--init-from", "runs/run/checkpoints/second-000003")
WHOLE = (("report", "whole", "--to", "page"),)
READERS = {
    "runs/run/run.json": (("runs",), ("runs", "compare", "run", "whole"), *RUN),
    "runs/run/config.json": RUN,
    "runs/run/provenance.json": (("runs", "compare", "run", "whole"), *RUN),
    "runs/run/state.json": (("runs",), *RUN),
    "runs/run/times.jsonl": RUN,
    "runs/run/log.txt": (("doctor", "--prune", "artefacts"), RUN[1]),
    "runs/run/lock": (("runs",), *RUN),
    "runs/run/metrics/first.jsonl": RUN,
    "runs/run/metrics/second.jsonl": RUN,
    "runs/run/checkpoints/second-000003.json": (RUN[1], ("resume", "run", "--quiet", *AGAIN)),
    "runs/run/checkpoints/second-000003.safetensors": (RUN[1], ("resume", "run", "--quiet", *AGAIN)),
    "runs/run/checkpoints/first-000004.json": (RUN[1],),
    "runs/artefacts/FIRST/outcome.json": (RUN[1],),
    "runs/artefacts/FIRST/outcome.safetensors": (RUN[1],),
    "runs/artefacts/FIRST/metrics.jsonl": (RUN[1],),
    "runs/whole/state.json": (("runs",), ("runs", "compare", "run", "whole")),
    "runs/whole/results/summary.json": WHOLE,
    "runs/whole/results/provenance.json": WHOLE,
    "runs/whole/results/table.md": WHOLE,
    "runs/whole/results/learning.svg": WHOLE,
    "runs/whole/config.json": WHOLE,
    "published/published.json": (("resume", "whole", "--quiet", "--publish", "published"),),
    "published/summary.json": (("resume", "whole", "--quiet", "--publish", "published"),),
    "agents/agent.json": (("evaluate", "agents/agent", "--partners", "agents/partner"),),
    "agents/agent.safetensors": (("evaluate", "agents/agent", "--partners", "agents/partner"),),
    "agents/partner.json": (("watch", "agents/agent", "--partner", "agents/partner"),),
    "files/config.json": (("reproduce", "matrix-game", "--config", "files/config.json", "--quiet"),),
}
"""By file, the commands that read it."""
ONLY_LOOK = {"runs", "evaluate", "watch"}
"""Commands that write nothing, whatever they come to; all others write nothing if they refuse."""


def sparse(file: Path) -> None:
    """As if it held 200 GB, of which none is there."""
    file.unlink()
    with file.open("wb") as hole:
        hole.truncate(200 * GIGABYTE)


def grown(file: Path) -> None:
    """What was there, and behind it 200 GB of nothing."""
    os.truncate(file, 200 * GIGABYTE)


def replaced(make: Callable[[Path], Any]) -> Callable[[Path], Any]:
    return lambda file: (file.unlink(), make(file))


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def flipped(file: Path) -> None:
    data = bytearray(file.read_bytes() or b"?")
    chance = random.Random(file.name)
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)


TEXTS = {
    "empty": b"",
    "no text": b"\xff\xfe\x00\x80" * 20,
    "zeros": b"\0" * 4096,
    "an empty object": b"{}\n",
    "a list": b"[1, 2]\n",
    "a word": b'"word"\n',
    "a number": b"7\n",
    "null": b"null\n",
    "true": b"true\n",
    "infinite": b'{"seconds": 1e999, "stage": "second", "done": 1e999, "progress": 1e999}\n',
    "NaN": b'{"seconds": NaN, "done": NaN, "state": NaN}\n',
    "too many digits": b'{"done": 1' + b"0" * 400 + b', "stage": "second"}\n',
    "far too many digits": b'{"done": 1' + b"0" * 9000 + b"}\n",
    "deep": b'{"deep": ' + DEEP + b"}\n",
    "too deep": b"[" * 200_000,
    "half a character": b'{"state": "\\ud800", "stage": "\\udfff", "experiment": "\\ud800"}\n',
}
DAMAGES: dict[str, Callable[[Path], Any]] = {
    "missing": Path.unlink,
    "cut": cut,
    "a bit flipped": flipped,
    "sparse": sparse,
    "grown": grown,
    "a pipe": replaced(os.mkfifo),
    "a folder": replaced(Path.mkdir),
    "a link to itself": replaced(lambda file: file.symlink_to(file)),
    "a link to nothing": replaced(lambda file: file.symlink_to("nothing")),
    "a device": replaced(lambda file: file.symlink_to("/dev/zero")),
    **{name: lambda file, text=text: file.write_bytes(text) for name, text in TEXTS.items()},
}

ODD = (None, True, -1, 0, 3, 2**31, 10**18, 10**400, 0.5, -1e300, "", "word", "../up", "\x1b[2J", [], [1], ["a"], {})
ODD = (*ODD, {"a": None}, [[[]]], [{}], "é" * 300)
"""What may stand where something else should."""


def places(data: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all that is within some data."""
    within = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for name, value in within:
        yield (*place, name)
        yield from places(value, (*place, name))


def changed(data: Any, place: tuple[Any, ...], value: Any) -> Any:
    """The same data with another value at one place."""
    if not place:
        return value
    copy = data.copy()
    copy[place[0]] = changed(data[place[0]], place[1:], value)
    return copy


def forged(file: Path, place: tuple[Any, ...], value: Any) -> None:
    """Another value in a JSON file, or in the last line of a journal, with a new seal if it had one."""
    *before, last = file.read_bytes().splitlines(keepends=True) if file.suffix == ".jsonl" else [file.read_bytes()]
    data = changed(json.loads(last), place, value)
    if isinstance(data, dict) and SEAL in data:
        content = {name: value for name, value in data.items() if name != SEAL}
        data = content | {SEAL: checksum(json_text(content).encode())}
    text = json.dumps(data) + "\n" if file.suffix == ".jsonl" else json_text(data)
    file.write_bytes(b"".join([*before, text.encode()]))


def resealed(file: Path, harm: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]) -> None:
    """Other arrays, with a manifest that knows of them."""
    data = safetensors.numpy.save(harm(safetensors.numpy.load(file.read_bytes())))
    file.write_bytes(data)
    manifest = file.with_suffix(".json")
    for name, value in {"bytes": len(data), "sha256": checksum(data)}.items():
        forged(manifest, (name,), value)


def everywhere(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Path], None]:
    return lambda file: resealed(file, lambda arrays: {name: change(array) for name, array in arrays.items()})


def header(old: bytes, new: bytes) -> Callable[[Path], None]:
    """Something else in the header of the arrays, such as a type that nobody knows."""

    def forge(file: Path) -> None:
        data = file.read_bytes().replace(old, new)
        file.write_bytes(data)
        forged(file.with_suffix(".json"), ("sha256",), checksum(data))

    return forge


ARRAYS = {
    "not finite": everywhere(lambda array: array * np.nan if array.dtype == np.float32 else array),
    "of another type": everywhere(lambda array: array.astype(np.float64)),
    "of another dimension": everywhere(lambda array: array[None]),
    "without content": everywhere(lambda array: array.reshape(-1)[:0]),
    "none": lambda file: resealed(file, lambda _: {}),
    "one more": lambda file: resealed(file, lambda arrays: arrays | {"more": np.zeros(1)}),
    "of a type nobody knows": header(b'"F32"', b'"F99"'),
    "of a type NumPy does not know": header(b'"F32"', b'"I32"'),
    "with offsets that cannot be": header(b'"data_offsets":[0,', b'"data_offsets":[9,'),
}


def cases(place: Path, first: str) -> Iterator[tuple[str, str, Callable[[Path], Any]]]:
    """All of them: a file, in words what happens to it, and how."""
    chance = random.Random(19)
    for name in (name.replace("FIRST", first) for name in READERS):
        for damage, harm in DAMAGES.items():
            yield name, damage, harm
        file = place / name
        if file.suffix == ".safetensors":
            yield from ((name, f"arrays {harm}", do) for harm, do in ARRAYS.items())
        if file.suffix in (".json", ".jsonl"):
            data = json.loads(file.read_bytes().splitlines()[-1] if file.suffix == ".jsonl" else file.read_bytes())
            ways = [way for way in places(data) if way != (SEAL,)]
            # All that is at the top and in what a manifest is about; of all the rest, some.
            first_ways = [way for way in ways if len(way) == 1 or (way[0] == "about" and len(way) == 2)]
            others = [way for way in ways if way not in first_ways]
            for way in [*first_ways, *chance.sample(others, min(len(others), 6))]:
                for value in chance.sample(ODD, 2 if way in first_ways else 1):
                    yield name, f"{way} = {value!r:.40}", lambda f, way=way, value=value: forged(f, way, value)


class Begun(Exception):
    """Here work would begin."""


def begin(*_, **__):
    raise Begun


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    """Somebody's folder: a run in the middle of its second stage and a finished one, results, agents, files."""
    place = tmp_path_factory.mktemp("pristine")
    record = Worker._record

    def stopping(self, stage, *chunk):
        record(self, stage, *chunk)
        if stage.name == "second" and self.done == 3:
            self.interruption.signal = 2

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Worker, "_record", stopping)
        with pytest.raises(Interrupted):
            run_toy(place / "runs/run")
    run_toy(place / "elsewhere/whole")  # with a store of its own, or there would be nothing left to do
    shutil.move(place / "elsewhere/whole", place / "runs/whole")
    results = place / "runs/whole/results"
    story = {"title": "It", "text": "", "captions": {"learning": "a curve"}, "first_tables": 1, "place": 0}
    summary = {"experiment": "matrix_game", "story": story, "verdict": "good", "trained": {}}
    (results / "summary.json").write_text(json_text(summary))
    (results / "table.md").write_text("**Rewards**\n\n| alpha | reward |\n| --- | ---: |\n| 1 | 0.5 |\n")
    (results / "learning.svg").write_text("<svg/>")
    published.publish(runs.read(place / "runs/whole"), place / "published")
    (place / "agents").mkdir()
    for name, agent in {"agent": "salesman/behaviour-conditioned", "partner": "salesman/partners/100-skilled"}.items():
        for file in (trees.manifest_file(path_of(agent)), trees.arrays_file(path_of(agent))):
            shutil.copy(file, place / f"agents/{name}{file.suffix}")
    (place / "files").mkdir()
    (place / "files/config.json").write_text(json_text(plain(matrix_game.FAST)))
    return place


@pytest.fixture
def place(pristine, tmp_path, monkeypatch):
    """A copy of it to do harm to. The toy is really worked on; whoever would begin anything else is stopped."""
    finish = launch.finish
    only_toys = lambda experiment, *rest: finish(experiment, *rest) if experiment is TOY else begin()
    monkeypatch.setattr(launch, "finish", only_toys)
    monkeypatch.setitem(registry.EXPERIMENTS, TOY.name, TOY)
    monkeypatch.setattr("coadapt.pipeline.trial.try_out", begin)
    monkeypatch.setattr("coadapt.evaluation.watching.record_episode", begin)
    for user in ("storage.provenance", "runs.executor"):  # asking git takes longer than all the rest
        monkeypatch.setattr(f"coadapt.{user}.commit", lambda: None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(pristine, tmp_path / "place")
    monkeypatch.chdir(tmp_path / "place")
    return tmp_path / "place"


def status_of(arguments: tuple[str, ...]) -> Any:
    """How the call ended."""
    try:
        main(arguments)
    except SystemExit as left:
        return left.code or 0
    except Begun:
        return "begun"
    except Exception as problem:  # this is what must not happen
        return f"{type(problem).__name__}: {problem}"[:300]
    return 0


def everything(place: Path) -> dict[str, int]:
    """All that lies there, and when files were last changed; whoever looks into a run takes its lock."""
    return {
        str(path): path.lstat().st_mtime_ns if path.is_file() and path.name != "lock" else 0
        for path in place.rglob("*")
    }


def test_whatever_lies_there_is_answered(pristine, place, capfd):
    (first,) = (path.name for path in (place / "runs/artefacts").glob("first-*"))
    ends, wrong, number = Counter(), [], 0
    for name, what, harm in cases(pristine, first):
        number += 1
        file = place / name
        harm(file)
        for arguments in READERS[name.replace(first, "FIRST")]:
            before = everything(place)
            status = status_of(arguments)
            said = capfd.readouterr().err
            ends[arguments[0], status] += 1
            if status not in (0, 1, 2, "begun") or "Traceback" in said:
                wrong.append((name, what, arguments, status, said[-500:]))
            if status in (1, 2) and not said.rpartition("\n")[0].rpartition("\n")[2].startswith("coadapt: "):
                wrong.append((name, what, arguments, "no sentence", said[-500:]))
            if (arguments[0] in ONLY_LOOK or (status == 2 and arguments[0] != "resume")) and everything(
                place
            ) != before:
                wrong.append((name, what, arguments, "left behind", sorted(set(everything(place)) ^ set(before))))
        restore(pristine, place, name.partition("/")[0])
    print(number, ends)
    assert not wrong, f"{len(wrong)} of {number}:\n" + "\n".join(map(repr, wrong))
    assert number >= FEWEST
    for status, fewest in {0: 300, 2: 300, "begun": 10}.items():  # or the cases would be of one kind
        assert sum(count for (_, end), count in ends.items() if end == status) >= fewest, ends


def restore(pristine: Path, place: Path, area: str) -> None:
    shutil.rmtree(place / area)
    shutil.copytree(pristine / area, place / area)
    shutil.rmtree(place / "page", ignore_errors=True)
