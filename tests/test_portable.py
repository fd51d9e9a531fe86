"""It works on Linux, macOS and Windows, as far as one can tell from here. `tests.windows` says what is pretended."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import coadapt

MODULES = sorted(Path(coadapt.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize("what", ["import", "run"])
def test_modules_can_be_imported_and_a_run_be_made_and_gone_on_with_on_windows(tmp_path, what):
    command = [sys.executable, "-m", "tests.windows", what, str(tmp_path / "runs")]
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run(command, check=True, cwd=Path(__file__).parent.parent, env=environment)


def without_encoding(source: str) -> list[int]:
    """The lines with a call that leaves the encoding of a text to the system."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    named = [{keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords} for call in calls]
    return [
        call.lineno for call, how in zip(calls, named, strict=True) if "encoding" not in how and _is_of_text(call, how)
    ]


def _is_of_text(call: ast.Call, how: dict[str | None, str]) -> bool:
    name, given = ast.unparse(call.func), [ast.unparse(argument) for argument in call.args]
    if name.endswith((".read_text", ".write_text")):
        return True
    if name in ("open", "os.fdopen") or (name.endswith(".open") and name != "os.open"):
        mode = how.get("mode", "".join(given[0 if "." in name and name != "os.fdopen" else 1 :][:1]))
        return "b" not in mode
    return how.get("text") == "True"


@pytest.mark.parametrize("module", MODULES, ids=lambda file: file.stem)
def test_text_is_read_and_written_in_one_encoding_everywhere(module):
    assert without_encoding(module.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "call", ["open(a)", "p.open('w')", "os.fdopen(d, 'a')", "p.read_text(*a)", "p.write_text(t)", "run(c, text=True)"]
)
def test_who_names_no_encoding_is_found(call):
    assert without_encoding(call) == [1]
    assert without_encoding(call.replace(")", ", encoding='utf-8')")) == []


def test_bytes_need_no_encoding():
    assert without_encoding("os.open(a, f); open(a, 'rb'); p.open('wb'); os.fdopen(d, mode='wb'); p.read_bytes()") == []
