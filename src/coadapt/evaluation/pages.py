"""A page of results to look at: text, tables and figures, as HTML in one file and as Markdown."""

import base64
import mimetypes
import os
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from coadapt.tables import Table, as_text


class Figure(NamedTuple):
    """A picture in a file, and the one line that says what to see in it."""

    file: Path
    caption: str


class Section(NamedTuple):
    """Part of a page: the first figure, the tables, then what else there is to see."""

    title: str
    text: str = ""
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    folded: bool = False  # to be opened by whoever wants to know more


class Page(NamedTuple):
    """What somebody sees who does not know the project, and has a minute."""

    title: str
    lead: str
    sections: Sequence[Section]


def as_html(page: Page) -> str:
    """One file that needs no other: pictures are within it, and it links to nothing."""
    body = "\n".join(_section(section) for section in page.sections)
    return HTML.format(title=escape(page.title), lead=_paragraphs(page.lead), style=STYLE, body=body)


def as_markdown(page: Page, folder: Path) -> str:
    """The same as Markdown, for a file in this folder; pictures are linked to."""
    parts = [f"# {page.title}", page.lead]
    for section in page.sections:
        parts += [f"## {as_text(section.title)}", escape(section.text, quote=False)]
        first, *others = [_linked(figure, folder) for figure in section.figures] or [""]
        parts += [first, *(table.markdown() for table in section.tables), *others]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _linked(figure: Figure, folder: Path) -> str:
    link = quote(os.fsencode(Path(os.path.relpath(figure.file, folder)).as_posix()))
    caption = as_text(figure.caption)
    return f"![{caption}]({link})\n\n*{caption}*"


def _section(section: Section) -> str:
    first, *others = map(_figure, section.figures) if section.figures else [""]
    inner = "\n".join([_paragraphs(section.text), first, *map(_table, section.tables), *others])
    title = escape(section.title)
    if section.folded:
        return f"<section><details><summary><h2>{title}</h2></summary>\n{inner}\n</details></section>"
    return f"<section><h2>{title}</h2>\n{inner}\n</section>"


def _paragraphs(text: str) -> str:
    return "\n".join(f"<p>{escape(part)}</p>" for part in text.split("\n\n") if part.strip())


def _figure(figure: Figure) -> str:
    kind, _ = mimetypes.guess_type(figure.file.name)
    data = base64.b64encode(figure.file.read_bytes()).decode()
    caption = escape(figure.caption)
    image = f'<img alt="{escape(figure.caption, quote=True)}" src="data:{kind};base64,{data}">'
    return f"<figure>{image}<figcaption>{caption}</figcaption></figure>"


def _table(table: Table) -> str:
    cells = lambda tag, row: "".join(f"<{tag}{_side(table, n)}>{escape(cell)}</{tag}>" for n, cell in enumerate(row))
    head = f"<thead><tr>{cells('th', table.columns)}</tr></thead>"
    rows = "\n".join(f"<tr>{cells('td', row)}</tr>" for row in table.rows)
    title = f'<p class="caption">{escape(table.title)}</p>'
    return f'{title}<div class="table"><table>{head}\n<tbody>\n{rows}\n</tbody></table></div>'


def _side(table: Table, column: int) -> str:
    return "" if column == 0 or column in table.left else ' class="number"'


STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --soft: #5b6472; --paper: #fbfbf9; --card: #ffffff; --line: #dfe2e6; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e7e9ee; --soft: #a2aab8; --paper: #14171d; --card: #1c2129; --line: #343b47; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 80rem; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0.5rem 0; }
h2 { font-size: 1.2rem; margin: 0 0 0.6rem; }
p, figcaption { max-width: 56rem; }
header p { color: var(--soft); font-size: 1.05rem; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 0.6rem;
  margin: 1rem 0; padding: 1rem; }
summary { cursor: pointer; } summary h2 { display: inline; }
figure { margin: 1rem 0; }
figure img { background: #ffffff; border-radius: 0.4rem; display: block; height: auto;
  max-width: min(100%, 60rem); }
figcaption, .caption { color: var(--soft); font-size: 0.9rem; margin: 1rem 0 0; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; margin: 0.5rem 0; }
th, td { border-bottom: 1px solid var(--line); padding: 0.25rem 0.45rem; text-align: left; vertical-align: bottom; }
th { min-width: 4rem; } td { white-space: nowrap; } td:first-child { min-width: 9rem; white-space: normal; }
th.number, td.number { text-align: right; }
"""

HTML = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header><h1>{title}</h1>
{lead}
</header>
{body}
</body>
</html>
"""
