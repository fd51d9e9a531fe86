"""Files are data: nothing in the project loads or stores code."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
FORBIDDEN = re.compile(r"\b(pickle|cloudpickle|dill|joblib|shelve|marshal)\b|allow_pickle|torch\.load|np\.load\(")


def test_no_pickle_anywhere():
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for folder in ("src", "tests", "examples", "docs")
        for path in (ROOT / folder).rglob("*.py")
        if path != Path(__file__)
        for match in FORBIDDEN.finditer(path.read_text())
    ]
    assert found == []
