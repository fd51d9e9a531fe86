"""Figures as the contents of files."""

import io
from typing import Any


def as_files(figure: Any, dpi: int) -> dict[str, bytes]:
    """The contents of a png file, as fine as asked for, and of an svg file."""
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "coadapt"}):  # no random ids and no date: the same picture gives the same file
        return {
            "png": _saved(figure, format="png", dpi=dpi),
            "svg": _saved(figure, format="svg", metadata={"Date": None}),
        }


def _saved(figure, **how) -> bytes:
    with io.BytesIO() as file:
        figure.savefig(file, **how)
        return file.getvalue()
