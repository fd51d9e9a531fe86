"""A page of results: everything is within it, and nothing in it is taken for markup."""

import re
from html.parser import HTMLParser

from coadapt.evaluation.pages import Figure, Page, Section, as_html, as_markdown
from coadapt.tables import Table, tables_in

TABLE = Table("A <b>title</b>", ["method", "how", "return"], [["ours & theirs", "by hand", "0.1"]], left=(1,))
PIXEL = b"<svg xmlns='http://www.w3.org/2000/svg'/>"


def page(folder):
    picture = folder / "sub" / "picture.svg"
    picture.parent.mkdir()
    picture.write_bytes(PIXEL)
    figure = Figure(picture, 'What to "see"')
    return Page("Title", "One.\n\nTwo.", [Section("First", "Text", [figure], [TABLE]), Section("More", folded=True)])


class Tags(HTMLParser):
    """Every tag that is opened is closed, in turn."""

    VOID = ("meta", "img", "!doctype")

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_is_whole_and_needs_no_other_file(tmp_path):
    html = as_html(page(tmp_path))
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    links = [attrs.get("src") or attrs.get("href") for _, attrs in tags.seen if "src" in attrs or "href" in attrs]
    assert [link.partition(",")[0] for link in links] == ["data:image/svg+xml;base64"]
    assert not re.search(r"https?://", html)


def test_what_looks_like_markup_is_text(tmp_path):
    html = as_html(page(tmp_path))
    assert "A &lt;b&gt;title&lt;/b&gt;" in html
    assert "ours &amp; theirs" in html
    assert 'alt="What to &quot;see&quot;"' in html


def test_markdown_links_to_the_pictures(tmp_path):
    text = as_markdown(page(tmp_path), tmp_path)
    assert '![What to "see"](sub/picture.svg)' in text
    assert "# Title\n\nOne." in text
    assert TABLE.markdown().strip() in text


def test_tables_survive_markdown():
    other = Table("Other", ["a", "b"], [["1", "2"], ["a | b", ""]])
    assert tables_in(f"{TABLE.markdown()}\n**No table.**\n\n{other.markdown()}") == [TABLE, other]
