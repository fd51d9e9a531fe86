"""What is said of a game, of partners and of encoders that cannot be used: a table of mistakes and sentences."""

# Most of what is handed over here is of a wrong type on purpose.
# pyright: reportArgumentType=false, reportIncompatibleMethodOverride=false

import re
import sys
from contextlib import contextmanager
from inspect import unwrap
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import coadapt as ca
from coadapt.agents.encoders import build_below_head
from coadapt.cli import main
from coadapt.learning.training import play_with_partners
from coadapt.partners.dirichlet import Stationary
from coadapt.pipeline.task import new_recurrent_policy, seen_in
from coadapt.runs.executor import RunOptions
from coadapt.runs.progress import Progress
from coadapt.storage.files import Incompatible
from tests.pipeline.lake import TYPES, Lake, Walks, friends, study, study_file

KEY = jax.random.key(0)
GAME = Lake()
TASK = ca.Task("lake", GAME, TYPES)
SEEN = seen_in(GAME)


def lake(**other: Any) -> Lake:
    """The game with something else in place of what it is made of."""
    return type("Lake", (Lake,), other)()


def steps(**other: Any):
    """The game's step with something else in its outcome."""

    def step(self, state, actions, key):
        after, outcome = Lake.step(self, state, actions, key)
        return after, outcome._replace(**other)

    return step


@contextmanager
def refused(sentence: str):
    """Within it a ValueError says this, as a regular expression, and no more than a line."""
    with pytest.raises(ValueError, match=r".") as caught:
        yield
    assert re.fullmatch(sentence, str(caught.value)), str(caught.value)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"num_actions": 2}, r"Lake.num_actions must be a pair, one number for each seat, such as \(2, 2\), not 2"),
        ({"num_actions": [3, 3]}, r"Lake.num_actions must be a pair, .*, not \[3, 3\]"),
        ({"num_actions": (3, 3.0)}, "each of Lake.num_actions must be a whole number from 1 to 100000, not 3.0"),
        ({"num_actions": (3, 0)}, "each of Lake.num_actions must be a whole number from 1 to 100000, not 0"),
        ({"num_actions": (3, -1)}, "each of Lake.num_actions must be a whole number from 1 to 100000, not -1"),
        ({"num_actions": None}, "Lake.num_actions must be a pair, .*, not None"),
        ({"max_steps": None}, "Lake.max_steps must be a whole number from 1 to 100000, not None"),
        ({"max_steps": 0}, "Lake.max_steps must be a whole number from 1 to 100000, not 0"),
        ({"max_steps": 4.0}, "Lake.max_steps must be a whole number from 1 to 100000, not 4.0"),
        ({"reset": None}, r"Lake needs a method reset\(self, key\)"),
        (
            {"step": lambda self, state, actions: state},
            r"Lake.step must take these arguments: step\(self, state, actions, key\)",
        ),
        (
            {"observe": lambda self, state: state},
            r"Lake.observe must take these arguments: observe\(self, state, seat\)",
        ),
        ({"legal": lambda self, state: None}, r"Lake.legal must take these arguments: legal\(self, state, seat\)"),
    ],
)
def test_what_a_game_lacks_is_said_wherever_it_is_brought(parts, sentence):
    """Nothing has to be compiled for that, so every door looks."""
    game, partners = lake(**parts), ca.fixed_population_of({"still": Stationary(jnp.zeros(3))}).partners
    doors = (
        lambda: ca.check(game),
        lambda: ca.Task("lake", game, TYPES),
        lambda: unwrap(ca.mean_returns)(KEY, game, partners, lambda label: Walks(1), 2),
        lambda: unwrap(ca.play_told_episodes)(KEY, game, partners, lambda told: Walks(1), partners.ids),
        lambda: unwrap(ca.start_episode)(KEY, game, (Walks(1), Walks(1))),
    )
    for door in doors:
        with refused(sentence):
            door()


def test_a_class_is_no_game():
    with refused(r"a game must be an object, not the class Lake; write Lake\(\)"):
        ca.check(Lake)


STEP, OUTCOME = r"Lake\.step must return", r"coadapt\.Outcome\(reward, terminated, truncated\)"
LINE = r" \(line \d+ of test_check\.py\)"


def decides(self, state, actions, key):
    if state["taken"] > 2:
        return state, ca.Outcome(jnp.float32(0), True, False)
    return Lake.step(self, state, actions, key)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        (
            {"step": decides},
            r"Lake\.step cannot be compiled: it decides by the value of an array \(if, while, and, or, not, in\); use"
            rf" jnp\.where, or the operators & \| ~{LINE}",
        ),
        (
            {"reset": lambda self, key: {"taken": np.array(jax.random.randint(key, (), 0, 5))}},
            rf"Lake\.reset cannot be compiled: it hands an array to NumPy; use jax\.numpy in its place{LINE}",
        ),
        (
            {"observe": lambda self, state, seat: jnp.zeros(5).at[state["taken"].item()].set(1)},
            r"Lake\.observe cannot be compiled: it takes the value out of an array \(\.item\(\), int\(\), float\(\), or"
            rf" as a size\); keep it as an array{LINE}",
        ),
        (
            {"privileged": lambda self, state, seat: jnp.float32(TYPES.index(TYPES[state["taken"]]))},
            r"Lake\.privileged cannot be compiled: it counts or looks up by the value of an array in plain Python; .*"
            rf"make the list a jnp\.array{LINE}",
        ),
        (
            {"legal": lambda self, state, seat: jnp.arange(3)[jnp.arange(3) > state["taken"]]},
            rf"Lake\.legal cannot be compiled: it picks as many elements as a mask says; use jnp\.where .*{LINE}",
        ),
        (
            {"outcomes": lambda self, state, actions: [state] * int(actions[0])},
            rf"Lake\.outcomes cannot be compiled: it takes the value out of an array .*{LINE}",
        ),
        (
            {"observe": lambda self, state, seat: state["places"][[2, -3][seat]]},
            rf"Lake\.observe looks for element 2 along an axis of 2{LINE}",
        ),
        (
            {"privileged": lambda self, state, seat: jax.lax.cond(True, lambda: state["places"][-3], lambda: 0)},
            rf"Lake\.privileged looks for element -3 along an axis of 2{LINE}",
        ),
        ({"observe": lambda self, state, seat: state["place"]}, rf"Lake\.observe fails: KeyError: 'place'{LINE}"),
        (
            {"observe": lambda self, state, seat: "me"},
            r"what Lake\.observe returns must be made of arrays, and has a str",
        ),
        (
            {"observe": lambda self, state, seat: ()},
            r"Lake\.observe must show the main agent at least one array, not \(\)",
        ),
        (
            {"reset": lambda self, key: {"places": [object()]}},
            r"what Lake\.reset returns must be made of arrays, and has a object at \['places'\]\[0\]",
        ),
        ({"step": lambda self, state, actions, key: state}, f"{STEP} a state and a {OUTCOME}, not a dict"),
        (
            {"step": lambda self, state, actions, key: (state, jnp.float32(1), True, {})},
            f"{STEP} a state and a {OUTCOME}, not a tuple of 4",
        ),
        (
            {"step": lambda self, state, actions, key: (state, (jnp.float32(1), True))},
            f"{STEP} a state and a {OUTCOME}, not a state and a tuple",
        ),
        (
            {"step": steps(truncated=jnp.int32(0))},
            rf"{STEP} an Outcome whose truncated is one Boolean, bool\[\], not int32\[\]",
        ),
        ({"step": steps(terminated=1)}, rf"{STEP} an Outcome whose terminated is one Boolean, bool\[\], not int32\[\]"),
        ({"step": steps(reward=jnp.zeros(2))}, rf"{STEP} an Outcome whose reward is one number, .*, not float32\[2\]"),
        (
            {"step": steps(reward=jnp.complex64(1))},
            rf"{STEP} an Outcome whose reward is one number, .*, not complex64\[\]",
        ),
        ({"step": steps(reward=None)}, rf"{STEP} an Outcome whose reward is one number, float32\[\], not a NoneType"),
        (
            {"step": steps(shaping=jnp.zeros(3))},
            rf"{STEP} an Outcome whose shaping is one number, .*, not float32\[3\]",
        ),
        (
            {
                "step": lambda self, state, actions, key: (
                    {**state, "taken": 0.0},
                    Lake.step(self, state, actions, key)[1],
                )
            },
            r"the state\['taken'\] must keep its shape and kind, and is int32\[\] from Lake\.reset and float32\[\] from"
            r" Lake\.step",
        ),
        (
            {"step": lambda self, state, actions, key: (state["places"], Lake.step(self, state, actions, key)[1])},
            r"the state must keep its form, and is a dict \(places: int32\[2\], taken: int32\[\]\) from Lake\.reset and"
            r" int32\[2\] from Lake\.step",
        ),
        (
            {"legal": lambda self, state, seat: jnp.ones(2, bool)},
            r"Lake\.legal must return a Boolean for each of the 3 actions of the main agent, bool\[3\], not bool\[2\]",
        ),
        (
            {"legal": lambda self, state, seat: jnp.ones(3) if seat == ca.PARTNER else None},
            r"Lake\.legal must return a Boolean for each of the 3 actions of the partner, bool\[3\], not float32\[3\]",
        ),
    ],
)
def test_what_is_wrong_with_a_game_is_seen_from_shapes(monkeypatch, parts, sentence):
    monkeypatch.setattr("coadapt.pipeline.check._play", lambda *_: pytest.fail("it was played"))
    with refused(sentence):
        ca.check(lake(**parts))


def test_observations_keep_their_shapes():
    """A game whose functions remember what was asked of them before shows something else every time."""

    class Growing(Lake):
        asked = 0

        def observe(self, state, seat):
            self.asked += 1
            return jnp.zeros(self.asked)

    with refused(r"what the main agent observes must keep its shape and kind, and is float32\[1\] from one call .*"):
        ca.check(Growing())


def test_both_seats_are_alike_for_who_plays_with_itself():
    class Uneven(Lake):
        def observe(self, state, seat):
            return jnp.zeros(3 + seat)

    assert ca.check(Uneven()) == []
    task = ca.Task("uneven", Uneven(), TYPES)
    with refused(
        "whoever plays with copies of itself needs two seats that are alike, and in Uneven the main agent has 3 actions"
        r" and sees float32\[3\], and the partner has 3 actions and sees float32\[4\]"
    ):
        ca.check(task.game, ca.SelfPlay((0,)), task=task)
    with refused(
        r"what is shown to whoever sits in either seat must keep its shape and kind, and is float32\[4\] from the"
        r" partner and float32\[3\] from the main agent"
    ):
        ca.check(ca.EitherSeat(Uneven()))


# What is seen in play alone


def test_an_episode_must_end():
    with refused(
        r"an episode of Lake went on after its 4 steps \(max_steps\); by then its step must say terminated .*"
    ):
        ca.check(lake(step=steps(truncated=False)))


def test_a_state_that_is_kept_elsewhere_is_said():
    """Each function can be gone through alone, and yet they do not work together."""

    class Keeping(Lake):
        def reset(self, key):
            self.key = jax.random.fold_in(key, 1)
            return super().reset(key)

        def step(self, state, actions, key):
            return super().step(state, actions, jax.random.fold_in(self.key, state["taken"]))

    with refused(
        r"an episode of Keeping cannot be compiled: it uses an array kept from another call \(as in self\.x\); keep it"
        r" in the state.*"
    ):
        ca.check(Keeping())


def bad_in_the_end(state, value):
    """What follows the last step is seen by critics."""
    return jnp.where(state["taken"] == Lake.max_steps, value, 0.0)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        (
            {"legal": lambda self, state, seat: (jnp.arange(3) > state["taken"]) | jnp.bool_(seat == ca.MAIN)},
            "Lake.legal leaves the partner no action before the episode is over",
        ),
        (
            {
                "observe": lambda self, state, seat: {
                    "gap": jnp.zeros(2),
                    "log": bad_in_the_end(state, -jnp.inf if seat == ca.MAIN else 1.0),
                }
            },
            r"Lake.observe shows the main agent a number that is not finite, in observation\['log'\]",
        ),
        ({"step": steps(reward=jnp.nan)}, "Lake.step returns an Outcome whose reward is not finite"),
    ],
)
def test_what_is_wrong_with_a_game_is_seen_in_play(parts, sentence):
    with refused(sentence):
        ca.check(lake(**parts))


class Has(NamedTuple):
    """A partner that decides like this."""

    decides: Any
    starts: Any = lambda key: jnp.int32(0)

    def start(self, key):
        return self.starts(key)

    def decide(self, seen, memory):
        return self.decides(seen, memory)


def has(logits: Any) -> Has:
    return Has(lambda seen, memory: ca.Decision(jnp.array(logits), memory, {}))


@pytest.mark.parametrize(
    ("logits", "sentence"),
    [
        ([0.0, jnp.nan, 0.0], "has logits that are NaN or plus infinity"),
        ([0.0, -jnp.inf, -jnp.inf], "takes no legal action: the logits of all of them are minus infinity"),
    ],
)
def test_a_partner_must_take_one_of_the_legal_actions(logits, sentence):
    """Here the first is not legal."""
    game = lake(legal=lambda self, state, seat: jnp.arange(3) > 0)
    with refused(rf"partner 0-odd \(Has\) {sentence}"):
        ca.check(game, {"odd": has(logits), "even": Walks(2)})


# Partners, as shapes


class Crowd(NamedTuple):
    """A population of whom everybody is somebody else."""

    width: int  # of the labels

    def draw(self, key, games):
        logits = jax.random.normal(key, (games, 3))
        return ca.Partners(Stationary(logits), logits[:, : self.width], jnp.arange(games))


SHOWN = r"seen\.observation \(friend: float32\[5\], gap: float32\[5\]\)"


class Other:
    """What is no player."""

    def start(self, key):
        return ()


@pytest.mark.parametrize(
    ("partner", "sentence"),
    [
        (Walks, r"whoever is of type 'odd' must be a player, not the class Walks; write Walks\(\.\.\.\)"),
        (Other(), r"Other needs a method decide\(self, seen, memory\)"),
        (3, r"int needs a method start\(self, key\)"),
        (
            has([0.0, 0.0]),
            r"partner 0-odd \(Has\) must return logits that are a number for each of the 3 actions of its seat,"
            r" float32\[3\], not float32\[2\]",
        ),
        (has([[0.0] * 3]), r"partner 0-odd \(Has\) must return logits .*, not float32\[1,3\]"),
        (has([0, 1, 0]), r"partner 0-odd \(Has\) must return logits .*, not int32\[3\]"),
        (
            Has(lambda seen, memory: jnp.int32(1)),
            r"partner 0-odd \(Has\) must return a coadapt\.Decision\(logits, memory, info\), not int32\[\]",
        ),
        (
            Has(lambda seen, memory: (jnp.zeros(3), memory)),
            r"partner 0-odd \(Has\) must return a coadapt\.Decision\(logits, memory, info\), not a tuple",
        ),
        (
            Has(lambda seen, memory: ca.Decision(seen.observation["gaps"][:3], memory, {})),
            rf"decide of partner 0-odd \(Has\) fails: KeyError: 'gaps'{LINE}; it is shown {SHOWN}",
        ),
        (
            Has(
                lambda seen, memory: ca.Decision(
                    seen.observation["gap"][:3] * seen.observation["friend"][5], memory, {}
                )
            ),
            rf"decide of partner 0-odd \(Has\) looks for element 5 along an axis of 5{LINE}",
        ),
        (
            Has(lambda seen, memory: ca.Decision(jnp.zeros(3), memory if memory > 0 else -memory, {})),
            rf"decide of partner 0-odd \(Has\) cannot be compiled: it decides by the value of an array .*{LINE}; it is"
            rf" shown {SHOWN}",
        ),
        (
            Has(lambda seen, memory: ca.Decision(jnp.zeros(3), memory.astype(float), {})),
            r"the memory of partner 0-odd \(Has\) must keep its shape and kind, and is int32\[\] from start and"
            r" float32\[\] from decide",
        ),
        (
            Has(lambda seen, memory: ca.Decision(jnp.zeros(3), None, {})),
            r"the memory of partner 0-odd \(Has\) must keep its form, and is int32\[\] from start and None from"
            " decide",
        ),
        (
            Has(lambda seen, memory: ca.Decision(jnp.zeros(3), memory, {"mood": "good"})),
            r"what decide of partner 0-odd \(Has\) returns must be made of arrays, and has a str at \.info\['mood'\]",
        ),
        (
            Has(Walks(1).decide, lambda key: 1 / 0),
            rf"start of partner 0-odd \(Has\) fails: ZeroDivisionError: division by zero{LINE}",
        ),
    ],
)
def test_what_is_wrong_with_a_partner_is_seen_from_shapes(monkeypatch, partner, sentence):
    monkeypatch.setattr("coadapt.pipeline.check._play", lambda *_: pytest.fail("it was played"))
    with refused(sentence):
        ca.check(GAME, {"odd": [partner]})
    with refused(sentence.replace("partner 0", "held-out partner 0")):
        ca.check(GAME, held_out={"odd": [partner]})


@pytest.mark.parametrize(
    ("partners", "sentence"),
    [
        (friends(), "partners must be of every type, and nobody is of type 'goes on': list at least one player"),
        ({"goes on": Walks(2)}, "partners must be of every type, and nobody is of type 'goes back': .*"),
        ({"goes": Walks(2)}, "types of partners must be one of goes on, goes back, not 'goes'"),
        ("a friend", "partners must be a source of partners .*, players by type, a population, .*, not a str"),
        (
            ca.Partners(Walks(1), jnp.eye(2), jnp.arange(2)),
            r"the players of 2 partners must be stacked .* is a Walks; .*",
        ),
        (
            ca.Partners(Stationary(jnp.zeros((2, 3))), jnp.eye(3), jnp.arange(2)),
            r"the labels of 2 partners must be a row for each of them, float32\[2,label\], not float32\[3,3\]",
        ),
        (
            ca.Partners(Stationary(jnp.zeros((2, 3))), jnp.eye(3)[:2], jnp.arange(2)),
            r"the labels of partners must have a number for each of the 2 types of the task, float32\[2,2\], not"
            r" float32\[2,3\]",
        ),
        (
            ca.FixedPopulation(ca.Partners(Stationary(jnp.zeros((2, 2))), jnp.eye(2), jnp.arange(2))),
            r"partner 0 \(Stationary\) must return logits .* 3 actions of its seat, float32\[3\], not float32\[2\]",
        ),
        (Crowd(width=3), "the labels of partners must have a number for each of the 2 types .*"),
        (Has(lambda seen, memory: 1), r"the partner \(Has\) must return a coadapt\.Decision.*, not int32\[\]"),
    ],
)
def test_partners_in_any_form_are_looked_at(partners, sentence):
    with refused(sentence):
        ca.check(GAME, partners, task=TASK)


def test_partners_in_files_are_looked_at_for_their_task():
    partners = ca.Pretrained(("salesman/partners/100-skilled",))
    with refused(r"partners in files belong to a task; say which, as in check\(game, partners, task=task\)"):
        ca.check(GAME, partners)
    with pytest.raises(Incompatible, match="is for the game 'salesman'; known are lake"):
        ca.check(GAME, partners, task=TASK)


def test_all_is_well_with_what_is_as_it_should_be():
    """Partners in every form, and games with all that a game may have."""
    everything = lake(
        legal=lambda self, state, seat: jnp.arange(3) >= jnp.minimum(state["taken"], 1),
        privileged=lambda self, state, seat: state["places"],
        step=steps(terminated=False, shaping=1),
    )
    watches = Has(lambda seen, memory: ca.Decision(jnp.eye(3)[seen.privileged[1] % 3], memory + 1, {}))
    assert ca.check(everything, {"odd": watches, "even": [Walks(1), Walks(2)]}) == []
    assert ca.check(GAME, ca.fixed_population_of(friends(0.1)), Walks(1), TASK) == []
    partners = ca.Mixture((ca.Scripted(friends(0.1)), ca.SelfPlay((0,))))
    assert ca.check(GAME, partners, Crowd(width=2)) == []


def test_types_that_nobody_can_tell_apart_are_remarked():
    """Two walkers are one who slips, and others who slip as often."""
    partners = {"a": [Walks(2), Walks(0)], "b": Walks(2), "c": [Walks(0), Walks(2), Walks(0)], "d": Walks(2, 0.2)}
    (remark,) = ca.check(GAME, partners, {"a": Walks(2), "c": Walks(1)})
    assert remark == (
        "partners of type 'a' and of type 'c' did exactly the same in a few episodes: if they always do, nobody can"
        " tell them apart"
    )


# Encoders


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (
            ca.VectorSpec(lambda observation: observation["gaps"]),
            rf"VectorSpec of the observation \(friend: float32\[5\], gap: float32\[5\]\) fails: KeyError: 'gaps'{LINE}",
        ),
        (
            ca.VectorSpec(lambda observation: jnp.stack([observation["gap"], observation["friend"]])),
            r"VectorSpec of .*: the view must return a vector, float32\[n\], not float32\[2,5\]",
        ),
        (
            ca.VectorSpec(lambda observation: observation["gap"][5, None]),
            rf"VectorSpec of .* looks for element 5 along an axis of 5{LINE}",
        ),
        (
            ca.GridSpec(lambda observation: observation["gap"]),
            r"GridSpec of .*: the view must return channels by rows by columns, float32\[c,h,w\], not float32\[5\]",
        ),
        (
            ca.VectorSpec(
                lambda observation: observation["gap"] if observation["gap"][0] > 0 else observation["friend"]
            ),
            rf"VectorSpec of .* cannot be compiled: it decides by the value of an array .*{LINE}",
        ),
    ],
)
def test_an_encoder_must_fit_the_observation(spec, sentence):
    """The task says for which role it is; who builds networks alone hears of it, too."""
    task = ca.Task("lake", GAME, TYPES, encoders={"belief": spec})
    with refused(f"the encoder for the role 'belief' does not fit: {sentence}"):
        ca.check(GAME, task=task)
    with refused(sentence):
        ca.ConditionedPolicy(KEY, spec, SEEN, 2, (), 3)


def test_an_encoder_is_built_by_a_specification_of_all_that_is_shown():
    with refused(r"encoders\['policy'\] must say how to build one, as in coadapt\.VectorSpec\(view\), not a function"):
        ca.Task("lake", GAME, TYPES, encoders={"policy": lambda seen: seen})
    with refused(r"networks are made for all that a player is shown, a coadapt\.Seen, not for a dict alone"):
        unwrap(build_below_head)(KEY, ca.VectorSpec(jnp.ravel), SEEN.observation)


# Other doors


def test_an_outcome_may_hold_numbers_and_booleans_of_python():
    game, partners = lake(step=steps(reward=1, terminated=False)), ca.fixed_population_of(friends(0.1)).partners
    returns = jax.eval_shape(lambda key: ca.mean_returns(key, game, partners, Walks(1), 2), KEY)
    assert (returns.shape, returns.dtype) == ((2,), jnp.float32)


def test_a_population_is_no_partners_and_partners_are_no_population():
    population = ca.fixed_population_of(friends(0.1))
    returns = lambda partners: unwrap(ca.mean_returns)(KEY, GAME, partners, lambda label: Walks(1), 2)
    with refused(r"partners are asked for, not a population \(FixedPopulation\); give its \.partners, or draw some"):
        returns(population)
    with refused(r"partners must be coadapt\.Partners\(players, labels, ids\), not a Walks"):
        returns(Walks(1))
    config = ca.PPOConfig(1, num_envs=2, num_steps=4)
    with refused(r"a population is asked for, not Partners; write coadapt\.FixedPopulation\(partners\)"):
        play_with_partners(KEY, KEY, GAME, population.partners, lambda label: Walks(1), config)
    with refused(r"a population must have a method draw\(self, key, games\), as a Walks has not"):
        play_with_partners(KEY, KEY, GAME, Walks(1), lambda label: Walks(1), config)


@pytest.mark.parametrize("seat", [ca.MAIN, ca.PARTNER])
def test_whoever_plays_must_fit_its_seat(seat):
    """Three logits in a game of two actions would make no error of their own."""
    two = lake(num_actions=(3, 2) if seat == ca.PARTNER else (2, 3))
    still = [Stationary(jnp.zeros(two.num_actions[other])) for other in (ca.MAIN, ca.PARTNER)]
    still[seat] = Stationary(jnp.zeros(3))
    partners = ca.Partners(jax.tree.map(lambda leaf: leaf[None], still[ca.PARTNER]), jnp.ones((1, 1)), jnp.arange(1))
    who = "the main agent" if seat == ca.MAIN else "the partner"
    sentence = rf"{who} \(Stationary\) must return logits .* each of the 2 actions of its seat, .*, not float32\[3\]"
    with refused(sentence):
        ca.mean_returns(KEY, two, partners, lambda label: still[ca.MAIN], 2)
    with refused(sentence):
        ca.rollout(ca.start_episode(KEY, two, tuple(still)), two, tuple(still), 2)


def test_a_study_needs_a_task_and_sources_of_partners():
    with refused(r"task must be a coadapt\.Task\(name, game, types\), not a Lake"):
        ca.Study(GAME, ca.Scripted(friends(0.1)))
    population = ca.fixed_population_of(friends(0.1))
    says = r"must be a source of partners \(coadapt\.Scripted, .*\), not a FixedPopulation; players of your own: .*"
    with refused(f"partners {says}"):
        ca.Study(TASK, population)
    with refused(f"held_out {says}"):
        ca.Study(TASK, ca.Scripted(friends(0.1)), population)
    with refused("types of partners must be one of goes on, goes back, not 'goes'"):
        ca.Study(TASK, ca.Scripted({"goes": Walks(1)}))
    with refused("partners must be of every type, and none of those of seed 0 is goes back"):
        ca.Study(TASK, ca.Scripted({"goes on": Walks(1)}))
    with refused(r"players must be listed by type, as in \{'a type': \[player, \.\.\.\]\}, not as a list"):
        ca.Scripted([Walks(1)])


def test_an_agent_needs_networks_of_its_task():
    other = ca.Task("other", lake(num_actions=(2, 2)), TYPES)
    made_of = lambda networks: ca.TrainedAgent.made_of("lstm", TASK, networks)
    shapes = jax.eval_shape(lambda: new_recurrent_policy(KEY, other))
    policy = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
    with refused(r"an agent of lstm has networks by name \(policy\), not a RecurrentPolicy"):
        made_of(policy)
    with refused(r"an agent of lstm with these networks must return logits .* float32\[3\], not float32\[2\]"):
        made_of({"policy": policy})
    for door in (lambda: ca.TrainedAgent.made_of("lstm", GAME, {}), lambda: ca.load("nowhere", task=GAME)):
        with refused(r"task must be a coadapt\.Task\(name, game, types\), not a Lake"):
            door()


# From beginning to end


def test_a_run_looks_before_it_writes(tmp_path):
    with refused(rf"Lake\.observe fails: KeyError: 'place'{LINE}"):
        ca.run(study(lake(observe=lambda self, state, seat: state["place"])), tmp_path / "run", options=RunOptions())
    assert list(tmp_path.iterdir()) == []


def test_a_run_says_what_is_remarkable(tmp_path, monkeypatch):
    class Telling(Progress):
        said: ClassVar = []

        def say(self, text):
            self.said.append(text)

    monkeypatch.setattr("coadapt.pipeline.running.check", lambda *given, **also: ["two types are alike"])
    monkeypatch.setattr("coadapt.pipeline.running.plan", lambda *given: sys.exit("planning"))
    with pytest.raises(SystemExit, match="planning"):
        ca.run(study(), tmp_path / "run", options=RunOptions(Telling()))
    assert Telling.said == ["two types are alike."]


HEAD = "import jax.numpy as jnp\nimport coadapt as ca\nfrom tests.pipeline import lake\n"


@pytest.mark.parametrize(
    ("number", "body", "sentence"),
    [
        (
            1,
            "class Lake(lake.Lake):\n    def observe(self, state, seat):\n        return state['place']\n"
            "study = lake.study(Lake())\n",
            r"Lake\.observe fails: KeyError: 'place' \(line 6 of lake_1\.py\)",
        ),
        (
            2,
            "class Lake(lake.Lake):\n    num_actions = 3\nstudy = lake.study(Lake())\n",
            r"lake_2\.py cannot be read as a study: Lake\.num_actions must be a pair, .*, not 3 \(line \d+ of"
            r" lake\.py\)",
        ),
        (
            3,
            "class Ends(lake.Lake):\n    max_steps = 3\n    def step(self, state, actions, key):\n"
            "        after, outcome = super().step(state, actions, key)\n"
            "        return after, outcome._replace(truncated=after['taken'] > 3)\nstudy = lake.study(Ends())\n",
            r"an episode of Ends went on after its 3 steps .*",
        ),
        (
            4,
            "odd = {name: ca.DirichletPartners for name in lake.TYPES}\n"
            "study = lake.study(partners=ca.Scripted(odd))\n",
            r"lake_4\.py cannot be read as a study: whoever is of type 'goes on' must be a player, not the class .*",
        ),
    ],
)
def test_the_command_says_it_in_a_sentence(tmp_path, monkeypatch, capsys, number, body, sentence):
    """And leaves nothing behind."""
    file = study_file(monkeypatch, tmp_path, f"lake_{number}", HEAD + body)
    with pytest.raises(SystemExit) as stop:
        main(["run", file.name, "--quiet"])
    said = capsys.readouterr()
    assert (stop.value.code, said.out) == (2, "")
    assert re.fullmatch(rf"coadapt: {sentence}\.\n", said.err), said.err
    assert [path.name for path in tmp_path.iterdir() if path.name != "__pycache__"] == [file.name]
