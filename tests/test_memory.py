"""What does not fit is refused in a sentence with both sizes; a container's share counts as the machine does."""

import pytest

from coadapt import memory
from coadapt.memory import DoesNotFit, check_memory, free_memory


def test_a_refusal_names_both_sizes_and_what_to_do(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 2 * 10**9)
    check_memory("a table", 2 * 10**9, "make size smaller")
    with pytest.raises(DoesNotFit) as refusal:
        check_memory("a table", 2_600_000_000, "make size smaller")
    assert str(refusal.value) == (
        "about 2.6 GB are needed for a table, more than the 2.0 GB that are free; make size smaller"
    )


@pytest.mark.parametrize(
    ("told", "free"),
    [
        ({"meminfo": ["MemTotal: 9000 kB", "MemAvailable: 5000 kB"]}, 5000 * 1024),
        ({"meminfo": ["MemAvailable: 5000 kB"], "max": ["3000000"], "current": ["1000000"]}, 2_000_000),
        (
            {
                "meminfo": ["MemAvailable: 5000 kB"],
                "max": ["3000000"],
                "current": ["2900000"],
                "stat": ["anon 900000", "inactive_file 1500000"],
            },
            1_600_000,
        ),
        ({"meminfo": ["MemAvailable: 5000 kB"], "max": ["max"], "current": ["1000000"]}, 5000 * 1024),
    ],
)
def test_what_is_free_is_what_the_system_tells(monkeypatch, told, free):
    lines = {"/proc/meminfo": "meminfo"}
    lines |= {f"/sys/fs/cgroup/memory.{name}": name for name in ("max", "current", "stat")}
    monkeypatch.setattr(memory, "_lines", lambda file: told.get(lines[file], []))
    assert free_memory() == free
