"""For all tests: nothing is broadcast or promoted behind one's back, and annotated shapes are checked as code runs."""

import hypothesis
import jax
import pytest
from jaxtyping import install_import_hook

import tests.typechecker  # noqa: F401 (the hook below finds it by name)
from tests.guard import pytest_runtest_protocol as pytest_runtest_protocol

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

# The same examples every time, or a test might fail for somebody who has changed nothing; and compiling takes its time.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
hypothesis.settings.load_profile("repeatable")

FLOORS_OF_ARRAYS = ("games", "networks", "players", "partners", "encounters", "oracles", "agents", "evaluation")
install_import_hook([f"coadapt.{floor}" for floor in FLOORS_OF_ARRAYS], "tests.typechecker.checked")


@pytest.fixture(scope="session", autouse=True)
def programs_are_compiled_once(tmp_path_factory):
    """Tests that run the same program again, as those of reproducibility do, need not compile it again."""
    jax.config.update("jax_compilation_cache_dir", str(tmp_path_factory.mktemp("compiled")))


def pytest_collection_modifyitems(items):
    """Files with slow tests come first: nobody is left alone with one of them when the others have nothing to do."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture
def key():
    return jax.random.key(0)
