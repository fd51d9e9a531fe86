"""The list of mutations does not rot: every line is where it says, and every test exists."""

import ast
from functools import cache

import pytest

from tests.mutants.mutations import MUTATIONS, ROOT, SOURCE, Mutation, mutated


@cache
def names_of_tests_in(file: str) -> set[str]:
    tree = ast.parse((ROOT / "tests" / file).read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_mutation_changes_one_place_and_its_test_exists(mutation):
    text = (SOURCE / mutation.file).read_text()
    after = mutated(mutation, text)
    assert after != text
    ast.parse(after)
    file, _, test = mutation.killed_by.partition("::")
    assert test in names_of_tests_in(file)


def test_each_has_a_name_of_its_own():
    assert len({mutation.name for mutation in MUTATIONS}) == len(MUTATIONS) >= 40


@pytest.mark.parametrize("text", ["nothing of it", "x = 1\nx = 1\n"])
def test_what_is_not_there_once_is_refused_by_name(text):
    with pytest.raises(ValueError, match=r"'a slip': its old text is [02] times in a\.py, and must be there once"):
        mutated(Mutation("a slip", "a.py", "x = 1", "x = 2", "test_a.py::test_x"), text)
