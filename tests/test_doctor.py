"""What the doctor shows, and what it takes away: never a run, never what a run uses."""

import pytest

from coadapt.cli import main
from coadapt.compiler import known_fault
from coadapt.storage import runs


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three artefacts: one that a run has made, one that it has taken, and one that nobody speaks of."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    run = runs.begin(tmp_path / "runs" / "one", "toy", {})
    run.log("first: finished as first-0a")
    run.results.mkdir()
    (run.results / "provenance.json").write_text('{"stages": {"second": {"artefact": "second-0b"}}}')
    for name in ("first-0a", "second-0b", "third-0c"):
        artefact = tmp_path / "runs" / "artefacts" / name
        artefact.mkdir(parents=True)
        (artefact / "outcome.json").write_text("x" * 5000)
    program = tmp_path / "cache" / "coadapt" / "compiled" / "cpu" / "jit_go_on-1-cache"
    program.parent.mkdir(parents=True)
    program.write_bytes(b"x" * 2_000_000)
    return tmp_path


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_it_shows_what_there_is(folder, capsys):
    before = files(folder)
    main(["doctor"])
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for words in ("jaxlib", "Devices: ", "compiled programs", "1 2.0 MB", "runs/artefacts 3 15.0 kB", "uses 5.0 kB"):
        assert words in shown
    assert files(folder) == before


@pytest.mark.parametrize(
    ("what", "gone"),
    [
        ("cache", "cache/coadapt/compiled/cpu/jit_go_on-1-cache"),
        ("artefacts", "runs/artefacts/third-0c/outcome.json"),
    ],
)
def test_it_prunes_what_is_named_and_nothing_else(folder, what, gone, capsys):
    before = files(folder)
    main(["doctor", "--prune", what])
    assert f"Pruning {what} freed " in capsys.readouterr().out
    assert files(folder) == before - {gone}


def mistake(arguments, capsys):
    with pytest.raises(SystemExit) as leaving:
        main(arguments)
    assert leaving.value.code == 2
    return capsys.readouterr().err


def test_runs_are_nothing_to_prune(folder, capsys):
    before = files(folder)
    said = mistake(["doctor", "--prune", "cache", "runs"], capsys)
    assert said == "coadapt: prune must be one of cache, artefacts, not 'runs'.\n"
    assert files(folder) == before


def test_a_cache_that_somebody_has_put_elsewhere_is_his(folder, capsys, monkeypatch):
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(folder / "mine"))
    assert "which is your place" in mistake(["doctor", "--prune", "cache"], capsys)


def test_of_a_run_that_cannot_be_asked_everything_might_be_in_use(folder, capsys):
    before = files(folder)
    (folder / "runs" / "one" / "log.txt").unlink()
    (folder / "runs" / "one" / "log.txt").symlink_to("log.txt")
    (folder / "runs" / "one" / "results" / "provenance.json").unlink()
    (folder / "runs" / "one" / "results" / "provenance.json").mkdir()
    said = mistake(["doctor", "--prune", "artefacts"], capsys)
    assert "nobody knows which artefacts it uses" in said
    assert {name for name in files(folder) if "artefacts" in name} == {name for name in before if "artefacts" in name}


def test_it_looks_even_if_a_run_cannot_be_asked(folder, capsys):
    (folder / "runs" / "one" / "log.txt").unlink()
    (folder / "runs" / "one" / "log.txt").mkdir()
    main(["doctor"])
    assert "nobody knows which artefacts it uses.\n" in capsys.readouterr().out


def test_without_a_home_there_is_no_cache(folder, capsys, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("pathlib.Path.home", homeless)
    main(["doctor"])
    assert "nowhere: there is no home folder" in capsys.readouterr().out


def homeless():
    raise RuntimeError("Could not determine home directory.")


def test_a_faulty_compiler_is_named(folder, capsys, monkeypatch):
    monkeypatch.setattr("coadapt.compiler.known_fault", lambda: "jaxlib 0.0 is wrong")
    for off, said in (
        (True, "; the faulty path is switched off."),
        (False, ", and the faulty path is not switched off."),
    ):
        monkeypatch.setattr("coadapt.compiler.is_switched_off", lambda off=off: off)
        main(["doctor"])
        assert f"A fault is known: jaxlib 0.0 is wrong{said}" in capsys.readouterr().out
    assert "0.10.2" in (known_fault("0.10.2") or "")
