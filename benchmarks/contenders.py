"""Who takes part: ours in a process of its own, and peers in environments of their own."""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks import ours
from benchmarks.client import PeerFailed, Process
from benchmarks.measuring import Contender, Entry, Measured, Quantity

SCRIPTS = Path(__file__).parent / "peers"
"""Where the peers' scripts are."""

Check = Callable[[Process], None]
"""Looks at a process before anything is measured; it may raise `PeerFailed`."""

MEMORY = Quantity("peak memory", "MB", more_is_better=False)
PARAMETERS = Quantity("parameters", "thousands")
"""Of all networks that learn: what is to be compared has to be alike."""

BESIDE = {MEMORY: ("peak_memory", 1e6), PARAMETERS: ("parameters", 1e3)}
"""What an answer may tell beside its rate: what it is called there, and how many of its units make one of ours."""


def is_beside(entry: Entry) -> bool:
    """Whether a number was told beside a rate: it has a column of its own, and nobody is better by it."""
    return any(entry.quantity == what.name for what in BESIDE)


@dataclass
class Contenders:
    """All processes of a row: started when they are first asked, and stopped together."""

    environments: Path | None  # a folder with a virtual environment for each kind of peer; without one, only ours
    longest: float = 600.0  # seconds an answer may take
    versions: dict[str, dict[str, str]] = field(default_factory=dict)
    _started: list[Process] = field(default_factory=list)

    def ours(self, name: str, request: Mapping[str, Any], rate: Quantity, note: str = "") -> Contender:
        """Our own code in a process of its own."""
        start = lambda: Process(name, ours.__name__)
        return self._asked(name, "ours", start, request, rate, note)

    def peer(
        self,
        name: str,
        environment: str,
        module: str,
        request: Mapping[str, Any],
        rate: Quantity,
        note: str = "",
        settings: Mapping[str, str] | None = None,
        most: int | None = None,
        check: Check | None = None,
    ) -> list[Contender]:
        """One of the others, if there are to be any; `settings` are environment variables for it."""
        if self.environments is None:
            return []
        python = self.environments.absolute() / environment / "bin" / "python"
        start = lambda: _checked(Process(name, module, python, SCRIPTS, settings), check)
        return [replace(self._asked(name, environment, start, request, rate, note, settings or {}), most=most)]

    def _asked(
        self,
        name: str,
        group: str,
        start: Callable[[], Process],
        request: Mapping[str, Any],
        rate: Quantity,
        note: str,
        settings: Mapping[str, str] | None = None,
    ) -> Contender:
        found: list[Process] = []

        def measure() -> Measured:
            if not found:
                found.append(start())
                self._started.append(found[0])
                self.versions[group] = found[0].versions
            try:
                answer = found[0].ask(request, self.longest)
            except PeerFailed:
                found[0].close()  # it may be at work still, beside those whose turn it is now
                raise
            try:
                told = {what: answer[name] / unit for what, (name, unit) in BESIDE.items() if name in answer}
                return {rate: answer["amount"] / answer["seconds"], **told}
            except (KeyError, TypeError, ZeroDivisionError):
                raise PeerFailed(f"{name} has not said how much it did in how many seconds") from None

        return Contender(name, measure, {**request, **(settings or {})}, note)

    def dismiss(self) -> None:
        """All that were started are stopped."""
        while self._started:
            self._started.pop().close()

    def __enter__(self) -> "Contenders":
        return self

    def __exit__(self, *problem: object) -> None:
        self.dismiss()


def _checked(process: Process, check: Check | None) -> Process:
    try:
        if check is not None:
            check(process)
    except PeerFailed:
        process.close()
        raise
    return process


def thread_settings() -> dict[str, dict[str, str]]:
    """One thread, and as many as there are cores: which is better for PyTorch depends on the machine and its load."""
    numbers = dict.fromkeys((1, cores()))
    return {_threads(number): {"OMP_NUM_THREADS": str(number), "MKL_NUM_THREADS": str(number)} for number in numbers}


def cores() -> int:
    """As many as this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _threads(number: int) -> str:
    return f"{number} thread" + ("" if number == 1 else "s")
