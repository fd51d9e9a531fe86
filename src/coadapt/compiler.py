"""What is known of the compiler that the numbers come from."""

FAULTS = {
    "0.10.2": "jaxlib 0.10.2 computes some values wrongly on CPU (jax issue 39103); install another version",
}


def known_fault(version: str | None = None) -> str | None:
    """What is wrong with a version of jaxlib (that which is installed, if none is named), as one sentence, or None."""
    if version is None:
        from importlib.metadata import version as version_of

        version = version_of("jaxlib")
    return FAULTS.get(version)
