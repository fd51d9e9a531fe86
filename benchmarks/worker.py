"""A worker: a process that answers the requests of a `client`, one JSON line each, until there is no client any more.

    python worker.py MODULE FOLDER

imports the module from the folder and lets its `answer(request)` answer. It runs in environments that have neither JAX
nor this repository on their path, so nothing but the standard library may be imported here.
"""

import importlib
import json
import os
import platform
import sys
import threading
import time
from importlib.metadata import version
from typing import Any


def main(module: str, folder: str) -> None:
    """Greet, then answer. Whatever the module prints goes to the errors: the output is for answers alone."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.path[0] = folder  # it was this file's own folder, whose modules are a package's
    asked = importlib.import_module(module)
    _tell(answers, {"versions": versions(getattr(asked, "PACKAGES", ()))})
    for line in sys.stdin:
        try:
            answer = asked.answer(json.loads(line))
        except Exception as problem:
            answer = {"error": f"{type(problem).__name__}: {problem}"}
        _tell(answers, {**answer, "peak_memory": peak_memory()})


def versions(packages: Any) -> dict[str, str]:
    """Of Python and of the packages that matter for the answers."""
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


def peak_memory() -> int:
    """The most memory that this process has had so far, in bytes.

    Linux's own account comes first: what `getrusage` says includes the process that started this one.
    """
    try:
        with open("/proc/self/status") as status:
            return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _end_with(parent: int) -> None:
    """The client may be killed while this process is at work: then nobody waits for the answer any more."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _tell(answers: Any, answer: dict[str, Any]) -> None:
    print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
