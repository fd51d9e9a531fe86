import pytest

from tests.runs.toy import run_toy


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """A run of the toy experiment that nothing happened to."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    run_toy(folder)
    return folder


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """Where the processes of these tests keep what they compile, so that each program is compiled once."""
    return tmp_path_factory.mktemp("cache")
