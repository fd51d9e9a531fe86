"""The report of committed results, and of what is not there."""

from html import escape
from pathlib import Path

import pytest

from coadapt.experiments.pages import STORIES, results_in, write_report
from coadapt.storage.files import Incompatible

RESULTS = Path(__file__).parents[2] / "results"


def test_the_committed_results_make_a_page(tmp_path):
    folders = results_in(RESULTS)
    assert [folder.name for folder in folders] == list(STORIES)
    html, markdown = (file.read_text() for file in write_report(folders, tmp_path))
    for story in STORIES.values():
        assert f"<h2>{story.title}</h2>" in html
        for caption in story.captions.values():
            assert escape(caption) in html
            assert f"*{caption}*" in markdown
    assert html.count("<img") == sum(len(story.captions) for story in STORIES.values())
    assert "<h2></h2>" not in html
    assert "commit" in html
    assert "learning.svg" in markdown
    assert html.count("Seconds the stages took") == 3  # of the matrix game, of the salesman's training, and measuring


def test_a_run_or_a_folder_of_results_will_do(tmp_path):
    (tmp_path / "run" / "results").mkdir(parents=True)
    (tmp_path / "run" / "results" / "summary.json").write_text("{}")
    assert results_in(tmp_path / "run") == results_in(tmp_path / "run" / "results") == [tmp_path / "run" / "results"]


def test_a_run_tells_its_configuration(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "summary.json").write_text("{}")
    (tmp_path / "config.json").write_text('{"predictor": {"games": 1234}}')
    html, _ = write_report(results_in(tmp_path), tmp_path)
    assert "<td>predictor.games</td><td>1234</td>" in html.read_text()


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
