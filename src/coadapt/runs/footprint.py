"""How much memory a stage takes, told from its shapes before anything is computed."""

import math
from collections.abc import Iterator
from typing import Any

import jax

from coadapt.memory import DoesNotFit, check_memory
from coadapt.runs.stage import Inputs, Stage

WRITTEN_DOWN = ("scan", "while", "dot_general", "random_bits", "sort")
"""What a program must write down; of all else the compiler may make a part of something larger."""


def weighed(stage: Stage, inputs: Inputs) -> tuple[Any, Any]:
    """The shapes of a stage's state and of its outcome. One that does not fit into the memory is refused."""
    of_state, of_work = stage.larger_by
    try:
        state = jax.eval_shape(stage.begin, inputs)
        kept = 2 * _bytes(state)  # before a chunk and after it
        check_memory(f"the state of {stage.name}", kept, f"make {of_state} smaller")
        work = _largest(jax.make_jaxpr(stage.go_on)(state, inputs).jaxpr)
    except OverflowError:
        remedy = f"make {of_state} or {of_work} smaller"
        raise DoesNotFit(f"{stage.name} is larger than a program can count; {remedy}") from None
    check_memory(f"a chunk of {stage.name}", kept + _bytes(inputs) + work, f"make {of_work} smaller")
    return state, jax.eval_shape(stage.outcome, state)


def _largest(program: Any) -> int:
    """The most bytes that must be there at one time beside what a program is given: no less than this, maybe more."""
    return max((_of_step(step) for step in program.eqns), default=0)


def _of_step(step: Any) -> int:
    results = _bytes([each.aval for each in step.outvars]) if step.primitive.name in WRITTEN_DOWN else 0
    return results + max(map(_largest, _programs_in(list(step.params.values()))), default=0)


def _programs_in(parameters: Any) -> Iterator[Any]:
    """A loop's body, a condition's branches and the like."""
    for each in parameters:
        if isinstance(each, list | tuple):
            yield from _programs_in(each)
        elif hasattr(each, "eqns"):
            yield each


def _bytes(tree: Any) -> int:
    return sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))
