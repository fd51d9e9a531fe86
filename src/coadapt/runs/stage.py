"""What an experiment consists of: stages, each a piece of work in equal chunks, each building on those before it.

A stage says what is computed and nothing of how it is run, stored or shown; that is `executor`'s. So the code behind a
stage, which its outcome is known by, is the code that computes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from coadapt.arrays import Array, Float

Inputs = dict[str, Any]
"""The outcomes of the stages before, by name."""
Info = dict[str, Float[Array, "replicates"]]
"""What a person wants to see of a chunk, by name, for each replicate."""


@dataclass(frozen=True)
class Stage:
    """A piece of work whose outcome depends on nothing but what is named here."""

    name: str
    code: tuple[str, ...]  # the modules that say what is computed
    settings: Any  # the part of the configuration that matters for it
    chunks: int
    begin: Callable[[Inputs], Any]  # -> state
    go_on: Callable[[Any, Inputs], tuple[Any, Info]]  # one chunk: state -> state
    outcome: Callable[[Any], Any]  # of the last state
    needs: tuple[str, ...] = ()  # the stages whose outcomes it is given
    iterations: int = 1  # in a chunk
    steps: int = 0  # environment steps in an iteration, of all replicates together
    family: str = ""  # what it does, whatever its seed: stages of one family stand together in tables of times
    replicates: tuple[str, ...] = ()  # what a person calls each of them
    shown: tuple[str, ...] = ()  # which numbers of its info matter the most
    finite: Callable[[Any], Any] = lambda state: ()  # of a state, what must be finite numbers
    remedy: str = ""  # what to look at when a number is not finite
    larger_by: tuple[str, str] = ("its settings", "its settings")  # which ones its state, and its work, grow with
