"""Files of agents and partners that do not fit are refused, with a sentence that says why."""

import json
from dataclasses import replace

import jax
import pytest

from coadapt import catalogue
from coadapt.cli import main
from coadapt.configs.data import plain
from coadapt.experiments.salesman import weights
from coadapt.experiments.salesman.weights import AGENTS, Saved, _shapes
from coadapt.games.salesman.rules import Salesman
from coadapt.storage.files import Damaged, Incompatible
from coadapt.storage.sealed import read_sealed, write_sealed
from tests.experiments.small_salesman import SMALL

WORLD = SMALL.world


def saved(agent, world=WORLD, **about):
    networks = jax.tree.map(lambda leaf: jax.numpy.zeros(leaf.shape, leaf.dtype), _shapes(agent, world))
    return Saved(agent, world, networks, {"feed": "probabilities", "seed": 0, "kind": "skilled"} | about)


@pytest.fixture
def files(tmp_path):
    for agent in AGENTS:
        weights.save(tmp_path / agent, saved(agent))
    return tmp_path


def change(file, **fields):
    """Another truth in a manifest, sealed as if it had been written so."""
    manifest = {name: value for name, value in read_sealed(file).items() if name != "seal"}
    write_sealed(file, manifest | {"about": manifest["about"] | fields})


@pytest.mark.parametrize("agent", AGENTS)
def test_what_was_saved_plays(files, agent):
    player = catalogue.load(files / agent)
    observation = WORLD.game.observe(WORLD.game.reset(jax.random.key(0)), 0)
    decision = player.decide(observation, player.start(jax.random.key(1)))
    assert decision.logits.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"game": "chess"}, "is for the game 'chess', not for 'salesman'"),
        ({"agent": "oracle"}, "is of an agent 'oracle'; known are"),
        ({"labels": ["good", "bad"]}, r"has the labels \['good', 'bad'\], not \['novice'"),
        ({"feed": "luck"}, "has a policy to be fed 'luck'"),
        ({"agent": []}, "does not say what it should under 'agent'"),
        ({"feed": {}}, "does not say what it should under 'feed'"),
        ({"kind": 3}, "does not say what it should under 'kind'"),
        (
            {"world": plain(replace(WORLD, game=Salesman(size=31), pairs="absolute"))},
            "is of a grid of size 31; seen so, 30 is the most",
        ),
    ],
)
def test_files_for_something_else_are_refused(files, fields, complaint):
    change(files / "behaviour-conditioned.json", **fields)
    with pytest.raises(Incompatible, match=complaint):
        catalogue.find(files / "behaviour-conditioned")


def test_a_world_that_cannot_be_is_damage(files):
    change(files / "partner.json", world={"game": {"size": 1}})
    with pytest.raises(Damaged, match=r"game.size must be a whole number from 2"):
        catalogue.find(files / "partner")


def test_a_file_of_another_version_is_refused_even_if_its_arrays_fit(files):
    world = weights.plain(WORLD)
    sizes = {name: size for name, size in world["sizes"].items() if name != "policy_hidden"}
    change(files / "lstm.json", world=world | {"sizes": sizes})
    with pytest.raises(Incompatible, match="was written by another version of coadapt"):
        catalogue.find(files / "lstm")


def test_arrays_of_another_size_are_refused(files):
    other = replace(WORLD, sizes=replace(WORLD.sizes, lstm_units=5))
    change(files / "lstm.json", world=json.loads(json.dumps(weights.plain(other))))
    with pytest.raises(Incompatible, match=r"where float32.* is expected"):
        catalogue.find(files / "lstm")


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
    larger = replace(WORLD, game=Salesman(size=5, subgoals=1, max_steps=8))
    weights.save(files / "larger", saved("partner", larger))
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
    not_finite = jax.tree.map(lambda leaf: leaf * jax.numpy.nan, partner.networks)
    weights.save(tmp_path / "partner", partner._replace(networks=not_finite))
    with pytest.raises(
        Incompatible, match=r"partner\.safetensors has an array 'policy/.*' with numbers that are not finite"
    ):
        catalogue.find(tmp_path / "partner")
