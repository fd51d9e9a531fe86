"""Whether a mutation is killed is told as it is."""

import pytest

from tests.mutants import __main__ as mutants
from tests.mutants.mutations import MUTATIONS, ROOT, Mutation


def test_words_that_no_mutation_has_are_refused(capsys):
    assert mutants.main(["no such word"]) == 2
    assert "no mutation has any of these words in its name or file: no such word" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "noticed"),
    [
        ("FAILED tests/test_a.py::test_x - assert 1 == 2", True),
        ("FAILED tests/test_a.py::test_x[a - b] - AssertionError: not equal", True),
        ("FAILED tests/test_a.py::test_x - Failed: DID NOT RAISE <class 'ValueError'>", True),
        ("FAILED tests/test_a.py::test_x - TypeError: unsupported operand", False),
        ("ERROR tests/test_a.py - ImportError: cannot import name 'x'", False),
    ],
)
def test_only_an_assertion_is_a_kill(line, noticed):
    assert bool(mutants.NOTICED.search(f"1 failed\n{line}\n")) == noticed


def test_a_mutation_is_in_the_copy_alone_and_only_as_long_as_it_is_tried(tmp_path):
    mutation = MUTATIONS[0]
    original = ROOT / "src" / "coadapt" / mutation.file
    copy = tmp_path / "src" / "coadapt" / mutation.file
    copy.parent.mkdir(parents=True)
    copy.write_text(original.read_text())
    with mutants._with(mutation, tmp_path):
        assert mutation.new in copy.read_text()
        assert mutation.new not in original.read_text()
    assert copy.read_text() == original.read_text()


@pytest.mark.slow
def test_what_nobody_notices_survives_and_so_does_what_cannot_be_imported(monkeypatch, capsys):
    file, test = "storage/sealed.py", "storage/test_files.py::test_a_seal_breaks_at_any_change"
    made = [
        Mutation("another word for the seal", file, 'SEAL = "seal"', 'SEAL = "stamp"', test),
        Mutation("a name that is not there", file, 'SEAL = "seal"', "SEAL = seal", test),
        Mutation(
            "a seal that never breaks", file, "if written != json_text(", "if False and written != json_text(", test
        ),
    ]
    monkeypatch.setattr(mutants, "MUTATIONS", made)
    assert mutants.main([]) == 1
    said = capsys.readouterr().out
    verdicts = {each.name: line.split()[0] for each in made for line in said.splitlines() if each.name in line}
    assert verdicts == {made[0].name: "SURVIVED", made[1].name: "SURVIVED", made[2].name: "killed"}
    assert "1 of 3 mutations killed" in said
