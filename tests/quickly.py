"""Processes whose programs are compiled as quickly as can be, for tests that do not look at what is computed."""

import os


def compiled_quickly() -> dict[str, str]:
    """Environment variables: LLVM does not optimise, which takes half of the time that compiling takes otherwise."""
    return {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} --xla_backend_optimization_level=0".strip()}
