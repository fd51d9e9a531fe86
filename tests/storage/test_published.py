"""Results are published where nothing is lost by it, and where they were published before."""

import shutil
from pathlib import Path

import pytest

from coadapt.storage import runs
from coadapt.storage.files import Damaged, Incompatible, write_bytes
from coadapt.storage.published import check_place, publish

RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture
def run(tmp_path):
    """A run with two results, beside the store it shares with others."""
    run = runs.begin(tmp_path / "runs/one", "toy", {"pull": 0.5})
    run.results.mkdir()
    (run.results / "summary.json").write_text("{}")
    (run.results / "table.md").write_text("a table")
    (tmp_path / "runs/artefacts/first-0123").mkdir(parents=True)
    return run


def contents(folder):
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_results_are_published_again_where_they_were_published_before(run, tmp_path):
    folder = tmp_path / "published"
    for table in ("a table", "a better table"):
        (run.results / "table.md").write_text(table)
        check_place(folder, run.folder, "toy")
        publish(run, folder)
        assert (folder / "table.md").read_text() == table
    assert {file.name for file in folder.iterdir()} == {"config.json", "summary.json", "table.md", "published.json"}


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("thesis", r"thesis holds chapter\.tex, which was not published by coadapt"),
        ("runs", "holds artefacts, which was not published"),
        ("runs/one", "one is a run; choose a folder outside of it"),
        ("runs/one/results", "one is a run"),
        ("runs/one/new", "one is a run"),
        ("runs/other", "other is a run"),
        ("link", "one is a run"),
        ("runs/artefacts", "this is where runs keep what is finished"),
        ("runs/artefacts/first-0123", "this is where runs keep what is finished"),
        ("thesis/chapter.tex", "Not a directory"),
        ("of another", "holds published results of 'another', not of 'toy'"),
        ("loop", "there is no way to|Too many levels"),
    ],
)
def test_nothing_is_published_over_what_is_something_else(run, tmp_path, place, words):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/chapter.tex").write_text("years of work")
    (tmp_path / "link").symlink_to(run.folder)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    other = runs.begin(tmp_path / "runs/other", "another", {})
    other.results.mkdir()
    publish(other, tmp_path / "of another")
    before = contents(tmp_path)
    with pytest.raises(Incompatible, match=words):
        check_place(tmp_path / place, run.folder, "toy")
    assert contents(tmp_path) == before


def test_what_a_person_has_written_into_a_published_folder_is_theirs(run, tmp_path):
    folder = tmp_path / "published"
    publish(run, folder)
    (folder / "notes.md").write_text("mine")
    check_place(folder, run.folder, "toy")
    (run.results / "notes.md").write_text("a result of a later version")
    with pytest.raises(Incompatible, match=r"notes\.md was not published by coadapt and is left alone"):
        publish(run, folder)
    (run.results / "notes.md").unlink()
    (folder / "table.md").write_text("mended by hand")
    with pytest.raises(Incompatible, match=r"table\.md was changed after it was published"):
        check_place(folder, run.folder, "toy")
    assert (folder / "notes.md").read_text() == "mine"


def test_whoever_is_killed_while_publishing_can_publish_again(run, tmp_path, monkeypatch):
    folder = tmp_path / "published"
    publish(run, folder)
    for name in ("summary.json", "table.md"):
        (run.results / name).write_text('"new"')

    def killed(path, data):
        if path.name == "table.md":
            raise KeyboardInterrupt
        write_bytes(path, data)

    with monkeypatch.context() as patch:
        patch.setattr("coadapt.storage.published.write_bytes", killed)
        with pytest.raises(KeyboardInterrupt):
            publish(run, folder)
    check_place(folder, run.folder, "toy")
    publish(run, folder)
    assert (folder / "table.md").read_text() == '"new"'


def test_a_damaged_list_is_no_list(run, tmp_path):
    folder = tmp_path / "published"
    publish(run, folder)
    (folder / "published.json").write_text("{}")
    with pytest.raises(Damaged, match=r"published\.json has no seal"):
        check_place(folder, run.folder, "toy")


@pytest.mark.parametrize(
    ("folder", "experiment"),
    [("matrix_game", "matrix_game"), ("salesman", "salesman_pretrained"), ("matrix_game_tuning", "matrix_game_tuning")],
)
def test_the_committed_results_are_as_published_and_can_be_published_again(run, tmp_path, folder, experiment):
    shutil.copytree(RESULTS / folder, tmp_path / folder)
    check_place(tmp_path / folder, run.folder, experiment)
