"""Where partners come from: who they are, that they act as themselves, and who may not be held out."""

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt import catalogue
from coadapt.configs.data import plain
from coadapt.evaluation.returns import Cell, Episodes, Means, Notes
from coadapt.experiments.salesman import FAST, PACKAGE
from coadapt.experiments.salesman.showing import SHOWING
from coadapt.experiments.salesman.task import TYPES
from coadapt.partners.dirichlet import Stationary
from coadapt.pipeline import methods, saved
from coadapt.pipeline.experiment import stages_of
from coadapt.pipeline.partners import PartnerId, partners_of
from coadapt.pipeline.report import headline
from coadapt.pipeline.results import gather
from coadapt.pipeline.self_play import Clones, candidates, iterations_of, picked, snapshots_of
from coadapt.pipeline.sources.mixture import FromBlock, Mixture
from coadapt.pipeline.sources.pretrained import STAGE, Pretrained
from coadapt.pipeline.sources.scripted import Scripted, described
from coadapt.pipeline.sources.self_play import SelfPlay
from coadapt.pipeline.stages import Trained
from coadapt.pipeline.study import Study
from coadapt.pipeline.tables import tables
from coadapt.pipeline.task import identity_of, new_policy
from coadapt.pipeline.wording import titles
from coadapt.players import Decision, seen_first
from coadapt.storage import trees
from coadapt.storage.files import Incompatible
from tests.experiments.small_salesman import SMALL

TASK = SMALL.task
KEY = jax.random.key(0)


def study(of=SMALL, **changes) -> Study:
    """The small study, or another, with partners from anywhere."""
    return Study(**{field.name: getattr(of, field.name) for field in dataclasses.fields(of)} | changes)


class Circling(NamedTuple):
    """Takes one action after the other, of which it remembers the last."""

    first: int

    def start(self, key):
        del key
        return jnp.int32(self.first)

    def decide(self, seen, memory):
        del seen
        return Decision(5 * jax.nn.one_hot(memory % 4, 4), memory + 1, {})


@dataclass(frozen=True)
class Homing:
    """Walks towards the goal, the more surely the more eager it is: it looks at what it sees."""

    eagerness: float

    def start(self, key):
        del key
        return ()

    def decide(self, seen, memory):
        observation = seen.observation
        down, right = (observation.goal - observation.own).astype(jnp.float32)
        return Decision(self.eagerness * jnp.stack([-down, down, -right, right]), memory, {})


STILL, UP = Stationary(jnp.zeros(4)), Stationary(jnp.array([3.0, 0, 0, 0]))
CIRCLING, HOMING = Circling(2), Homing(1.5)
SCRIPTED = Scripted({"novice": [STILL, CIRCLING], "skilled": HOMING})
OF_EVERY_TYPE = Scripted({"novice": [STILL, CIRCLING], "intermediate": UP, "skilled": HOMING})
GAME = TASK.game
SEEN = [seen_first(GAME, GAME.reset(jax.random.key(n)), 1) for n in range(3)]


def decisions(player, seen=SEEN):
    """The logits of a player for what it sees, one after the other."""
    memory, logits = player.start(KEY), []
    for now in seen:
        decision = player.decide(now, memory)
        memory = decision.memory
        logits.append(decision.logits)
    return jnp.stack(logits)


def each_of(players, seen=SEEN):
    """The logits of stacked players, as measurements let them play: one after the other, in one program."""
    return np.asarray(jax.jit(lambda players: jax.lax.map(lambda player: decisions(player, seen), players))(players))


in_the_package = jax.jit(lambda player: decisions(player, SEEN_THERE))


@cache
def clones(seed, snapshots=3):
    """What a clone leaves behind: every snapshot is another network, and every weight is drawn by chance."""
    policy = jax.eval_shape(lambda: new_policy(KEY, TASK))
    draw = np.random.default_rng(seed).normal
    weights = jax.tree.map(lambda leaf: jnp.asarray(draw(size=(snapshots, *leaf.shape)), leaf.dtype), policy)
    return Clones(weights, (), 10 * jnp.arange(snapshots))  # pyright: ignore[reportArgumentType] (nobody goes on from here)


def inputs_of(*seeds, snapshots=3):
    """The outcomes of the clone trainings of these seeds."""
    one_replicate = lambda networks: Trained(jax.tree.map(lambda leaf: leaf[None], networks), {})
    return {f"clones_{seed}": one_replicate(clones(seed, snapshots)) for seed in seeds}


told_nothing = jax.jit(lambda policy: jnp.stack([policy(seen, jnp.zeros(3)) for seen in SEEN]))


def acts_as(seed, n):
    """What a snapshot of a clone does by itself, told nothing."""
    return told_nothing(jax.tree.map(lambda leaf: leaf[n], clones(seed).snapshots))


# Players of one's own


def test_scripted_partners_are_counted_by_type():
    ids = [PartnerId(0, "novice"), PartnerId(1, "novice"), PartnerId(0, "skilled")]
    assert SCRIPTED.ids(SMALL) == SCRIPTED.ids(SMALL, 3) == ids
    assert [str(each) for each in ids] == ["0-novice", "1-novice", "0-skilled"]
    assert SCRIPTED.in_words(SMALL) == "scripted partners (0-novice, 1-novice, 0-skilled)"


def test_scripted_partners_have_the_labels_of_their_types():
    partners = partners_of(SMALL, SCRIPTED, {})
    assert partners.labels.tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 1]]
    assert partners.ids.tolist() == [0, 1, 2]


def test_scripted_partners_act_as_themselves():
    """Also the one that remembers: after its second action it takes the third."""
    found = each_of(SCRIPTED.players(SMALL, {}))
    expected = [decisions(player) for player in (STILL, CIRCLING, HOMING)]
    np.testing.assert_allclose(found, np.stack(expected), atol=1e-6)
    assert found[1].argmax(axis=1).tolist() == [2, 3, 0]
    assert not np.allclose(found[2][0], found[2][1])


def test_scripted_partners_are_there_already():
    of = study(partners=OF_EVERY_TYPE)
    assert (SCRIPTED.stages(of), SCRIPTED.needs(of), list(SCRIPTED.left_behind(of, {}))) == ([], (), [])
    assert __name__ in SCRIPTED.code
    assert Stationary.__module__ in SCRIPTED.code


class Turning:
    """A player that is neither a tuple nor a dataclass, and is given a function."""

    def __init__(self, function: Callable[[Any], Any]):
        self.function = function

    def start(self, key):
        del key
        return ()

    def decide(self, seen, memory):
        return Decision(self.function(seen.observation), memory, {})


def times(factor):
    """A function that holds a number."""
    return lambda observation: factor * observation.own.astype(jnp.float32)


def by(factor, observation):
    return factor * observation.own


def usually(observation, factor=1):
    return factor * observation.own


class Scale(NamedTuple):
    factor: float

    def of(self, observation):
        return self.factor * observation.own


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (STILL, UP),
        (Circling(1), Circling(2)),
        (Homing(1.0), Homing(1.5)),
        (Turning(times(1)), Turning(times(2))),
        (Turning(partial(by, 1)), Turning(partial(by, 2))),
        (Turning(Scale(1).of), Turning(Scale(2).of)),
        (Turning(usually), Turning(partial(usually, factor=2))),
        (Turning(jax.jit(times(1))), Turning(jax.jit(times(2)))),
        (Turning(times(Scale(1))), Turning(times(Scale(2)))),
        (Circling(1), Stationary(jnp.array([1.0]))),
    ],
)
def test_settings_change_when_a_number_of_a_player_changes(one, other):
    settings = lambda player: Scripted({"novice": STILL, "skilled": player}).settings
    assert settings(one) != settings(other)
    assert settings(one) == settings(one)


def test_settings_are_those_of_players_that_are_made_anew():
    anew = Scripted({"novice": [Stationary(jnp.zeros(4)), Circling(2)], "skilled": Homing(1.5)})
    assert json.dumps(anew.settings) == json.dumps(SCRIPTED.settings)
    assert described(Turning(times(3))) == described(Turning(times(3)))
    assert Scripted({"novice": STILL}).settings != Scripted({"skilled": STILL}).settings


def test_a_player_that_holds_itself_is_described():
    player = Turning(times(1))
    player.friend = player  # pyright: ignore[reportAttributeAccessIssue]
    assert described(player)["friend"] == "..."


@pytest.mark.parametrize(
    ("by_type", "complaint"),
    [
        ({"expert": STILL}, "types of partners must be one of novice, intermediate, skilled, not 'expert'"),
        ({}, "nobody is there to be met"),
        ({"novice": []}, "nobody is there to be met"),
    ],
)
def test_scripted_partners_that_cannot_be_are_refused(by_type, complaint):
    with pytest.raises(ValueError, match=complaint):
        study(partners=Scripted(by_type))
    with pytest.raises(ValueError, match=complaint):
        study(held_out=Scripted(by_type))


def test_agents_train_with_partners_of_every_type():
    """Or they could not learn what to do with the others; held-out partners may be of some types alone."""
    with pytest.raises(ValueError, match="partners must be of every type, and none of those of seed 3 is intermediate"):
        study(partners=SCRIPTED)
    study(partners=OF_EVERY_TYPE, held_out=Scripted({"skilled": Homing(2.0)}))
    study(partners=Mixture((SCRIPTED, Scripted({"intermediate": UP}))), held_out=None)


# Several sources together


def test_partners_of_a_mixture_act_as_themselves():
    """Snapshots of two clones, and between them players of one's own, which have memories of another kind."""
    mixture = Mixture((SelfPlay((7,)), SCRIPTED, SelfPlay((8,))))
    players = mixture.players(SMALL, inputs_of(7, 8))
    assert isinstance(players, FromBlock)
    own = [decisions(player) for player in (STILL, CIRCLING, HOMING)]
    expected = np.stack([*(acts_as(7, n) for n in range(3)), *own, *(acts_as(8, n) for n in range(3))])
    np.testing.assert_allclose(each_of(players), expected, rtol=1e-5, atol=1e-6)
    distances = np.abs(expected[:, None] - expected[None]).max(axis=(2, 3)) + np.eye(len(expected))
    assert distances.min() > 0.01  # so nobody could be taken for another


def test_players_that_differ_in_their_numbers_alone_are_simply_stacked():
    inputs = inputs_of(7, 8)
    mixed = Mixture((SelfPlay((7,)), SelfPlay((8,)))).players(SMALL, inputs)
    stacked = SelfPlay((7, 8)).players(SMALL, inputs)
    assert jax.tree.structure(mixed) == jax.tree.structure(stacked)
    assert jax.tree.all(jax.tree.map(np.array_equal, mixed, stacked))


def test_two_sets_of_scripted_players_are_two_blocks():
    mixture = Mixture((SCRIPTED, Scripted({"intermediate": UP})))
    np.testing.assert_allclose(each_of(mixture.players(SMALL, {}))[3], decisions(UP))
    assert partners_of(SMALL, mixture, {}).labels.tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]]


def test_a_mixture_is_all_that_its_sources_are():
    sources = SelfPlay((0,), own=True), SCRIPTED
    mixture, of = Mixture(sources), study(partners=Mixture(sources))
    theirs = [PartnerId(3, name) for name in TYPES]
    assert mixture.ids(of, 3) == [*theirs, *SCRIPTED.ids(of)]
    assert mixture.needs(of, 3) == ("clones_3",)
    assert [stage.name for stage in mixture.stages(of)] == ["clones_3", "self_play_3"]
    assert mixture.identities(of) == sources[0].identities(of) | SCRIPTED.identities(of)
    assert mixture.in_words(of, 3) == f"clones of seed 3 and {SCRIPTED.in_words(of)}"
    assert set(mixture.code) > {*sources[0].code, *SCRIPTED.code}
    changed = Mixture((sources[0], Scripted({"novice": [STILL, Circling(1)], "skilled": HOMING})))
    assert mixture.settings != changed.settings


# Partners from files

FILES = ("salesman/partners/100-novice", "salesman/partners/101-skilled")
WITH_FILES = study(FAST, held_out=Pretrained(FILES))
LARGE = FAST.task.game
SEEN_THERE = [seen_first(LARGE, LARGE.reset(jax.random.key(n)), 1) for n in range(3)]


def handed_on(source, of):
    """The outcome of the stage that hands on a source's networks."""
    (stage,) = source.stages(of)
    assert source.needs(of) == (stage.name,)
    assert stage.name.startswith(STAGE)
    state, _ = stage.go_on(stage.begin({}), {})
    return {stage.name: stage.outcome(state)}


def test_pretrained_partners_are_those_in_the_files():
    source = Pretrained(FILES)
    assert source.ids(WITH_FILES) == [PartnerId(100, "novice"), PartnerId(101, "skilled")]
    assert [str(each) for each in WITH_FILES.held_out_ids] == ["100-novice", "101-skilled"]
    assert all(each.held_out for each in WITH_FILES.held_out_ids)
    partners = partners_of(WITH_FILES, source, handed_on(source, WITH_FILES))
    assert partners.labels.tolist() == [[1, 0, 0], [0, 0, 1]]
    expected = [in_the_package(catalogue.load(name)) for name in FILES]
    np.testing.assert_allclose(each_of(partners.players, SEEN_THERE), np.stack(expected), rtol=1e-4, atol=1e-5)


def test_two_sources_of_files_do_not_get_in_each_others_way():
    """Agents that train with the files of one seed, and are tried with those of another."""
    first, second = (PACKAGE.partners((seed,), TYPES) for seed in (100, 101))
    of = study(FAST, partners=first, held_out=second, policy=replace(FAST.policy, num_envs=600))
    names = [stage.name for stage in stages_of(of)]
    assert len(set(names)) == len(names)
    assert {*first.needs(of), *second.needs(of)} <= set(names)
    together = handed_on(first, of) | handed_on(second, of)
    for source in (first, second):
        expected = [in_the_package(catalogue.load(name)) for name in source.files]
        found = each_of(source.players(of, together), SEEN_THERE)
        np.testing.assert_allclose(found, np.stack(expected), rtol=1e-4, atol=1e-5)


@pytest.fixture
def file(tmp_path):
    """A partner in a file of one's own, all of whose weights are zero."""
    shapes = jax.eval_shape(lambda: saved.PARTNER.new(TASK))
    zeros = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
    path = tmp_path / "mine"
    saved.save(path, saved.Saved(saved.PARTNER, TASK, zeros, {"seed": 5, "type": "skilled"}))
    return path


def test_a_file_that_is_written_anew_is_read_anew(file):
    """What is known of it, the networks and the settings are those of today."""
    source = Pretrained((str(file),))
    of = study(held_out=source)
    before, settings = each_of(source.players(of, handed_on(source, of))), source.settings
    assert (before == 0).all()
    assert source.ids(of) == [PartnerId(5, "skilled")]
    ones = jax.tree.map(jnp.ones_like, saved.read(file, {"salesman": type(TASK)}).networks)
    saved.save(file, saved.Saved(saved.PARTNER, TASK, ones, {"seed": 6, "type": "novice"}))
    assert source.ids(of) == [PartnerId(6, "novice")]
    assert (each_of(source.players(of, handed_on(source, of))) != 0).all()
    assert source.settings != settings


def test_whoever_is_said_to_be_somebody_else_is_another_partner(file):
    """Its label is: what was made with the same weights under another is not the same."""
    source = Pretrained((str(file),))
    before, manifest = source.settings, trees.read_manifest(file)
    saved.save(file, saved.read(file, {"salesman": type(TASK)})._replace(about={"seed": 5, "type": "novice"}))
    assert trees.read_manifest(file)["sha256"] == manifest["sha256"]
    assert source.settings != before


@pytest.mark.parametrize("about", [{}, {"seed": 5}, {"seed": 5, "type": "expert"}, {"seed": "5", "type": "skilled"}])
def test_a_file_has_to_say_who_its_partner_is(file, about):
    saved.save(file, saved.read(file, {"salesman": type(TASK)})._replace(about=about))
    of = study(held_out=Pretrained((str(file),)))
    with pytest.raises(Incompatible, match="does not say of which seed and of which type its partner is"):
        _ = of.held_out_ids


def test_files_of_agents_and_of_other_games_are_no_partners(file):
    """A study alone reads no file; whoever asks for its stages hears of it."""
    agents = study(FAST, held_out=Pretrained(("salesman/lstm/0",)))
    with pytest.raises(Incompatible, match="is of 'lstm'; wanted is one of: partner"):
        stages_of(agents)
    of_another_game = study(FAST, held_out=Pretrained((str(file),)))
    with pytest.raises(Incompatible, match=r"has learnt another game than the one in task\.game"):
        stages_of(of_another_game)
    nowhere = study(FAST, held_out=Pretrained(("salesman/partners/103-novice",)))
    with pytest.raises(Incompatible, match="there is no agent 'salesman/partners/103-novice'"):
        stages_of(nowhere)
    with pytest.raises(ValueError, match="nobody is there to be met"):
        study(FAST, held_out=Pretrained(()))


# Partners by self-play


@pytest.mark.parametrize(
    ("source", "clones_by_seed"),
    [
        (SelfPlay((0, 1, 2)), {0: (0, 1, 2), 1: (0, 1, 2), 9: (0, 1, 2)}),
        (SelfPlay((0, 1, 2), own=True), {0: (0, 1, 2), 1: (1, 0, 2), 9: (9, 0, 1)}),
        (SelfPlay(own=True), {0: (0,), 1: (1,), 9: (9,)}),
        (SelfPlay((5,), own=True), {0: (0,), 5: (5,), 9: (9,)}),
    ],
)
def test_an_agent_meets_its_own_clones_in_the_place_of_others(source, clones_by_seed):
    of = replace(SMALL, seeds=tuple(clones_by_seed), held_out=None, partners=SelfPlay((0, 1)))
    for seed, met in clones_by_seed.items():
        assert source.clones(of, seed) == met
        assert source.ids(of, seed) == [PartnerId(clone, name) for clone in met for name in TYPES]
        assert source.needs(of, seed) == tuple(f"clones_{clone}" for clone in met)
    everybody = {clone for met in clones_by_seed.values() for clone in met}
    assert set(source.clones(of)) == everybody
    assert source.identities(of) == {("the clone of seed", clone) for clone in everybody}


def test_partners_by_self_play_are_the_snapshots_of_their_clones():
    source, inputs = SelfPlay((7, 8), own=True), inputs_of(7, 8, 9)
    of = replace(SMALL, seeds=(9,), partners=source)
    found = each_of(source.players(of, inputs, 9))
    expected = [acts_as(seed, n) for seed in (9, 7) for n in range(3)]
    np.testing.assert_allclose(found, np.stack(expected), rtol=1e-5, atol=1e-6)


def test_clones_may_leave_some_types_to_others():
    source = SelfPlay((7,), types=("novice", "skilled"))
    of = study(levels=(), held_out=None, partners=Mixture((source, Scripted({"intermediate": UP}))))
    assert source.ids(of) == [PartnerId(7, "novice"), PartnerId(7, "skilled")]
    partners = partners_of(of, of.partners, inputs_of(7, snapshots=2))
    assert partners.labels.tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]


def test_what_clones_leave_behind_is_known_by_where_it_is_met():
    inputs = inputs_of(*(seed for seed in (100, 3, 0)))
    parts = Means(*(jnp.array([[1.0, 2, 3], [3, 4, 5]]) for _ in range(4)))
    outcomes = inputs | {"self_play_100": parts, "self_play_3": parts}
    found = [partner for source in SMALL.sources for partner, _ in source.left_behind(SMALL, outcomes)]
    assert [(str(each.id), each.id.held_out) for each in found] == [
        *((f"100-{name}", True) for name in TYPES),
        *((f"3-{name}", False) for name in TYPES),
    ]
    assert [(each.iteration, each.length, each.total) for each in found[:3]] == [(0, 2, 2), (10, 3, 3), (20, 4, 4)]
    mixed = study(held_out=Mixture((SelfPlay((100,)), Scripted({"skilled": HOMING}))))
    assert all(partner.id.held_out for partner, _ in mixed.held_out.left_behind(mixed, outcomes))


# Nobody is held out whom somebody trains with

HELD_OUT = {
    "clones": (SelfPlay((0, 1)), SelfPlay((1, 100)), "the clone of seed 1"),
    "clones of agents": (OF_EVERY_TYPE, SelfPlay((3,)), "the clone of seed 3"),
    "players": (OF_EVERY_TYPE, Scripted({"novice": CIRCLING}), "the player Circling"),
    "players made anew": (OF_EVERY_TYPE, Scripted({"skilled": Homing(1.5)}), "the player Homing"),
    "players in mixtures": (Mixture((SelfPlay((0,)), SCRIPTED)), Mixture((Scripted({"skilled": HOMING}),)), "Homing"),
    "clones in mixtures": (Mixture((SelfPlay((0,)), SCRIPTED)), SelfPlay((0,)), "the clone of seed 0"),
}


@pytest.mark.parametrize("kind", HELD_OUT)
def test_partners_that_are_trained_with_are_not_held_out(kind):
    partners, held_out, who = HELD_OUT[kind]
    with pytest.raises(
        ValueError, match=f"held_out must be partners that nobody trains with, and .*{who}.* is trained"
    ):
        study(partners=partners, held_out=held_out)


def test_others_are_held_out():
    for partners, held_out in [
        (SelfPlay((0, 1)), SelfPlay((100,))),
        (OF_EVERY_TYPE, Scripted({"novice": Circling(1), "skilled": Homing(2.0)})),
        (Mixture((SelfPlay((0,)), SCRIPTED)), Mixture((SelfPlay((100,)), Scripted({"skilled": UP})))),
    ]:
        study(partners=partners, held_out=held_out)


def test_files_that_are_trained_with_are_not_held_out(monkeypatch):
    """By whichever name they are called."""
    first, second = (PACKAGE.partners((seed,), TYPES) for seed in (100, 101))
    study(FAST, partners=first, held_out=second)
    refused = "held_out must be partners that nobody trains with, and the file .*100-skilled is trained with"
    by_path = Pretrained((str(catalogue.path_of("salesman/partners/100-skilled")),))
    monkeypatch.chdir(saved.PRETRAINED.parent)
    from_here = Pretrained(("./weights/salesman/partners/100-skilled.json",))
    for held_out in (by_path, from_here, Mixture((second, by_path))):
        with pytest.raises(ValueError, match=refused):
            study(FAST, partners=first, held_out=held_out)


def test_a_clone_that_is_trained_with_is_not_held_out_as_a_file():
    """The pretrained partners of seed 100 are those that clone training leaves behind under the same settings."""
    files = PACKAGE.partners((100,), TYPES)
    assert FAST.clones is not None
    other_clones = replace(FAST.clones, learning_rate=1e-3)
    for held_out in (files, Mixture((Scripted({"novice": UP}), files))):
        for changes in ({"partners": SelfPlay((0, 100))}, {"seeds": (100,)}):
            same = study(FAST, held_out=held_out, **changes)
            with pytest.raises(
                ValueError, match="nobody trains with, and salesman/partners/100-novice is trained with"
            ):
                stages_of(same)
            stages_of(study(FAST, held_out=held_out, clones=other_clones, **changes))


# Levels of skill by shares of the way


def test_candidates_are_dense_where_skill_rises_fast():
    """A square root of the way is walked evenly: half of them are in the first quarter."""
    found = candidates(80)
    assert len(found) >= 20
    assert found == sorted(set(found))
    assert found[:8] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert found[-1] < 80
    first, last = (sum(low <= each < low + 20 for each in found) for low in (0, 60))
    assert (first, last) == (12, 3)


def test_of_few_iterations_all_are_candidates():
    assert candidates(6) == [1, 2, 3, 4, 5]
    assert candidates(2) == [1]
    assert candidates(25) == list(range(1, 25))


def test_candidates_are_as_many_as_there_can_be_and_none_is_kept_twice():
    for iterations in range(2, 500):
        found = candidates(iterations)
        assert len(set(found)) == len(found) == min(24, iterations - 1)
        assert found == sorted(found)
        assert 1 <= found[0] <= found[-1] < iterations


@pytest.mark.parametrize(
    ("returns", "shares", "which"),
    [
        ([0.0, 0.1, 0.45, 0.9, 0.6, 1.0], (0.5,), [0, 2, 5]),
        ([0.0, 0.1, 0.45, 0.9, 0.6, 1.0], (0.25, 0.75), [0, 1, 3, 5]),  # 0.1 and 0.9 are both 0.15 away
        ([-1.0, -0.8, 0.0, 0.9, 1.0], (0.5,), [0, 2, 4]),
        ([1.0, 0.8, 0.3, 0.0], (0.5,), [0, 2, 3]),  # where training has made it worse
        ([0.0, 0.2, 1.2, 1.0], (0.5,), [0, 1, 3]),  # where the best came before the last
        ([0.0, 0.0, 1.0, 1.0], (0.1, 0.9), [0, 1, 2, 3]),  # untrained and trained are not chosen between
        ([0.0, 0.7, 1.0], (0.2, 0.8), [0, 1, 1, 2]),  # one may have to stand for two levels
    ],
)
def test_levels_come_closest_to_their_shares_of_the_way(returns, shares, which):
    inputs = {"levels_7": SimpleNamespace(total=np.array(returns, np.float32))}
    of = SimpleNamespace(shares=shares)
    assert picked(of, inputs, 7).tolist() == which  # pyright: ignore[reportArgumentType]


def test_partners_by_shares_are_the_snapshots_that_were_picked():
    """Of five snapshots the fourth returns half of what the last does."""
    of = study(levels=(), shares=(0.5,), partners=SelfPlay((7,)), held_out=None)
    inputs = inputs_of(7, snapshots=5) | {"levels_7": SimpleNamespace(total=np.array([0.0, 0.1, 0.2, 0.5, 1.0]))}
    assert iterations_of(of, inputs, 7).tolist() == [0, 30, 40]
    chosen = jax.tree.map(lambda leaf: leaf[jnp.array([0, 3, 4])], clones(7, 5).snapshots)
    assert jax.tree.all(jax.tree.map(np.array_equal, snapshots_of(of, inputs, 7), chosen))
    assert [stage.name for stage in of.partners.stages(of)] == ["clones_7", "levels_7", "self_play_7"]
    assert of.partners.needs(of, 3) == ("clones_7", "levels_7")
    by_name = {stage.name: stage for stage in of.partners.stages(of)}
    assert by_name["levels_7"].chunks == 5  # of four iterations: untrained, all three in between, trained
    assert by_name["self_play_7"].needs == ("clones_7", "levels_7")


def test_clones_are_the_same_whatever_shares_are_asked_for():
    """They are picked afterwards, so nobody has to be trained or measured again."""
    made = []
    for share in (0.3, 0.6):
        of = study(levels=(), shares=(share,), partners=SelfPlay((7,)), held_out=None)
        made.append({stage.name: stage.settings for stage in of.partners.stages(of)})
    assert {name for name, settings in made[0].items() if settings == made[1][name]} == {"clones_7", "levels_7"}


def test_results_know_partners_of_any_source():
    of = study(partners=OF_EVERY_TYPE, held_out=Mixture((SelfPlay((100,)), Scripted({"skilled": Homing(2.0)}))))
    results = gather(of, {}, SHOWING)
    assert [str(each) for each in results.met_in_matrix] == [
        *(f"100-{name}" for name in TYPES),
        "0-skilled",
        "0-novice",
        "1-novice",
        "0-intermediate",
        "0-skilled",
    ]
    assert results.of_type("skilled") == [2, 3]


def test_a_type_that_nobody_held_out_is_of_is_left_out_of_the_results():
    of = study(partners=OF_EVERY_TYPE, held_out=Scripted({"skilled": Homing(2.0)}), methods=("lstm",), seeds=(0,))
    cell = Cell(length=4.0, total=0.25, total_error=0.0, finished=1.0)
    results = gather(of, {}, SHOWING)._replace(cells={("lstm", 0, "argmax"): [cell]}, mode="argmax")
    assert results.types == ("skilled",)
    assert headline(results) == {"LSTM, skilled": 0.25}
    assert "nan" not in "".join(table.markdown() for table in tables(results))
    assert gather(study(partners=OF_EVERY_TYPE, held_out=None), {}, SHOWING).types == TYPES


class Namesake(type(TASK)):
    """Another task in the same module, with the same fields."""


class OtherTypes(type(TASK)):
    """One more, with partners of other types."""

    @property
    def types(self):
        return ("novice", "expert", "skilled")


def test_tasks_with_the_same_fields_are_not_the_same_task():
    """Or one would be given what was trained for the other."""
    same = {field.name: getattr(TASK, field.name) for field in dataclasses.fields(TASK)}
    identities = [plain(identity_of(task)) for task in (TASK, Namesake(**same), OtherTypes(**same))]
    assert identities[0] == plain(identity_of(type(TASK)(**same)))
    assert identities[0] not in identities[1:]
    assert identities[1] != identities[2]
    for stage in stages_of(study()):
        if not stage.name.startswith(STAGE):
            assert stage.settings["task"] == identity_of(TASK), stage.name


def test_clones_need_a_game_in_which_both_seats_have_the_same_actions():
    @dataclass(frozen=True)
    class Lopsided(type(GAME)):
        @property
        def num_actions(self):
            return (4, 3)

    game = Lopsided(**{field.name: getattr(GAME, field.name) for field in dataclasses.fields(GAME)})
    with pytest.raises(ValueError, match="clones take both seats, which must have the same actions"):
        study(task=replace(TASK, game=game))


def test_who_measures_no_partner_switch_needs_no_time_for_one():
    late = replace(SMALL.measures, switch_after=10**6)
    with pytest.raises(ValueError, match=r"measures\.switch_after \(1000000\) must come before the step limit"):
        study(measures=late)
    study(measures=replace(late, closer=("regret",)))


def test_two_methods_do_not_train_one_thing_differently(monkeypatch):
    lstm, clipped = methods.METHODS["lstm"], replace(SMALL.lstm, clip=0.1)
    other = replace(lstm, name="other", trainings=lambda study: lstm.trainings(replace(study, lstm=clipped)))
    monkeypatch.setitem(methods.METHODS, "other", other)
    with pytest.raises(ValueError, match="two methods train 'lstm' differently"):
        stages_of(study(methods=("lstm", "other")))


def test_of_two_methods_with_beliefs_each_keeps_what_is_its_own(monkeypatch):
    """The main one's controls are called by their names alone, the other's with its name before them."""
    ours = methods.METHODS["behaviour_conditioned"]
    monkeypatch.setitem(methods.METHODS, "other", replace(ours, name="other", title="the other"))
    of = study(methods=("behaviour_conditioned", "other"), seeds=(0,))
    means = lambda total: Means(*(jnp.full((1, len(of.held_out_ids)), total) for _ in range(4)))
    controls = lambda total: {"oracle_label": {"sample": means(total)}}
    played = lambda total: Episodes(means(total), Notes(SEEN_ONE, SEEN_ONE))
    validation = lambda total: {"probabilities": {"sample": played(total), "argmax": played(0.0)}}
    outcomes = {"controls_behaviour_conditioned_0": controls(1.0), "controls_other_0": controls(2.0)}
    outcomes |= {"validation_behaviour_conditioned_0": validation(3.0), "validation_other_0": validation(4.0)}
    outcomes |= {"predictor_0": Trained((), {"accuracy": jnp.array([[0.5]])})}
    results = gather(of, outcomes, SHOWING)
    total = lambda who: results.cells[who, 0, "sample"][0].total
    assert (total("oracle_label"), total("other/oracle_label")) == (1, 2)
    assert results.validation["probabilities", "sample", 0][0].total == 3
    assert results.validation["other/probabilities", "sample", 0][0].total == 4
    assert results.accuracies == {0: (0.5, 0.25)}
    assert titles(results)["other/oracle_label"] == "the other, oracle label"


SEEN_ONE = SimpleNamespace(correct=np.array([1.0]), counted=np.array([4.0]))
