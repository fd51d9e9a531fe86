"""Names, places and terminals as they should not be: a sentence and an exit status, and nothing steers the terminal."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from coadapt.cli import main
from coadapt.evaluation.pages import Figure, Page, Section, as_html, as_markdown
from coadapt.printable import printable
from coadapt.storage import runs
from coadapt.tables import Table, tables_in

RED = "\x1b[31mred\x1b]0;title\x07"
NOT_UTF8 = os.fsdecode(b"caf\xe9")
LONG = "n" * 300


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answer(*arguments):
    """The exit status."""
    try:
        main(arguments)
    except SystemExit as left:
        return left.code or 0
    return 0


def test_what_can_be_seen_stays_as_it_is():
    assert printable("± 0.1 – café │ 日本") == "± 0.1 – café │ 日本"
    assert printable(f"a\n{RED}{NOT_UTF8}\u202e") == r"a\n\x1b[31mred\x1b]0;title\x07caf\udce9\u202e"


@pytest.mark.parametrize("name", [RED, NOT_UTF8, "line\nbreak"])
def test_names_of_runs_do_not_steer_the_terminal(here, name, capsys):
    run = runs.begin(here / "runs" / name, "toy\x1b[2J", {"field\x1b[2J": "value\x1b[2J"})
    run.set_state("failed", stage="stage\x1b[2J", note="note\x1b[2J", headline={"number\x1b[2J": 1.0})
    for arguments in (("runs",), ("runs", "show", name), ("runs", "compare", name, name), ("resume", name)):
        assert answer(*arguments) in (0, 2)
    shown = capsys.readouterr()
    assert not [c for c in shown.out + shown.err if not (c.isprintable() or c == "\n")]
    assert "toy\\x1b[2J" in shown.out


@pytest.mark.parametrize("name", [LONG, f"below/{LONG}"])
def test_a_name_that_is_too_long_is_a_mistake(here, name, capsys):
    (here / "below").mkdir()
    for arguments in (
        ("runs", "show", name),
        ("runs", "list", "--root", name),
        ("report", name),
        ("doctor", "--prune", "artefacts", "--root", name),
        ("evaluate", name),
        ("reproduce", "matrix-game", "--run", name),
        ("reproduce", "matrix-game", "--config", name),
    ):
        assert answer(*arguments) == 2, arguments
        *signs_of_life, said = capsys.readouterr().err.splitlines()  # of a machine that is busy
        assert all(line.startswith("planning, ") for line in signs_of_life)
        assert said.startswith("coadapt: ")
    assert list(here.rglob("*")) == [here / "below"]


@pytest.mark.parametrize("arguments", [("runs", "show", ""), ("reproduce", "matrix-game", "--run", ""), ("report", "")])
def test_an_empty_name_is_a_mistake(here, arguments, capsys):
    assert answer(*arguments) == 2
    assert "one of the arguments is empty" in capsys.readouterr().err
    assert list(here.iterdir()) == []


def test_nobody_waits_for_a_pipe(here, capsys):
    os.mkfifo(here / "pipe")
    assert answer("reproduce", "matrix-game", "--config", "pipe") == 2
    assert capsys.readouterr().err == "coadapt: pipe cannot be read: it is not a regular file.\n"


@pytest.fixture
def forbidden(here):
    """Within it we are somebody who may look into none of these folders: what the system says, not what we pretend."""
    folders = [here / "runs" / "theirs" / "metrics", here / "runs" / "closed", here / "results" / "theirs"]
    run = runs.begin(here / "runs" / "theirs", "toy", {"field": 1})
    run.set_metrics("first", b'{"done": 1, "loss": [0.5]}\n')
    runs.begin(here / "runs" / "closed", "toy", {})
    folders[2].mkdir(parents=True)
    (folders[2] / "summary.json").write_text("{}")
    before = os.geteuid()
    os.chmod(here, 0o755)
    for folder in folders:
        os.chmod(folder, 0)
    if before == 0:
        os.seteuid(65534)
    yield
    os.seteuid(before)
    for folder in folders:
        os.chmod(folder, 0o755)


def test_folders_of_others(capsys, request):
    for arguments in (("runs",), ("runs", "show", "nobody"), ("report", "nobody"), ("doctor", "--root", "nowhere")):
        answer(*arguments)  # loads what it needs, which somebody else might not be allowed to
    Table("", [""], []).show()
    request.getfixturevalue("forbidden")
    capsys.readouterr()
    assert answer("runs") == 0
    assert "theirs" in capsys.readouterr().out
    for arguments in (("runs", "show", "closed"), ("report",), ("report", "results/theirs"), ("report", "runs/closed")):
        assert answer(*arguments) == 2, arguments
        said = capsys.readouterr().err
        assert said.endswith("Permission denied.\n"), arguments
        assert said.count("\n") == 1
    assert answer("runs", "show", "theirs") in (0, 2)


def process(*arguments, redirect="", **environment):
    program = "from coadapt.cli import main; main()"
    command = ["sh", "-c", f'"$0" -c "{program}" "$@" {redirect}', sys.executable, *arguments]
    buffered = {"PYTHONUNBUFFERED": ""}  # as it usually is: then a full device shows only when all is written
    return subprocess.run(command, env=os.environ | buffered | environment, capture_output=True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    ("arguments", "redirect", "status", "said"),
    [
        (("runs",), ">/dev/full", 1, b"coadapt: cannot write the answer: No space left on device.\n"),
        (("--help",), ">/dev/full", 1, b"coadapt: cannot write the answer: No space left on device.\n"),
        (("runs", "show", "nobody"), "2>/dev/full", 2, b""),
        (("runs", "show", "nobody"), "2>&-", 2, b""),
        (("runs",), ">&-", 0, b""),
    ],
)
def test_nobody_can_read_the_answer(arguments, redirect, status, said):
    told = process(*arguments, redirect=redirect)
    assert (told.returncode, told.stderr) == (status, said)


@pytest.mark.parametrize("locale", [{"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])
def test_terminals_that_know_few_characters(here, locale):
    runs.begin(here / "runs" / "café", "toy", {})
    for arguments in (
        ("--help",),
        ("runs",),
        ("runs", "show", "café"),
        ("report", NOT_UTF8),
        ("runs", "show", NOT_UTF8),
    ):
        told = process(*arguments, **locale)
        assert told.returncode in (0, 2), told.stderr
        assert b"Traceback" not in told.stderr


HTML = "<script>alert(1)</script>&amp;<img src=x onerror=y>"


def test_what_looks_like_html_is_text(here):
    table = Table(HTML, [HTML, "b|c"], [[HTML, "d\ne|"]])
    picture = here / "a (b) <i>.svg"
    picture.write_text("<svg/>")
    page = Page("Results", "Lead", [Section(HTML, HTML, [Figure(picture, HTML)], [table])])
    for text in (as_markdown(page, here), as_html(page)):
        assert "<script" not in text
        assert "<img src=x" not in text
    assert "](a%20%28b%29%20%3Ci%3E.svg)" in as_markdown(page, here)
    (found,) = tables_in(table.markdown())
    assert (found.title, found.columns, found.rows) == (HTML, [HTML, "b|c"], [[HTML, "d\\ne|"]])
