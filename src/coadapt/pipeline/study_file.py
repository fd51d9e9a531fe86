"""Studies in files of one's own: how a command finds one, and how a run remembers where its study came from."""

import importlib.util
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from coadapt.configs.checks import one_of
from coadapt.games.traced import where
from coadapt.pipeline.study import Study
from coadapt.storage.files import Incompatible, check_kinds, read_json, write_json
from coadapt.storage.fingerprint import fingerprint_of_family

RECORD = "study.json"
"""In the folder of a run: where its study came from."""
KINDS: dict[str, Any] = {"file": str, "name": str, "fingerprint": str}

STUDY, PRESETS = "study", "PRESETS"
"""What a file calls its study, or its studies by name."""

_being_read: ContextVar[Path | None] = ContextVar("being_read", default=None)


class StudyFile(NamedTuple):
    """A study, and where it is defined."""

    file: Path
    name: str
    study: Study

    @property
    def fingerprint(self) -> str:
        return fingerprint_of_family(self.file.stem if self.file.stem in sys.modules else "__main__")


class RunsWhenRead(ValueError):
    """A file begins a run while a command reads which study it defines."""


def check_not_reading() -> None:
    """Refuse to begin a run while a command reads the file that asks for it."""
    file = _being_read.get()
    if file is not None:
        raise RunsWhenRead(f"{file} runs its study when it is read; put that below: if __name__ == '__main__'")


def studies_in(file: Path) -> dict[str, Study]:
    """All studies that a file defines, by their names; the one that is meant if nothing else is said comes first."""
    module = _imported(file)
    presets = getattr(module, PRESETS, {})
    found = dict(presets) if isinstance(presets, Mapping) else {}
    found = {str(name): value for name, value in found.items() if isinstance(value, Study)}
    own = {name: value for name, value in vars(module).items() if isinstance(value, Study)}
    if STUDY in own:
        found = {STUDY: own[STUDY]} | found
    elif not found:
        found = own
    if not found:
        raise ValueError(f"{file} defines no study; it needs one, as in: {STUDY} = coadapt.Study(task=..., ...)")
    return found


def study_in(file: Path, name: str | None = None) -> StudyFile:
    """The study of this name in a file; without a name, the one that is meant."""
    found = studies_in(file)
    if name is None:
        name = next(iter(found))
    one_of(f"the study in {file}", name, found)
    return StudyFile(file.resolve(), name, found[name])


def of_main(study: Study) -> StudyFile | None:
    """Where the script that is run right now defines this study, if it does."""
    main = sys.modules["__main__"]
    file = getattr(main, "__file__", None)
    presets = getattr(main, PRESETS, {})
    names = {**vars(main), **(presets if isinstance(presets, Mapping) else {})}
    name = next((str(name) for name, value in names.items() if value is study), None)
    return None if file is None or name is None else StudyFile(Path(file).resolve(), name, study)


def remember(folder: Path, found: StudyFile) -> None:
    """Note in the folder of a run where its study came from."""
    said = {"file": str(found.file), "name": found.name, "fingerprint": found.fingerprint}
    write_json(folder / RECORD, said)


def recalled(folder: Path, file: Path | None = None) -> Study:
    """The study of a run: from the file that was noted, if that lies elsewhere and says what it said; or from this."""
    if file is not None:
        return study_in(file, _said(folder)["name"] if (folder / RECORD).exists() else None).study
    if not (folder / RECORD).exists():
        raise Incompatible(f"{folder} does not say of which study it is; say so with: --study FILE")
    said = _said(folder)
    there = Path(said["file"])
    if there.is_relative_to(folder.resolve()):
        raise Incompatible(f"the study of {folder} lies in the run's own folder, whose files are not run; --study FILE")
    if not there.is_file():
        raise Incompatible(f"the study of {folder} is not in {there} any more; say where it is with: --study FILE")
    _check_unchanged(folder, there, said["fingerprint"])
    return study_in(there, said["name"]).study


def _check_unchanged(folder: Path, file: Path, expected: str) -> None:
    """Before a recorded file is run: it must be the one that the run was made with."""
    with _findable(file):
        if fingerprint_of_family(file.stem) != expected:
            raise Incompatible(
                f"{file} has changed since {folder} was made with it; say that it is to be used with: --study {file}"
            )


def _said(folder: Path) -> dict[str, Any]:
    said = read_json(folder / RECORD)
    check_kinds(folder / RECORD, said, KINDS)
    return said


def _imported(file: Path) -> ModuleType:
    """A file as the module that it would be for scripts beside it."""
    if not file.is_file():
        raise ValueError(f"there is no file {file}")
    if file.suffix != ".py" or not file.stem.isidentifier():
        raise ValueError(f"a study is read from a Python file with a plain name, such as my_study.py, not {file.name}")
    with _findable(file):
        known = sys.modules.get(file.stem)
        if known is not None and getattr(known, "__file__", None) == str(file.resolve()):
            return known
        spec = importlib.util.find_spec(file.stem) if known is None else known.__spec__
        if spec is None or spec.origin is None or Path(spec.origin).resolve() != file.resolve():
            raise ValueError(f"{file} has the name of another module ({file.stem}); call it something else")
        return _executed(spec, file)


def _executed(spec: Any, file: Path) -> ModuleType:
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    reading = _being_read.set(file)
    try:
        spec.loader.exec_module(module)
    except BaseException as problem:
        sys.modules.pop(file.stem, None)
        if isinstance(problem, KeyboardInterrupt | RunsWhenRead):
            raise
        raise ValueError(f"{file} cannot be read as a study: {_in_words(problem)}") from problem
    finally:
        _being_read.reset(reading)
    return module


def _in_words(problem: BaseException) -> str:
    """The first line of it, and where it comes from; who said it in a sentence already need not say what kind it is."""
    kind, said = type(problem).__name__, str(problem).partition("\n")[0]
    words = said if isinstance(problem, ValueError) and said else f"{kind}: {said}" if said else kind
    return f"{words}{where(problem)}"


@contextmanager
def _findable(file: Path) -> Iterator[None]:
    """From here on Python finds the file, and those beside it that it imports, before all others."""
    folder = str(file.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
        importlib.invalidate_caches()
    yield
