"""What the README shows, works."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_the_example_runs_and_says_what_one_would_expect(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(code.strip().splitlines()) <= 11
    exec(compile(code, "README.md", "exec"), {})
    bayes, at_random = capsys.readouterr().out.split("at random")
    last = lambda printed: float(re.findall(r"-?\d+\.\d*", printed)[-1])
    assert last(bayes) > 0.3 > 0 > last(at_random)


def test_every_link_to_a_file_leads_somewhere():
    targets = re.findall(r"\]\(([^)#:]+)\)", README)
    assert targets
    for target in targets:
        assert (ROOT / target).exists(), target


def test_as_many_trials_name_held_out_partners_as_the_docs_say():
    (chosen,) = re.findall(r"## How the settings were chosen\n(.*)", (ROOT / "docs/salesman.md").read_text(), re.DOTALL)
    naming = [line for line in chosen.splitlines() if line.startswith("|") and "held-out" in line]
    assert len(naming) == 4
    assert "Four of them name held-out partners." in " ".join(chosen.split())


@pytest.mark.parametrize("experiment", ["matrix_game", "salesman"])
def test_the_table_is_the_committed_one(experiment):
    committed = (ROOT / "results" / experiment / "table.md").read_text()
    headline = committed.split("\n\n")[1].strip()
    assert headline in README
