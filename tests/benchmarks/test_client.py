"""Processes that answer, die, hang, or talk nonsense."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import client, machine, worker
from benchmarks import contenders as contenders_module
from benchmarks.client import PeerFailed, Process, _environment
from benchmarks.contenders import Contenders
from benchmarks.measuring import Quantity
from coadapt.compiler import FLAG, LOG_LEVEL
from tests.guard import wait_until_ended

PEER = """
import os, sys, time

PACKAGES = ("pip",)
print("chatter that is no answer")

def answer(request):
    what = request["do"]
    if what == "die":
        print("this is the end", file=sys.stderr)
        sys.stderr.flush()
        os._exit(3)
    while what == "hang":
        time.sleep(60)
    if what == "fail":
        raise ValueError("no such thing")
    print("more chatter")
    return {"amount": 10, "seconds": 2.0}
"""


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "fake_peer.py").write_text(PEER)
    return tmp_path


@pytest.fixture
def peer(folder):
    with Process("fake", "fake_peer", folder=folder) as process:
        yield process


def test_it_answers_again_and_again(peer):
    for _ in range(2):
        answer = peer.ask({"do": "measure"}, 20)
        assert (answer["amount"], answer["seconds"]) == (10, 2.0)
        assert answer["peak_memory"] > 1e6
    assert {"python", "pip"} == set(peer.versions)


def test_one_that_dies_says_its_last_words(peer):
    with pytest.raises(PeerFailed, match=r"^fake ended with status 3: this is the end$"):
        peer.ask({"do": "die"}, 20)
    with pytest.raises(PeerFailed, match="fake ended with status 3"):
        peer.ask({"do": "measure"}, 20)


def test_one_that_hangs_is_not_waited_for(peer):
    with pytest.raises(PeerFailed, match=r"^fake has not answered within 0\.2 seconds$"):
        peer.ask({"do": "hang"}, 0.2)


def test_one_that_is_silent_is_not_waited_for_either(tmp_path, monkeypatch):
    monkeypatch.setattr(client, "LONGEST_END", 0.2)
    silent = tmp_path / "python"
    silent.write_text("#!/bin/sh\nexec >&-\nsleep 1000\n")
    silent.chmod(0o755)
    with pytest.raises(PeerFailed, match=r"^fake is still there, but answers no more$"):
        Process("fake", "fake_peer", python=silent)


def test_one_that_hangs_does_not_go_on_beside_the_others(folder, monkeypatch):
    started = []
    monkeypatch.setattr(contenders_module, "Process", lambda *given: started.append(Process(*given)) or started[0])
    monkeypatch.setattr(contenders_module, "SCRIPTS", folder)
    (folder / "here" / "bin").mkdir(parents=True)
    (folder / "here" / "bin" / "python").symlink_to(sys.executable)
    with Contenders(folder, longest=0.2) as contenders:
        (contender,) = contenders.peer("fake", "here", "fake_peer", {"do": "hang"}, Quantity("rate", "steps/s"))
        with pytest.raises(PeerFailed, match="has not answered"):
            contender.measure()
        assert started[0]._process.poll() is not None


def test_nobody_goes_on_when_the_client_is_gone(folder):
    """Somebody starts a process, asks it for something that takes for ever, and is killed."""
    asks_and_dies = (
        "import os, pathlib\n"
        "from benchmarks.client import Process\n"
        f"process = Process('fake', 'fake_peer', folder=pathlib.Path({str(folder)!r}))\n"
        "print(process._process.pid, flush=True)\n"
        'process._process.stdin.write(\'{"do": "hang"}\\n\')\n'
        "process._process.stdin.flush()\n"
        "os._exit(9)\n"
    )
    command = [sys.executable, "-c", asks_and_dies]
    done = subprocess.run(command, cwd=client.ROOT, capture_output=True, text=True, check=False)
    wait_until_ended(int(done.stdout))


def test_a_mistake_of_its_own_is_told(peer):
    with pytest.raises(PeerFailed, match=r"^fake failed: ValueError: no such thing$"):
        peer.ask({"do": "fail"}, 20)
    assert peer.ask({"do": "measure"}, 20)["amount"] == 10


@pytest.mark.parametrize("said", ["good morning", "[1, 2]", '{"half":'])
def test_nonsense_is_no_answer(tmp_path, said):
    chatterbox = tmp_path / "python"
    chatterbox.write_text(f"#!/bin/sh\necho '{said}'\n")
    chatterbox.chmod(0o755)
    with pytest.raises(PeerFailed, match=r"^fake answered with something else than a JSON object: "):
        Process("fake", "fake_peer", python=chatterbox)


def test_ours_is_found_from_whatever_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with Process("ours", machine.__name__) as process:
        assert process.ask({"size": 8, "seconds": 0.01}, 20)["gflops"] > 0


def test_a_worker_needs_nothing_but_python():
    """Peers' environments have neither JAX nor anything of ours."""
    nodes = list(ast.walk(ast.parse(Path(worker.__file__).read_text())))
    imported = {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    imported |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    assert {module.partition(".")[0] for module in imported} <= sys.stdlib_module_names


def test_one_that_cannot_be_started(folder):
    with pytest.raises(PeerFailed, match=r"^fake cannot be started: No such file or directory$"):
        Process("fake", "fake_peer", python=folder / "python", folder=folder)


def test_one_that_cannot_import_what_it_needs(folder):
    with pytest.raises(PeerFailed, match="fake ended with status 1: ModuleNotFoundError"):
        Process("fake", "another_peer", folder=folder)


def test_a_peer_whose_environment_is_missing_is_a_failure_of_its_own(folder):
    rate = Quantity("rate", "steps/s")
    with Contenders(folder) as contenders:
        (contender,) = contenders.peer("fake", "nowhere", "fake_peer", {}, rate)
        with pytest.raises(PeerFailed, match=r"^fake cannot be started"):
            contender.measure()


def test_without_environments_there_are_no_peers():
    with Contenders(None) as contenders:
        assert contenders.peer("fake", "nowhere", "fake_peer", {}, Quantity("rate", "steps/s")) == []


def test_peers_find_nothing_of_ours(monkeypatch):
    """A flag that their compiler does not know would end them."""
    monkeypatch.setenv("XLA_FLAGS", f"--xla_dump_to=here {FLAG}=")
    for name in ("PYTHONPATH", LOG_LEVEL, "JAX_COMPILATION_CACHE_DIR"):
        monkeypatch.setenv(name, "ours")
    theirs = _environment({"OMP_NUM_THREADS": "1"}, own=False)
    assert (theirs["XLA_FLAGS"], theirs["OMP_NUM_THREADS"]) == ("--xla_dump_to=here", "1")
    assert not {"PYTHONPATH", LOG_LEVEL, "JAX_COMPILATION_CACHE_DIR"} & set(theirs)
    ours = _environment({}, own=True)
    assert (ours["XLA_FLAGS"], ours["PYTHONPATH"]) == (f"--xla_dump_to=here {FLAG}=", "ours")
