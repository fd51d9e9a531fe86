"""Every preset survives JSON, and any single bad field is refused by its name before work begins."""

import json
import re
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coadapt.configs.data import changed, differences, plain, read_config
from coadapt.experiments import salesman
from coadapt.experiments.matrix_game import FAST, PRESETS
from tuning.search import TuningConfig

CONFIGS = {f"matrix-game {name}": preset for name, preset in PRESETS.items()} | {"tuning": TuningConfig(FAST)}
OF_SALESMAN = {
    **{f"salesman {name}": preset for name, preset in salesman.PRESETS.items()},
    **{f"pretrained salesman {name}": preset for name, preset in salesman.PRETRAINED_PRESETS.items()},
    "salesman without held-out partners": replace(salesman.FAST, held_out=None),
}
EVERY_CONFIG = CONFIGS | OF_SALESMAN


def fields(data, place=()):
    """Every field that holds a value, as a path."""
    for name, value in data.items():
        if isinstance(value, dict):
            yield from fields(value, (*place, name))
        else:
            yield *place, name


ALL_FIELDS = [(name, path) for name, config in CONFIGS.items() for path in fields(plain(config))]


def with_field(config, path, value):
    data = plain(config)
    inner = data
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    return data


@pytest.mark.parametrize("name", EVERY_CONFIG)
def test_presets_survive_a_round_trip(name):
    config = EVERY_CONFIG[name]
    assert read_config(type(config), json.loads(json.dumps(plain(config), allow_nan=False))) == config


@settings(max_examples=200)
@given(st.data())
def test_any_number_in_range_survives_a_round_trip(data):
    rate = data.draw(st.floats(1e-12, 1e3))
    seeds = data.draw(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=5, unique=True))
    alphas = data.draw(st.lists(st.floats(2**-19, 1e6, width=32), min_size=1, max_size=4, unique=True))
    config = replace(FAST, seeds=tuple(seeds), alphas=tuple(alphas), rl2=replace(FAST.rl2, learning_rate=rate))
    assert read_config(type(FAST), json.loads(json.dumps(plain(config)))) == config


NOT_A_NUMBER = st.one_of(
    st.text(max_size=5), st.none(), st.booleans(), st.lists(st.integers(), max_size=2), st.just({})
)
TOO_LARGE = st.one_of(st.integers(min_value=10**400, max_value=10**401), st.integers(max_value=-1))
BAD_WHOLE = st.one_of(NOT_A_NUMBER, TOO_LARGE, st.floats(), st.just(0))
BAD_FLOAT = st.one_of(NOT_A_NUMBER, TOO_LARGE, st.just(float("nan")), st.just(float("inf")), st.floats(max_value=-1e-9))
BAD_LIST = st.one_of(
    st.text(max_size=5),
    st.none(),
    st.integers(),
    st.floats(),
    st.just({}),
    st.just([[]]),
    st.just([None]),
    st.just(["x"]),
)


def bad_values(value):
    if isinstance(value, list):
        return BAD_LIST
    return BAD_FLOAT if isinstance(value, float) else BAD_WHOLE


def value_at(config, path):
    data = plain(config)
    for name in path:
        data = data[name]
    return data


def as_shown(bad):
    """How a bad value may stand in a sentence: as it is, its first element alone, as a float, or not digit by digit."""
    innermost = bad[0] if isinstance(bad, list) and bad else bad
    as_float = [repr(float(bad))] if isinstance(bad, int) and abs(bad) < 10**300 else []
    return [repr(bad), repr(innermost), *as_float] if not TOO_LONG(bad) else ["far too many digits", *as_float]


TOO_LONG = lambda bad: isinstance(bad, int) and abs(bad) >= 10**30


@settings(max_examples=1_000)
@given(st.data())
def test_any_single_bad_field_is_refused_with_its_name_its_value_and_what_is_allowed(data):
    name, path = data.draw(st.sampled_from(ALL_FIELDS))
    config = CONFIGS[name]
    bad = data.draw(bad_values(value_at(config, path)))
    with pytest.raises(ValueError, match=r" must (be|have|hold|differ) .*, not ") as refused:
        read_config(type(config), with_field(config, path, bad))
    sentence = str(refused.value)
    assert path[-1] in sentence
    assert ".".join(path[:-1]) in sentence
    assert "\n" not in sentence
    assert len(sentence) < 400
    assert any(value in sentence for value in as_shown(bad))


@pytest.mark.parametrize(
    ("path", "bad", "words"),
    [
        (("rl2", "learning_rat"), 1, "there is no field rl2.learning_rat; did you mean learning_rate?"),
        (("zzz",), 1, "there is no field zzz; the fields are predictor, policy"),
        (("policy", "discount"), 1.5, "policy.discount must be a number from 0 to 1, not 1.5"),
        (("policy", "minibatches"), 3, "policy.num_envs (200) must be a multiple of minibatches (3)"),
        (("policy",), [], "policy must be an object with named fields, not []"),
        (("seeds",), [0, 0], "seeds must be a list with something in it and nothing twice, not [0, 0]"),
        (("sizes", "policy_hidden"), [6, 0], "sizes.policy_hidden must hold whole numbers from 1 to 100000, not 0"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(path, bad, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        read_config(type(FAST), with_field(FAST, path, bad))


def test_a_missing_field_is_named():
    data = plain(FAST)
    del data["policy"]["iterations"]
    with pytest.raises(ValueError, match=r"the field policy\.iterations is missing"):
        read_config(type(FAST), data)


def test_fields_are_changed_by_name():
    config = changed(FAST, ("policy.learning_rate=0.5", "seeds=[4, 5]", "alphas = [1]"))
    assert (config.policy.learning_rate, config.seeds, config.alphas) == (0.5, (4, 5), (1.0,))
    assert config.rl2 == FAST.rl2


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("policy.learning_rate", "a change is written as field=value"),
        ("policy.learning_rate=fast", "policy.learning_rate must be a number, not 'fast'"),
        ("policies.learning_rate=1", "there is no field policies.learning_rate; did you mean policy?"),
        ("policy.learning_rat=1", "there is no field policy.learning_rat; did you mean learning_rate?"),
        ("seeds.first=1", "there is no field seeds.first"),
        ("policy=1", "policy must be an object with named fields, not 1"),
    ],
)
def test_a_change_that_cannot_be_is_refused(setting, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        changed(FAST, (setting,))


def test_differences_name_the_fields_that_differ():
    other = replace(FAST, seeds=(0,), policy=replace(FAST.policy, discount=0.5))
    assert list(differences(plain(FAST), plain(other))) == [
        ("policy.discount", 0.0, 0.5),
        ("seeds", [0, 1, 2, 3, 4], [0]),
    ]


@dataclass(frozen=True)
class Inner:
    sizes: tuple[int, ...] = (1, 2)
    name: str | None = None


@dataclass(frozen=True)
class Outer:
    inner: Inner
    rate: float = 0.5
    on: bool = False


def test_nested_dataclasses_arrays_and_missing_numbers_become_plain():
    data = {"config": Outer(Inner()), "numbers": np.array([1.5, np.nan]), "n": np.int32(3)}
    assert plain(data) == {
        "config": {"inner": {"sizes": [1, 2], "name": None}, "rate": 0.5, "on": False},
        "numbers": [1.5, None],
        "n": 3,
    }


def test_whole_numbers_serve_as_floats_and_what_may_be_missing_may_be():
    assert read_config(Outer, {"inner": {"name": None}, "rate": 1}) == Outer(Inner(), 1.0)
    with pytest.raises(ValueError, match="on must be true or false, not 1"):
        read_config(Outer, {"inner": {}, "on": 1})
