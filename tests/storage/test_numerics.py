"""What changes numbers is told apart from what does not."""

import jax

from coadapt.storage.numerics import numerics, xla_flags


def test_flags_are_the_same_in_whatever_order_and_with_whoever_looks_on():
    flags = "--xla_cpu_enable_fast_math=false --xla_cpu_experimental_ynn_fusion_type="
    others = "--xla_dump_to=/tmp/x --xla_dump_hlo_as_text --xla_force_host_platform_device_count=8"
    assert xla_flags(flags) == flags
    assert xla_flags(f"{others}  {' '.join(reversed(flags.split()))}\n") == flags


def test_the_last_of_a_flag_counts():
    assert xla_flags("--xla_a=2 --xla_b=1 --xla_a=1") == "--xla_a=1 --xla_b=1"


def test_each_setting_makes_a_difference(monkeypatch):
    before = numerics()
    with jax.enable_x64(True):
        assert numerics() == before | {"jax_enable_x64": "True"}
    with jax.default_prng_impl("rbg"):
        assert numerics() == before | {"jax_default_prng_impl": "rbg"}
    with jax.default_matmul_precision("highest"):
        assert numerics() == before | {"jax_default_matmul_precision": "highest"}
    with jax.threefry_partitionable(not jax.config.jax_threefry_partitionable):  # type: ignore[attr-defined]
        assert numerics()["jax_threefry_partitionable"] != before["jax_threefry_partitionable"]
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=false")
    assert numerics() == before | {"XLA_FLAGS": "--xla_cpu_enable_fast_math=false"}


def test_flags_in_a_file_count_by_what_it_says(monkeypatch, tmp_path):
    (tmp_path / "flags").write_text("--xla_b=1\n--xla_a=2\n")
    monkeypatch.setenv("XLA_FLAGS", str(tmp_path / "flags"))
    assert numerics()["XLA_FLAGS"] == "--xla_a=2 --xla_b=1"
    monkeypatch.setenv("XLA_FLAGS", str(tmp_path / "nothing"))
    assert numerics()["XLA_FLAGS"] == str(tmp_path / "nothing")
