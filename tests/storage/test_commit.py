"""Which commit made a number: marked if the code was changed since, and not if results were published beside it."""

import importlib.util
import shutil
import subprocess

import pytest

from coadapt.storage import provenance


@pytest.fixture
def checkout(tmp_path):
    """A repository with this module in it, published results beside it, and a file that nobody has committed."""
    for name in ("src", "results"):
        (tmp_path / name).mkdir()
    shutil.copy(provenance.__file__, tmp_path / "src" / "provenance.py")
    (tmp_path / "results" / "table.md").write_text("before")
    identity = ("-c", "user.name=somebody", "-c", "user.email=somebody@localhost")
    for command in (("init", "-q"), ("add", "."), (*identity, "commit", "-q", "-m", "first")):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    (tmp_path / "notes.txt").touch()
    return tmp_path


def commit_of(checkout):
    spec = importlib.util.spec_from_file_location("of_checkout", checkout / "src" / "provenance.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.commit()


def test_a_checkout_as_it_was_committed(checkout):
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=checkout, capture_output=True, text=True).stdout.strip()
    assert commit_of(checkout) == head


def test_published_results_are_no_change_of_the_code(checkout):
    before = commit_of(checkout)
    (checkout / "results" / "table.md").write_text("after")
    assert commit_of(checkout) == before


def test_changed_code_is_marked(checkout):
    before = commit_of(checkout)
    with (checkout / "src" / "provenance.py").open("a") as file:
        file.write("# more\n")
    assert commit_of(checkout) == f"{before} with changes"
