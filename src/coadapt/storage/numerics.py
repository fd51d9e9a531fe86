"""Settings of the compiler that the same code, in the same versions, computes other numbers under."""

from coadapt.compiler import flags

SETTINGS = ("jax_enable_x64", "jax_default_prng_impl", "jax_default_matmul_precision", "jax_threefry_partitionable")

NO_MATTER = ("--xla_dump", "--xla_hlo_profile", "--xla_force_host_platform_device_count")
"""How flags begin that only look on, and one that adds devices: whatever is computed here is computed on the first."""


def numerics() -> dict[str, str]:
    """The flags of XLA, in one order, and the settings of JAX, each by the name that it is set by."""
    import jax  # here, for whoever only lists runs does not need it

    return {"XLA_FLAGS": xla_flags(flags())} | {name: str(getattr(jax.config, name)) for name in SETTINGS}


def xla_flags(text: str) -> str:
    """All that may change a number; of a flag that is given twice the last one counts, as it does for XLA."""
    by_name = {flag.partition("=")[0]: flag for flag in text.split() if not flag.startswith(NO_MATTER)}
    return " ".join(sorted(by_name.values()))
