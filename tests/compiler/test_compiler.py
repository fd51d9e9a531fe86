"""The compiler computes what was written, and releases that are known not to are made to."""

import os
import subprocess
import sys
import warnings
from types import SimpleNamespace

import pytest

from coadapt import compiler
from coadapt.compiler import (
    FAULTS,
    FLAG,
    LOG_LEVEL,
    avoid_faults,
    is_switched_off,
    keep_false_alarms_quiet,
    known_fault,
)
from tests.compiler.probe import PROBES, TOLERANCE, Compared, reported_fault
from tests.runs.processes import compiled_once

JUST_OFF = 2**15 + 1
"""Where the reported fault shows itself."""


def test_the_reported_fault_is_not_here():
    """The square of the last row's number, 32,768, is a power of two, and single precision holds it exactly."""
    compared = reported_fault(JUST_OFF)
    assert float(compared.compiled[-1]) == 1_073_741_824.0
    assert compared.error <= TOLERANCE


def test_a_wrong_row_does_not_go_unnoticed():
    compared = reported_fault(JUST_OFF)
    wrong = compared.expected.copy()
    wrong[-1] = 1_071_645_696.0  # what the broken release returns
    assert Compared(wrong, compared.expected).error > 90 * TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBES)
def test_our_functions_are_compiled_as_they_were_written(name):
    """One above some powers of two; `make probe` tries all of them, and both sides of each."""
    errors = {rows: PROBES[name](rows).error for rows in (2**10 + 1, 2**13 + 1, JUST_OFF, 2**17 + 1, 2**19 + 1)}
    assert max(errors.values()) <= TOLERANCE, errors


SUMMED_UP = """
import coadapt, jax, jax.numpy as jnp
shape = (3, 1, 2, 2, 8, 8, 8)
ones = jnp.ones(shape)
print(float(jax.jit(lambda a, b: jnp.sum(a * b, axis=3))(ones, 2 * ones).sum()))
"""


def test_arrays_of_seven_axes_are_summed_up():
    """A broken release crashes, so it is tried in a process of its own: 3,072 pairs of ones and twos are multiplied."""
    done = subprocess.run([sys.executable, "-c", SUMMED_UP], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{2.0 * 3 * 2 * 2 * 8**3}\n"), done.stderr


@pytest.fixture
def no_flags(monkeypatch):
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    monkeypatch.setattr(compiler, "_has_started", lambda: False)
    return monkeypatch


@pytest.mark.parametrize("release", FAULTS)
def test_a_broken_release_is_spared_its_faulty_path(no_flags, release):
    no_flags.setattr(compiler, "installed", lambda: release)
    no_flags.setenv("XLA_FLAGS", "--xla_dump_to=here")
    avoid_faults()
    assert os.environ["XLA_FLAGS"] == f"--xla_dump_to=here {FLAG}="
    assert is_switched_off()


@pytest.mark.parametrize("release", ["0.9.2", "0.12.0.1", None])
def test_a_sound_release_is_left_alone(no_flags, release):
    """A flag that a release does not know makes it abort."""
    no_flags.setattr(compiler, "installed", lambda: release)
    avoid_faults()
    assert "XLA_FLAGS" not in os.environ
    assert known_fault() is None


def test_a_file_of_flags_is_read_and_not_written_to(no_flags, tmp_path):
    no_flags.setattr(compiler, "installed", lambda: "0.10.2")
    file = tmp_path / "flags.txt"
    no_flags.setenv("XLA_FLAGS", str(file))
    with pytest.warns(UserWarning, match=rf"XLA_FLAGS names a file, so add this line to it: {FLAG}="):
        avoid_faults()
    assert os.environ["XLA_FLAGS"] == str(file)
    assert not is_switched_off()
    file.write_text(f"--xla_dump_to=here\n{FLAG}=\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        avoid_faults()
    assert is_switched_off()


def test_blanks_are_no_flags(no_flags):
    no_flags.setattr(compiler, "installed", lambda: "0.10.2")
    no_flags.setenv("XLA_FLAGS", " ")
    avoid_faults()
    assert os.environ["XLA_FLAGS"] == f"{FLAG}="


@pytest.mark.parametrize(
    ("release", "before", "after"),
    [("0.10.1", None, "3"), ("0.10.1", "1", "3"), ("0.10.1", "0", "0"), ("0.12.0.1", None, None)],
)
def test_false_alarms_are_not_printed(no_flags, release, before, after):
    """What JAX sets by itself (it is there already, in this process) is not what somebody has asked for."""
    no_flags.setattr(compiler, "installed", lambda: release)
    levels = []
    no_flags.setitem(sys.modules, "jaxlib.utils", SimpleNamespace(absl_set_min_log_level=levels.append))
    no_flags.delenv(LOG_LEVEL, raising=False)
    if before is not None:
        no_flags.setenv(LOG_LEVEL, before)
    keep_false_alarms_quiet()
    assert os.environ.get(LOG_LEVEL) == after
    assert levels == ([3] if after == "3" else [])


FROM_THE_CACHE = """
import jax, coadapt
f = jax.jit(lambda x: jax.numpy.sum(jax.numpy.tanh(x @ x.T)[jax.numpy.arange(50) % 7]))
print(f(jax.numpy.ones((50, 50))))
"""


def test_a_program_from_the_cache_is_no_error(tmp_path):
    """Not even for somebody who imports JAX first."""
    environment = {name: value for name, value in compiled_once(tmp_path).items() if name != LOG_LEVEL}
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", FROM_THE_CACHE], capture_output=True, text=True, env=environment)
        assert (done.returncode, done.stdout, done.stderr) == (0, "2500.0\n", "")
    assert list(tmp_path.rglob("*-cache"))


def test_who_has_set_the_flag_is_obeyed(no_flags):
    no_flags.setattr(compiler, "installed", lambda: "0.10.2")
    no_flags.setenv("XLA_FLAGS", f"{FLAG}=dot")
    avoid_faults()
    assert os.environ["XLA_FLAGS"] == f"{FLAG}=dot"
    assert not is_switched_off()


def test_when_it_is_too_late_one_is_told(no_flags):
    no_flags.setattr(compiler, "installed", lambda: "0.10.2")
    no_flags.setattr(compiler, "_has_started", lambda: True)
    with pytest.warns(UserWarning, match=r"jaxlib 0\.10\.2 returns wrong values .* import coadapt before") as told:
        avoid_faults()
    assert len(told) == 1
    assert "XLA_FLAGS" not in os.environ
    no_flags.setattr(compiler, "installed", lambda: "0.12.0.1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        avoid_faults()


LATE = """
import sys, jax, warnings
warnings.simplefilter("error")
from coadapt.compiler import _has_started
before = _has_started()
jax.numpy.zeros(3)
print(before, _has_started())
"""


def test_jax_has_started_when_something_was_computed():
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=True)
    assert done.stdout == "False True\n"
