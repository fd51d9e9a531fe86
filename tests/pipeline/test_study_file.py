"""What is said of a study's file that cannot be used, by the commands that read it."""

import itertools
import re
import sys
from pathlib import Path

import pytest

import coadapt as ca
from coadapt.cli import main
from coadapt.configs.data import plain
from coadapt.pipeline.study_file import RECORD, StudyFile, of_main, remember, studies_in, study_in
from coadapt.storage import runs
from coadapt.storage.files import read_json, write_json
from tests.pipeline import lake
from tests.pipeline.lake import study_file

LAKE = "from tests.pipeline import lake\nstudy = lake.study()\n"


def answered(capsys, *arguments: str) -> str:
    """What a command says that finds a mistake: one sentence, and exit status 2."""
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    said = capsys.readouterr()
    assert (stop.value.code, said.out) == (2, "")
    lines = [line for line in said.err.splitlines() if not line.endswith("loading JAX")]
    assert len(lines) == 1, said.err
    assert lines[0].startswith("coadapt: ")
    assert lines[0].endswith(".")
    return lines[0].removeprefix("coadapt: ").removesuffix(".")


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        (
            "no_syntax",
            "study = (",
            r"no_syntax\.py cannot be read as a study: SyntaxError: '\(' was never closed \(.*\)",
        ),
        (
            "no_module",
            "import coadapt\n\nimport no_such_module\n",
            r"no_module\.py cannot be read as a study: ModuleNotFoundError: No module named 'no_such_module' \(line 3"
            r" of no_module\.py\)",
        ),
        (
            "fails",
            "def make():\n    return 1 / 0\n\nstudy = make()\n",
            r"fails\.py cannot be read as a study: ZeroDivisionError: division by zero \(line 2 of fails\.py\)",
        ),
        (
            "exits",
            "import sys\nsys.exit('enough')\n",
            r"exits\.py cannot be read as a study: SystemExit: enough \(line 2 of exits\.py\)",
        ),
        (
            "exits_at_once",
            "raise SystemExit\n",
            r"exits_at_once\.py cannot be read as a study: SystemExit \(line 1 of .*\)",
        ),
        (
            "settings",
            "from tests.pipeline import lake\nstudy = lake.study(curve_points=0)\n",
            r"settings\.py cannot be read as a study: curve_points must be a whole number .*, not 0 \(line .*\)",
        ),
        (
            "empty",
            "",
            r"empty\.py defines no study; it needs one, as in: study = coadapt\.Study\(task=\.\.\., \.\.\.\)",
        ),
        ("no_study", "study = 3\nPRESETS = [3]\n", r"no_study\.py defines no study; .*"),
        (
            "runs_at_once",
            f"{LAKE}import coadapt as ca\nca.run(study, 'somewhere')\n",
            r"runs_at_once\.py runs its study when it is read; put that below: if __name__ == '__main__'",
        ),
        ("json", LAKE, r"json\.py has the name of another module \(json\); call it something else"),
        ("my-study", LAKE, r"a study is read from a Python file with a plain name, .*, not my-study\.py"),
    ],
)
def test_a_file_that_defines_no_study_is_refused(tmp_path, monkeypatch, capsys, name, text, sentence):
    file = study_file(monkeypatch, tmp_path, name, text)
    said = answered(capsys, "run", file.name, "--quiet")
    assert re.fullmatch(sentence, said), said
    assert [path.name for path in tmp_path.iterdir() if path.name != "__pycache__"] == [file.name]


def test_a_file_that_is_not_there_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert answered(capsys, "run", "nowhere.py", "--quiet") == "there is no file nowhere.py"
    assert answered(capsys, "run", ".", "--quiet") == "there is no file ."
    (tmp_path / "study.txt").write_text(LAKE)
    assert answered(capsys, "run", "study.txt", "--quiet").endswith("such as my_study.py, not study.txt")


def test_a_file_may_define_several_studies(tmp_path, monkeypatch, capsys):
    """The one that is called study is meant; else the first of the presets; else the first there is."""
    text = "from tests.pipeline import lake\nother = lake.study()\nPRESETS = {'small': lake.study(batch=100)}\n"
    several = study_file(monkeypatch, tmp_path, "several", f"{text}study = lake.study(batch=50)\n")
    assert list(studies_in(several)) == ["study", "small"]
    assert study_in(several).study.batch == 50
    assert study_in(several, "small").study.batch == 100
    assert list(studies_in(study_file(monkeypatch, tmp_path, "presets", text))) == ["small"]
    alone = text.partition("PRESETS")[0]
    assert list(studies_in(study_file(monkeypatch, tmp_path, "alone", alone))) == ["other"]
    said = answered(capsys, "run", "several.py", "--preset", "large", "--quiet")
    assert said == "the study in several.py must be one of study, small, not 'large'"


# Runs, and where their studies came from


NUMBERS = itertools.count(1)
"""Every study file needs a name of its own, for Python reads a module once."""


@pytest.fixture
def found(tmp_path, monkeypatch) -> StudyFile:
    """A study in a file of its own."""
    return study_in(study_file(monkeypatch, tmp_path, f"walk_{next(NUMBERS)}", LAKE))


@pytest.fixture
def run(found) -> Path:
    """The folder of a run that was begun with it, in which nothing was done yet."""
    folder = Path("runs", "lake")
    folder.mkdir(parents=True)
    runs.begin(folder, "study of lake", plain(found.study))
    remember(folder, found)
    return folder


def commands():
    return ("evaluate", "lake", "--quiet"), ("watch", "lake")


def test_a_run_without_a_record_asks_for_its_study(run, capsys):
    (run / RECORD).unlink()
    for command in commands():
        said = answered(capsys, *command)
        assert said == "runs/lake does not say of which study it is; say so with: --study FILE"


def test_a_record_says_all_that_it_should(run, capsys):
    write_json(run / RECORD, {"file": 3})
    for command in commands():
        assert answered(capsys, *command) == "runs/lake/study.json does not say what it should under 'file'"


def test_a_study_that_is_gone_is_asked_for(run, found, capsys):
    found.file.unlink()
    for command in commands():
        assert answered(capsys, *command) == (
            f"the study of runs/lake is not in {found.file} any more; say where it is with: --study FILE"
        )


def test_a_study_in_the_runs_own_folder_is_not_run(run, found, capsys):
    """Whoever is sent a run and looks at it runs none of its files."""
    inside = run / "walk.py"
    inside.write_text("raise RuntimeError('it was run')\n")
    write_json(run / RECORD, read_json(run / RECORD) | {"file": str(inside.resolve())})
    for command in commands():
        assert answered(capsys, *command) == (
            "the study of runs/lake lies in the run's own folder, whose files are not run; --study FILE"
        )


def test_a_study_that_has_changed_is_not_taken_for_the_old_one(run, found, capsys):
    write_json(run / RECORD, read_json(run / RECORD) | {"fingerprint": "of another text"})
    for command in commands():
        assert answered(capsys, *command) == (
            f"{found.file} has changed since runs/lake was made with it; say that it is to be used with: --study"
            f" {found.file}"
        )


def test_what_was_recorded_is_found_again(run, found, capsys):
    """What is missing then is an agent."""
    assert ca.catalogue.study_of(run) is found.study
    for extra in ((), ("--study", found.file.name)):
        assert "there is no agent" in answered(capsys, "evaluate", "lake", "--quiet", *extra)


def test_the_script_that_runs_is_where_a_study_is_found(tmp_path, monkeypatch):
    main_module = sys.modules["__main__"]
    study = lake.study()
    monkeypatch.setattr(main_module, "__file__", str(tmp_path / "script.py"), raising=False)
    assert of_main(study) is None
    monkeypatch.setattr(main_module, "PRESETS", {"small": study}, raising=False)
    assert of_main(study) == StudyFile((tmp_path / "script.py").resolve(), "small", study)
