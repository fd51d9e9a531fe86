"""Processes that answer, die, hang, or talk nonsense."""

from pathlib import Path

import pytest

from coadapt.benchmarks.asking import PeerFailed, Process
from coadapt.benchmarks.contenders import Contenders
from coadapt.benchmarks.measuring import Quantity

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
    if what == "hang":
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
