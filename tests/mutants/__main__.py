"""Each mutation in a copy of the sources, and whether the test that should notice it does.

    python -m tests.mutants [WORD ...]     those whose name or file has one of the words; all, if none is given

The checkout itself is never touched. Every named test has to pass on the sources as they are, and to fail by an
assertion on each of its mutants: a mutant that cannot even be imported is no mistake anybody would make unnoticed.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

from tests.mutants.mutations import MUTATIONS, ROOT, Mutation, mutated

COPIED = ("src", "tests", "benchmarks", "tuning", "pyproject.toml")
SIDE_BY_SIDE = 2
NOTICED = re.compile(r"^FAILED .* - (assert |AssertionError|Failed: DID NOT RAISE)", re.MULTILINE)


def main(words: Sequence[str]) -> int:
    chosen = [each for each in MUTATIONS if not words or any(word in f"{each.name} {each.file}" for word in words)]
    if not chosen:
        print(f"no mutation has any of these words in its name or file: {' '.join(words)}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="coadapt-mutants-") as folder:
        copies = [_copy(Path(folder) / str(number)) for number in range(SIDE_BY_SIDE)]
        tests = sorted({each.killed_by for each in chosen})
        print(f"{len(tests)} tests on the sources as they are ...", flush=True)
        if not _all_pass(tests, copies):
            print("these tests have to pass before a mutation can show anything", file=sys.stderr)
            return 1
        survivors = [each for each, killed in _try_all(chosen, copies) if not killed]
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutations killed")
    return 1 if survivors else 0


def _all_pass(tests: Sequence[str], copies: Sequence[Path]) -> bool:
    """Whether all tests pass, each copy running its share of them; if not, what they say is told."""
    shares = [(copy, tests[number :: len(copies)]) for number, copy in enumerate(copies)]
    with ThreadPoolExecutor(len(copies)) as pool:
        found = list(pool.map(lambda share: _run(*share) if share[1] else (0, ""), shares))
    for status, told in found:
        if status:
            print(told, file=sys.stderr)
    return not any(status for status, _ in found)


def _try_all(chosen: Sequence[Mutation], copies: Sequence[Path]) -> Iterator[tuple[Mutation, bool]]:
    """Every mutation and whether it was killed, told as soon as that is known."""
    free: SimpleQueue[Path] = SimpleQueue()
    for copy in copies:
        free.put(copy)

    def attempt(mutation: Mutation) -> tuple[bool, float]:
        copy, begun = free.get(), time.monotonic()
        try:
            with _with(mutation, copy):
                status, told = _run(copy, [mutation.killed_by], PYTHONDONTWRITEBYTECODE="1")
        finally:
            free.put(copy)
        return status == 1 and bool(NOTICED.search(told)), time.monotonic() - begun

    with ThreadPoolExecutor(len(copies)) as pool:
        try:
            waiting = {pool.submit(attempt, mutation): mutation for mutation in chosen}
            for done in as_completed(waiting):
                mutation, (killed, seconds) = waiting[done], done.result()
                verdict = "killed" if killed else "SURVIVED"
                print(f"{verdict:8} {seconds:5.1f} s  {mutation.name} ({mutation.file})", flush=True)
                print(f"{'':18}by tests/{mutation.killed_by}" if killed else f"{'':18}{mutation.new}", flush=True)
                yield mutation, killed
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _copy(folder: Path) -> Path:
    folder.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    return folder


@contextmanager
def _with(mutation: Mutation, copy: Path) -> Iterator[None]:
    """The copy with this one mutation in it."""
    file = copy / "src" / "coadapt" / mutation.file
    as_it_is = file.read_text()
    file.write_text(mutated(mutation, as_it_is))
    try:
        yield
    finally:
        file.write_text(as_it_is)


def _run(copy: Path, tests: Sequence[str], **settings: str) -> tuple[int, str]:
    """Pytest's exit status and what it said, in a process of its own that has no sources but those of the copy.

    With a mutation nothing compiled is kept: within a second two mutants of one length would pass for the same file.
    """
    environment = os.environ | {"PYTHONPATH": str(copy / "src"), "COLUMNS": "1000"} | settings
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *(f"tests/{t}" for t in tests)]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
