"""Files of agents and partners that do not fit are refused, with a sentence that says why."""

import json
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import pytest

from coadapt import catalogue, memory
from coadapt.cli import main
from coadapt.configs.data import plain
from coadapt.experiments.salesman.task import SalesmanTask
from coadapt.games.salesman.rules import Salesman
from coadapt.pipeline.methods import METHODS
from coadapt.pipeline.saved import PARTNER, Saved, agent_of, read, save
from coadapt.players import seen_first
from coadapt.storage.files import Damaged, Incompatible
from coadapt.storage.sealed import read_sealed, write_sealed
from tests.experiments.small_salesman import SMALL

TASK = SMALL.task
AGENTS = {agent.name: agent for agent in (*map(agent_of, METHODS.values()), PARTNER)}


def saved(agent, task=TASK, **about):
    shapes = jax.eval_shape(lambda: AGENTS[agent].new(task))
    networks = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
    return Saved(AGENTS[agent], task, networks, {"conditioning": "probabilities", "seed": 0, "type": "skilled"} | about)


@pytest.fixture
def files(tmp_path):
    for agent in AGENTS:
        save(tmp_path / agent, saved(agent))
    return tmp_path


def change(file, without=(), **fields):
    """Another truth in a manifest, sealed as if it had been written so."""
    manifest = {name: value for name, value in read_sealed(file).items() if name != "seal"}
    about = {name: value for name, value in manifest["about"].items() if name not in without}
    write_sealed(file, manifest | {"about": about | fields})


def test_these_are_all_that_are_saved():
    """By these names they are found in the package and in the runs of others: nobody may change them."""
    assert set(AGENTS) == {"behaviour-conditioned", "label-blind", "lstm", "lstm-matched", "partner", "rl2"}


@pytest.mark.parametrize("agent", AGENTS)
def test_what_was_saved_plays(files, agent):
    player = catalogue.load(files / agent)
    seen = seen_first(TASK.game, TASK.game.reset(jax.random.key(0)), 0)
    decision = player.decide(seen, player.start(jax.random.key(1)))
    assert decision.logits.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"game": "chess"}, "is for the game 'chess'; known are salesman"),
        ({"agent": "oracle"}, "is of 'oracle'; wanted is one of: behaviour-conditioned, lstm"),
        ({"labels": ["good", "bad"]}, r"has the labels \['good', 'bad'\], not \['novice'"),
        ({"conditioning": "luck"}, "has a policy that is conditioned on 'luck'; known are probabilities, map, sampled"),
        ({"game": {"a": None}}, "does not say what it should under 'game'"),
        ({"agent": []}, "does not say what it should under 'agent'"),
        ({"conditioning": {}}, "does not say what it should under 'conditioning'"),
        ({"type": 3}, "does not say what it should under 'type'"),
    ],
)
def test_files_for_something_else_are_refused(files, fields, complaint):
    change(files / "behaviour-conditioned.json", **fields)
    with pytest.raises(Incompatible, match=complaint):
        catalogue.find(files / "behaviour-conditioned")


def test_a_grid_whose_pairs_nobody_could_write_down_is_refused(files, monkeypatch):
    """Eight kinds of pairs of 31**4 places each, with 200 bytes for each: 1.5 GB, where one is free."""
    monkeypatch.setattr(memory, "free_memory", lambda: 10**9)
    large = replace(TASK, game=Salesman(size=31), pairs="absolute")
    change(files / "behaviour-conditioned.json", task=plain(large))
    sentence = r"is of networks that cannot be made: about 1\.5 GB are needed for .* pairs of a 31x31 grid"
    with pytest.raises(Incompatible, match=sentence):
        catalogue.find(files / "behaviour-conditioned")


def test_a_task_that_cannot_be_is_damage(files):
    change(files / "partner.json", task={"game": {"size": 1}})
    with pytest.raises(Damaged, match=r"game.size must be a whole number from 2"):
        catalogue.find(files / "partner")


def test_a_file_of_another_version_is_refused_even_if_its_arrays_fit(files):
    task = plain(TASK)
    sizes = {name: size for name, size in task["sizes"].items() if name != "policy_hidden"}
    change(files / "lstm.json", task=task | {"sizes": sizes})
    with pytest.raises(Incompatible, match="was written by another version of coadapt"):
        catalogue.find(files / "lstm")


def test_arrays_of_another_size_are_refused(files):
    other = replace(TASK, sizes=replace(TASK.sizes, lstm_units=5))
    change(files / "lstm.json", task=json.loads(json.dumps(plain(other))))
    with pytest.raises(Incompatible, match=r"where float32.* is expected"):
        catalogue.find(files / "lstm")


def test_an_agent_that_is_not_asked_for_is_refused(files):
    """Whoever wants partners gets no agent, though its arrays could be read."""
    with pytest.raises(Incompatible, match=r"is of 'label-blind'; wanted is one of: partner$"):
        read(files / "label-blind", {"salesman": type(TASK)})


OLDER = {"task": "world", "conditioning": "feed", "type": "kind"}


@pytest.mark.parametrize("agent", AGENTS)
def test_what_was_written_in_older_words_is_the_same(files, agent):
    """As the files are that come with the package; a policy that took the likeliest label for certain, still does."""
    change(files / f"{agent}.json", conditioning="map")
    of_today = catalogue.find(files / agent)
    fields = {older: of_today.about[name] for name, older in OLDER.items()} | {"feed": "likeliest"}
    change(files / f"{agent}.json", without=OLDER, **fields)
    before = catalogue.find(files / agent)
    assert (before.agent, before.task, before.about) == (of_today.agent, of_today.task, of_today.about)
    assert before.about["conditioning"] == "map"


@dataclass(frozen=True)
class Yard(SalesmanTask):
    """Somebody's task, whose fields are called by words that we have given up."""

    steps: int = 3
    kind: str = "drawn"


def test_the_words_of_others_are_left_alone(tmp_path):
    yard = Yard(TASK.game, TASK.sizes, TASK.pairs)
    save(tmp_path / "mine", saved("partner", yard))
    assert read(tmp_path / "mine", {"salesman": Yard}).task == yard


def answer(capsys, *arguments):
    """What the command says to a mistake."""
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith("coadapt: ")
    assert "\n" not in said
    return said


def test_a_partner_from_a_grid_of_another_size_is_refused(files, capsys):
    larger = replace(TASK, game=Salesman(size=5, subgoals=1, max_steps=8))
    save(files / "larger", saved("partner", larger))
    said = answer(capsys, "evaluate", str(files / "lstm"), "--partners", str(files / "larger"))
    assert "was trained in a game with size 5, the agent in one with 4" in said


def test_an_agent_is_no_partner(files, capsys):
    said = answer(capsys, "evaluate", str(files / "lstm"), "--partners", str(files / "lstm"))
    assert "is an agent (lstm), not a partner" in said


def test_a_file_that_is_not_there_is_named(files, capsys):
    assert "there is no agent 'nobody'" in answer(capsys, "watch", "nobody")
    (files / "partner.safetensors").unlink()
    said = answer(capsys, "evaluate", str(files / "lstm"), "--partners", str(files / "partner"))
    assert "partner.safetensors" in said


def test_an_episode_of_saved_agents_is_written_as_a_picture(files, capsys):
    for ending, start in {"gif": b"GIF8", "png": b"\x89PNG", "svg": b"<?xml"}.items():
        to = files / f"episode.{ending}"
        main(["watch", str(files / "behaviour-conditioned"), "--partner", str(files / "partner"), "--to", str(to)])
        assert to.read_bytes().startswith(start)
        assert f"The episode is in {to}." in capsys.readouterr().out
    said = answer(capsys, "watch", str(files / "lstm"), "--partner", str(files / "partner"), "--to", "x.mp4")
    assert "can be written as .gif, .png or .svg" in said


@pytest.mark.parametrize("agent", ["lstm", "behaviour-conditioned"])
def test_an_evaluation_is_a_table(files, capsys, agent):
    main(["evaluate", str(files / agent), "--partners", str(files / "partner"), "--episodes", "30", "--quiet"])
    said = " ".join(capsys.readouterr().out.split())  # a long title is folded
    assert "30 episodes with each partner" in said
    assert "partner" in said


def test_weights_that_are_not_finite_are_refused(tmp_path):
    partner = saved("partner")
    not_finite = jax.tree.map(lambda leaf: leaf * jnp.nan, partner.networks)
    save(tmp_path / "partner", partner._replace(networks=not_finite))
    with pytest.raises(
        Incompatible, match=r"partner\.safetensors has an array 'policy/.*' with numbers that are not finite"
    ):
        catalogue.find(tmp_path / "partner")
