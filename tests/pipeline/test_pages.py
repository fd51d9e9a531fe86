"""The report of committed results, of made-up ones, and of what is not there."""

import json
from html import escape
from pathlib import Path

import pytest

from coadapt.configs.data import plain
from coadapt.pipeline.pages import Story, conclusion_of, results_in, write_report
from coadapt.storage.files import Incompatible
from coadapt.tables import Table

RESULTS = Path(__file__).parents[2] / "results"


def story_of(folder):
    return Story(**json.loads((folder / "summary.json").read_text())["story"])


def test_the_committed_results_make_a_page(tmp_path):
    folders = results_in(RESULTS)
    assert [folder.name for folder in folders] == ["matrix_game", "salesman", "bench"]
    html, markdown = (file.read_text() for file in write_report(folders, tmp_path))
    stories = [story_of(folder) for folder in folders]
    for story in stories:
        assert f"<h2>{escape(story.title)}</h2>" in html
        for caption in story.captions.values():
            assert escape(caption) in html
            assert f"*{caption}*" in markdown
    assert html.count("<img") == sum(len(story.captions) for story in stories)
    assert "<h2></h2>" not in html
    assert "commit" in html
    assert "learning.svg" in markdown
    assert html.count("Seconds the stages took") == 3  # of the matrix game, of the salesman's training, and measuring


def made_up(folder, story, **more):
    """Results with two pictures and three tables."""
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text(json.dumps({"experiment": "mine", "story": story, **more}))
    for name in ("first.svg", "first.png", "second.png"):
        (folder / name).write_text("<svg/>")
    tables = [Table(title, ["what"], [[f"{title} row"]]) for title in ("One", "Two", "Three")]
    (folder / "table.md").write_text("\n".join(table.markdown() for table in tables))
    return folder


STORY = Story("My game", "What it is about.", {"second": "Then this.", "first": "This <first>.", "none": "No picture."})


def test_results_tell_their_own_story(tmp_path):
    """The first picture, the first tables, the other pictures, each the sharper file of two.

    What was not drawn is not spoken of.
    """
    folder = made_up(tmp_path / "results", STORY._replace(first_tables=2)._asdict(), verdict="It <won>.")
    html, markdown = (file.read_text() for file in write_report([folder], tmp_path))
    told = [
        "<h2>My game</h2>",
        "What it is about.",
        "It &lt;won&gt;.",
        "Then this.",
        "One row",
        "Two row",
        "This &lt;first&gt;.",
    ]
    places = [html.index(words) for words in told]
    assert places == sorted(places)
    assert places[-1] < html.index("My game: all other numbers") < html.index("Three row")
    assert html.count("<img") == 2
    assert "No picture." not in html + markdown
    assert markdown.index("results/second.png") < markdown.index("results/first.svg")


@pytest.mark.parametrize(
    "story", [None, [], {"title": "Half of it"}, STORY._asdict() | {"place": "first"}, STORY._asdict() | {"text": 7}]
)
def test_results_that_do_not_tell_their_story_are_called_by_their_name(tmp_path, story):
    html = write_report([made_up(tmp_path / "results", story)], tmp_path)[0].read_text()
    assert "<h2>mine</h2>" in html
    assert "One row" in html
    assert html.count("<img") == 0


@pytest.mark.parametrize("stem", ["../beside", "/beside", "..", "", "results/../first"])
def test_pictures_are_those_of_the_folder_alone(tmp_path, stem):
    (tmp_path / "beside.svg").write_text("<svg/>")
    folder = made_up(tmp_path / "results", STORY._replace(captions={stem: "Not ours."})._asdict())
    assert write_report([folder], tmp_path / "page")[0].read_text().count("<img") == 0


def test_a_story_without_captions_can_be_written():
    assert plain(Story("My game")._asdict())["captions"] == {}


def test_stories_are_told_in_their_order(tmp_path):
    for name, place in {"a": 2, "b": 0, "c": 1}.items():
        made_up(tmp_path / name, STORY._replace(place=place)._asdict())
    assert [folder.name for folder in results_in(tmp_path)] == ["b", "c", "a"]


def test_a_run_or_a_folder_of_results_will_do(tmp_path):
    (tmp_path / "run" / "results").mkdir(parents=True)
    (tmp_path / "run" / "results" / "summary.json").write_text("{}")
    assert results_in(tmp_path / "run") == results_in(tmp_path / "run" / "results") == [tmp_path / "run" / "results"]


def test_a_run_tells_its_configuration(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "summary.json").write_text("{}")
    (tmp_path / "config.json").write_text('{"predictor": {"num_envs": 1234}}')
    html, _ = write_report(results_in(tmp_path), tmp_path)
    assert "<td>predictor.num_envs</td><td>1234</td>" in html.read_text()


def test_the_page_has_the_sentence_and_names_runs_of_one_experiment(tmp_path):
    for run in ("one", "two"):
        (tmp_path / run / "results").mkdir(parents=True)
        told = {"experiment": "salesman", "story": Story("My game")._asdict() | {"captions": {}}}
        summary = json.dumps(told | {"verdict": f"Run {run} <won>."})
        (tmp_path / run / "results" / "summary.json").write_text(summary)
    folders = [folder for run in ("one", "two") for folder in results_in(tmp_path / run)]
    assert [conclusion_of(folder) for folder in folders] == [(None, "Run one <won>."), (None, "Run two <won>.")]
    html = write_report(folders, tmp_path)[0].read_text()
    for run in ("one", "two"):
        assert f"<h2>My game ({run})</h2>" in html
        assert f"Run {run} &lt;won&gt;." in html


def test_where_there_are_no_results_a_sentence_says_so(tmp_path):
    with pytest.raises(Incompatible, match="no results in"):
        results_in(tmp_path)


@pytest.mark.parametrize(
    ("summary", "sentence"), [("{", "is not readable as JSON"), ("[]", "does not say what it should")]
)
def test_a_damaged_summary_is_named(tmp_path, summary, sentence):
    (tmp_path / "summary.json").write_text(summary)
    with pytest.raises(Incompatible, match=rf"summary\.json {sentence}"):
        write_report([tmp_path], tmp_path)
