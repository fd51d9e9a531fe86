"""A page of results to look at: text, tables and figures, as HTML in one file and as Markdown."""

import base64
import mimetypes
import os
from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import NamedTuple
from urllib.parse import quote

from coadapt.tables import Table, as_text

FRAME = Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
"""What every page has around its content, and how it looks."""


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
    return FRAME.substitute(title=escape(page.title), lead=_paragraphs(page.lead), body=body)


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
    look = ["" if n == 0 or n in table.left else ' class="number"' for n in range(len(table.columns))]
    cells = lambda tag, row: "".join(f"<{tag}{look[n]}>{escape(cell)}</{tag}>" for n, cell in enumerate(row))
    head = f"<thead><tr>{cells('th', table.columns)}</tr></thead>"
    rows = "\n".join(f"<tr>{cells('td', row)}</tr>" for row in table.rows)
    title = f'<p class="caption">{escape(table.title)}</p>'
    return f'{title}<div class="table"><table>{head}\n<tbody>\n{rows}\n</tbody></table></div>'
