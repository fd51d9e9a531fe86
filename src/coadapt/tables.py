"""A table as people like to read it: in a terminal, or in Markdown."""

import re
from collections.abc import Sequence
from html import escape, unescape
from typing import NamedTuple

from coadapt.printable import printable

BAR = "\\|"
"""A bar within a cell, which would end it."""


class Table(NamedTuple):
    """Cells are ready-made strings; the first column is text, the others numbers but for those named."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: tuple[int, ...] = ()  # further columns of text

    def markdown(self) -> str:
        """As a Markdown table, its title as a bold line above it."""
        rule = ["---" if number in (0, *self.left) else "---:" for number in range(len(self.columns))]
        lines = [" | ".join(map(_in_markdown, line)) for line in (self.columns, rule, *self.rows)]
        return "\n".join([f"**{as_text(self.title)}**", "", *(f"| {line} |" for line in lines), ""])

    def show(self) -> None:
        """On the terminal."""
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        shown = lambda text: Text(printable(text))  # as it is: brackets are no markup, and nothing steers the terminal
        table = RichTable(title=shown(self.title), title_justify="left")
        for number, column in enumerate(self.columns):
            table.add_column(shown(column), overflow="fold", justify="left" if number in (0, *self.left) else "right")
        for row in self.rows:
            table.add_row(*map(shown, row))
        # Elsewhere than on a terminal nobody says how wide a line may be, so nothing need be folded.
        console = Console() if Console().is_terminal else Console(width=220)
        console.print(table)


def tables_in(markdown: str) -> list[Table]:
    """The tables of a file that `Table.markdown` wrote, in their order."""
    found = []
    for block in f"\n{markdown}".split("\n**")[1:]:
        title, _, rest = block.partition("**\n")
        title = unescape(title)
        lines = [_cells(line) for line in rest.splitlines() if line.startswith("|")]
        if len(lines) >= 2:
            columns, rule, *rows = lines
            left = tuple(number for number, mark in enumerate(rule) if number and not mark.endswith(":"))
            found.append(Table(title, columns, rows, left))
    return found


def as_text(text: str) -> str:
    """For Markdown: what looks like HTML is text all the same, and a line stays one."""
    return escape(printable(text), quote=False)


def _in_markdown(cell: str) -> str:
    return as_text(cell).replace("|", BAR)


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [unescape(cell.strip().replace(BAR, "|")) for cell in re.split(r"(?<!\\)\|", inner)]
