"""The client of processes that measure something: peers in environments of their own, and fresh processes of ours.

A process is started once and asked again and again, one JSON line a request and one an answer, so that contenders take
turns without starting Python each time. One that dies, hangs or talks nonsense is a `PeerFailed` with a sentence, and
costs nobody else anything. `worker` is the other end. Seconds that a process may take count as in `patience`, so
that nobody fails because the machine is busy.
"""

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from benchmarks import worker
from benchmarks.patience import waits
from coadapt.compiler import FLAG, LOG_LEVEL

ROOT = Path(__file__).parents[1]
"""The repository's. From here processes of ours import the package `benchmarks`, wherever they are started."""

LONGEST_START = 180.0
"""Seconds until a process must have imported what it needs."""

LONGEST_END = 5.0
"""Seconds until a process that says nothing more must have ended."""


class PeerFailed(Exception):
    """Why there is no answer, as a sentence without its full stop."""


class Process:
    """A worker as its client sees it: it can be asked.

    Its module is a peer's, from a folder of theirs; or, without a folder, one of ours by its full name. `settings` are
    environment variables for it, such as how many threads to use.
    """

    def __init__(
        self,
        name: str,
        module: str,
        python: Path | str = sys.executable,
        folder: Path | None = None,
        settings: Mapping[str, str] | None = None,
        longest_start: float = LONGEST_START,
    ):
        self.name, self.started = name, time.monotonic()
        self._errors = TemporaryFile()  # noqa: SIM115 (it is open as long as the process is)
        command = [str(python), worker.__file__, module, str(folder or ROOT)]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
                env=_environment(settings or {}, own=folder is None),
            )
        except OSError as problem:
            self._errors.close()
            raise PeerFailed(f"{name} cannot be started: {problem.strerror or problem}") from None
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            self.versions: dict[str, str] = self._hear(longest_start).get("versions", {})
        except BaseException:  # Ctrl-C, too, leaves nobody behind
            self.close()
            raise

    def ask(self, request: Mapping[str, Any], longest: float) -> dict[str, Any]:
        """The answer, if it comes within so many seconds. Whoever fails once is not worth asking again."""
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise PeerFailed(self._last_words()) from None
        return self._hear(longest)

    def close(self) -> None:
        """No more questions. What is still at work is stopped."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            try:
                if stream is not None:
                    stream.close()
            except OSError:  # what was written last never arrived, and nobody minds
                pass
        self._errors.close()

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                self._lines.put(line)
        except ValueError:  # closed while somebody was still listening, or no text at all
            pass
        self._lines.put("")  # the end

    def _hear(self, longest: float) -> dict[str, Any]:
        line = self._next_line(longest)
        if not line:
            raise PeerFailed(self._last_words())
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise PeerFailed(f"{self.name} answered with something else than a JSON object: {line.strip()[:80]!r}")
        if "error" in answer:
            raise PeerFailed(f"{self.name} failed: {answer['error']}")
        return answer

    def _next_line(self, longest: float) -> str:
        for seconds in waits(self._process.pid, longest):
            with suppress(queue.Empty):
                return self._lines.get(timeout=seconds)
        raise PeerFailed(f"{self.name} has not answered within {longest:g} seconds")

    def _last_words(self) -> str:
        """What a process that has ended said last."""
        for seconds in waits(self._process.pid, LONGEST_END):
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
                break
        status = self._process.returncode
        if status is None:
            return f"{self.name} is still there, but answers no more"
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return f"{self.name} ended with status {status}" + (f": {lines[-1].strip()[:200]}" if lines else "")


def _environment(settings: Mapping[str, str], own: bool) -> dict[str, str]:
    """Peers find nothing of ours. And nobody gets programs that were compiled before: compiling is part of the work."""
    kept = {name: value for name, value in os.environ.items() if name != "JAX_COMPILATION_CACHE_DIR"}
    if not own:
        kept = {name: value for name, value in kept.items() if name not in ("PYTHONPATH", LOG_LEVEL)}
        kept["XLA_FLAGS"] = " ".join(flag for flag in kept.get("XLA_FLAGS", "").split() if not flag.startswith(FLAG))
    return {**kept, **settings}
