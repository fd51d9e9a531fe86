"""Why an agent loses, told from made-up numbers: a healthy study, and one for each way to fail."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from coadapt.configs.data import plain
from coadapt.evaluation.adaptation import BINS, Opinion
from coadapt.evaluation.returns import Cell, Notes
from coadapt.experiments.salesman.showing import SHOWING
from coadapt.pipeline.diagnosis import LABELS, POLICY, PREDICTOR, UNKNOWABLE, causes, diagnosis, diagnosis_tables, why
from coadapt.pipeline.evidence import Learning, facts_of, gain_of, size_of
from coadapt.pipeline.partners import PartnerId
from coadapt.pipeline.regret import Regret
from coadapt.pipeline.report import summary, verdict
from coadapt.pipeline.results import gather
from coadapt.pipeline.tables import tables
from coadapt.storage.files import json_text
from tests.experiments.small_salesman import SMALL

SEEDS = (3, 4, 5)
LUCK = np.array([-0.01, 0.0, 0.01])  # what the seeds add to all returns, which no difference has
MAIN = "behaviour_conditioned"
HEALTHY = {
    MAIN: 0.9,
    "oracle_label": 1.0,
    "shuffled_label": 0.2,
    "always_novice": 0.4,
    "label_blind": 0.5,
    "lstm": 0.6,
}
"""It is worth 0.5 to know the type; the belief is worth 0.4."""
LOST = {MAIN: 0.6, "exact_posterior": 0.55, "oracle_label": 0.4}
"""Against the best response: 0.05 by the predictor, 0.15 by what nobody could know, 0.4 by the policy."""
FALLING, LEVEL = np.array([9.0, 7, 6, 5, 4, 3, 2, 1]), np.array([9.0, 7, 6, 5, 4, 5, 5, 4])
TYPES = ("novice", "intermediate", "skilled")
EITHER = f"{PREDICTOR} or by {UNKNOWABLE}"  # without an oracle


def opinions(accuracy: float, certainty: float = 0.9) -> Notes:
    """Of 1000 episodes of four steps with each of three partners: at first a guess, and then right this often."""
    counted = np.full((3, 8), 1000.0)
    correct = counted * np.array([1 / 3, *[accuracy] * 7])
    by_bin = lambda values: values[..., None] * (np.arange(BINS) == int(certainty * BINS))
    values: list[Any] = [counted, correct, counted, counted, *map(by_bin, (counted, counted * certainty, correct))]
    kept = Opinion(*values)
    there = np.arange(8) < 4
    return Notes(Opinion(*(of * (there if of.ndim == 2 else there[:, None]) for of in kept)), kept)


def made_up(returns=HEALTHY, lost=LOST, accuracy=0.9, policy=-LEVEL, predictor=LEVEL, seeds=SEEDS):
    """Results of a held-out partner of each type; training curves of rewards and losses, all seeds alike."""
    luck = dict(zip(SEEDS, LUCK, strict=True))
    study = replace(SMALL, seeds=seeds)
    sources = {"predictor": accuracy, "posterior": 0.95}
    layouts = lambda of: Regret(2.0, 10.0, np.full(5, of), np.zeros(5))
    curves = {("policy", "reward"): policy, ("predictor", "loss"): predictor}
    return gather(study, {}, SHOWING, mode="argmax")._replace(
        cells={
            (who, seed, "argmax"): [Cell(10.0, of + luck[seed], 0.03, 1.0)] * 3
            for who, of in returns.items()
            for seed in seeds
        },
        regrets={(who, seed, "argmax"): [layouts(of)] * 3 for who, of in lost.items() for seed in seeds},
        opinions={(who, seed, "argmax"): opinions(of) for who, of in sources.items() for seed in seeds},
        curves={(of, seed): {metric: points} for (of, metric), points in curves.items() for seed in seeds},
    )


def found_in(results):
    facts = facts_of(results)
    assert facts is not None
    return {cause.name: cause for cause in causes(facts)}


def wrong_in(results):
    return [name for name, cause in found_in(results).items() if cause.wrong]


def test_nothing_is_wrong_with_a_healthy_study():
    """What is lost most is the policy's 0.4, then what nobody could know, then the predictor's 0.05."""
    healthy = made_up()
    found = found_in(healthy)
    assert [cause.lost.mean for cause in found.values() if cause.lost] == pytest.approx([0.4, 0.15, 0.05])
    assert wrong_in(healthy) == []
    assert why(healthy) == (
        "Nothing is found to be wrong: most is lost by the policy, 0.4000 (0.4000 to 0.4000) of the return"
        " (to earn more: train it with more partners, or make its network larger)."
    )
    assert found[LABELS].evidence == (
        "with the oracle label the policy earns 0.8000 (0.8000 to 0.8000) more than with a shuffled one"
        " and 0.5000 (0.5000 to 0.5000) more than label-blind"
    )
    assert found[PREDICTOR].evidence == (
        "the predictor is right in 76% of steps against 33% by guessing and 80% of the exact posterior;"
        " its calibration error is 0.14; its loss was level"
    )  # (1/3 + 3 x 0.9) / 4 and (1/3 + 3 x 0.95) / 4; certain to 0.9 and right in 0.76


def test_a_predictor_that_has_not_learnt_is_named():
    """On its belief the agent earns no more than label-blind; the policy loses more, but as always."""
    untrained = made_up(HEALTHY | {MAIN: 0.5}, LOST | {MAIN: 0.95}, accuracy=0.34, predictor=FALLING)
    assert wrong_in(untrained) == [PREDICTOR]
    assert why(untrained) == (
        "Something is wrong with the predictor, by which it loses 0.4000 (0.4000 to 0.4000) of the return:"
        " the predictor is right in 34% of steps against 33% by guessing and 80% of the exact posterior;"
        " its calibration error is 0.56; its loss was still falling."
        " Advice: train it for longer (predictor.iterations)."
    )


def test_without_an_oracle_it_is_named_if_nothing_says_that_it_has_learnt():
    """Half of what knowing is worth, 0.5, is lost; a level curve and a good accuracy say: it could not know sooner."""
    slow = HEALTHY | {MAIN: 0.7}
    assert wrong_in(made_up(slow, {})) == []
    assert wrong_in(made_up(slow, {}, accuracy=1 / 3)) == [PREDICTOR]
    assert wrong_in(made_up(slow, {}, predictor=FALLING)) == [PREDICTOR]
    assert wrong_in(made_up(slow, {}, predictor=FALLING[:1])) == [PREDICTOR]
    assert wrong_in(made_up(HEALTHY | {MAIN: 0.8}, {}, accuracy=1 / 3)) == []
    assert why(made_up(slow, {})).startswith(
        "Nothing is found to be wrong: most is lost by the predictor or by what nobody could know so soon, 0.3000"
    )


@pytest.mark.parametrize("lost", [LOST, {}])
def test_a_policy_that_has_not_learnt_is_named(lost):
    """With the oracle label it earns 0.5 less than the LSTM, and as much as with another label."""
    same = dict.fromkeys((MAIN, "oracle_label", "shuffled_label", "always_novice", "label_blind"), 0.1)
    untrained = made_up(HEALTHY | same, lost, policy=-FALLING[:1])
    assert wrong_in(untrained) == [POLICY]
    assert why(untrained).endswith(
        "even with the oracle label it earns 0.5000 (0.5000 to 0.5000) less than LSTM;"
        " it earns no more with the oracle label than with a shuffled one;"
        " its learning curve is too short to tell more. Advice: train it for longer (policy.iterations)."
    )
    alone = made_up(same, lost, policy=-FALLING)
    assert wrong_in(alone) == [POLICY]
    assert "its reward was still rising" in why(alone)


def test_a_policy_that_was_done_with_learning_is_to_learn_otherwise():
    behind = made_up(HEALTHY | {"lstm": 1.2})
    assert found_in(behind)[POLICY].wrong
    assert "look at policy.learning_rate" in why(behind)


def test_what_loses_more_is_named_first():
    """The LSTM is ahead by 0.1; the predictor loses 0.4, and once 0.3 of 0.5 that knowing is worth."""
    ahead = HEALTHY | {"lstm": 1.1}
    assert wrong_in(made_up(ahead | {MAIN: 0.5}, LOST | {MAIN: 0.95})) == [PREDICTOR, POLICY]
    assert wrong_in(made_up(HEALTHY | {"lstm": 1.5, MAIN: 0.7}, LOST | {MAIN: 0.85})) == [POLICY, PREDICTOR]


def test_labels_in_which_nobody_finds_anything_are_named():
    """The label-blind agent earns more than the one that learnt by them, and yet they come first."""
    nothing = dict.fromkeys((MAIN, "oracle_label", "shuffled_label", "always_novice"), 0.5)
    shuffled = made_up(HEALTHY | nothing, accuracy=1 / 3)
    assert wrong_in(shuffled) == [LABELS]
    assert [cause.name for cause in found_in(shuffled).values() if cause.advice] == [LABELS, UNKNOWABLE]
    assert why(shuffled) == (
        "Something is wrong with the labels: with the oracle label the policy earns 0.0000 (0.0000 to 0.0000) more"
        " than with a shuffled one and 0.0000 (0.0000 to 0.0000) more than label-blind;"
        " the predictor is right in 33% of steps against 33% by guessing and 80% of the exact posterior;"
        " its calibration error is 0.57; its loss was level."
        " Advice: check that types behave differently, and that labels are right, in training and held out alike;"
        " if that is so, look at policy.learning_rate and predictor.learning_rate."
    )
    too_soon = made_up(HEALTHY | nothing, accuracy=1 / 3, policy=FALLING[:1], predictor=FALLING[:1])
    assert "Advice: train policy and predictor for longer, and if that changes nothing, check" in why(too_soon)
    still = made_up(HEALTHY | nothing, accuracy=1 / 3, predictor=FALLING)
    assert LABELS not in wrong_in(still)


def test_types_that_nobody_can_tell_apart_are_named():
    nothing = made_up(dict.fromkeys(HEALTHY, 0.5), accuracy=1 / 3)
    blind = {("posterior", seed, "argmax"): opinions(1 / 3) for seed in SEEDS}
    assert "Advice: make types behave differently" in why(nothing._replace(opinions={**nothing.opinions, **blind}))


def test_labels_that_do_harm_are_named():
    """Types were swapped: the truth loses 0.6 against another label, and the sure predictor is never right."""
    swapped = made_up(HEALTHY | {MAIN: 1.0, "oracle_label": 0.1, "shuffled_label": 0.7}, accuracy=0.0)
    assert wrong_in(swapped) == [LABELS]
    assert why(swapped).startswith(
        "Something is wrong with the labels, by which it loses 0.6000 (0.6000 to 0.6000) of the return"
    )


def test_labels_are_right_that_can_be_predicted():
    """A policy that has hardly learnt does with them what it likes, to its harm or not: it is no use to ask it."""
    random = HEALTHY | {MAIN: 0.1, "oracle_label": 0.1, "shuffled_label": 0.7, "label_blind": 0.0, "lstm": 0.0}
    for policy in (LEVEL, -FALLING, FALLING[:1]):
        assert wrong_in(made_up(random, policy=policy)) == [POLICY]
    assert wrong_in(made_up(random, accuracy=0.0, predictor=FALLING)) == [LABELS]


def test_if_the_predictor_was_not_asked_a_policy_that_is_done_tells_of_labels():
    harmed = HEALTHY | {MAIN: 0.1, "oracle_label": 0.1, "shuffled_label": 0.7}
    assert wrong_in(made_up(harmed)._replace(opinions={})) == [LABELS]
    assert wrong_in(made_up(harmed, policy=FALLING[:1])._replace(opinions={})) == [POLICY]
    assert wrong_in(made_up(dict.fromkeys(HEALTHY, 0.5))._replace(opinions={})) == []


def test_where_it_is_not_known_whether_they_had_learnt_that_is_said():
    told = why(made_up(predictor=FALLING[:1], policy=FALLING[:1]))
    assert "; whether policy and predictor had been done with learning is not known (see curve_points)." in told


def test_where_types_do_not_matter_that_is_said():
    """All that learn are done with it, and types are known, but the policy earns the same whatever it is told."""
    told = why(made_up(dict.fromkeys(HEALTHY, 0.5), {}))
    assert told == (
        "Nothing is found to be wrong: what the agent loses is within noise; types do not matter in this game, or the"
        " policy has not learnt to use labels."
    )


def test_sizes_have_intervals():
    """1, 2 and 3: the standard error is 1 / sqrt(3), and Student's t with two degrees of freedom is 4.303.

    Layouts count beside seeds: 0 and 2 on either of two. Of one seed there are layouts alone.
    """
    found = size_of(np.array([1.0, 2.0, 3.0]))
    assert found[:4] == pytest.approx((2, 2 - 2.484, 2 + 2.484, 0.5774), abs=1e-3)
    assert found.seen
    assert not found.certain
    assert size_of(np.array([[0.0, 2.0], [0.0, 2.0]])).error == 1
    assert size_of(np.array([[1.0, 2.0, 3.0]])) == found
    assert -found == (-2, -found.high, -found.low, found.error)


def test_of_one_seed_the_episodes_tell_how_sure_it_is():
    """Each cell is known to 0.03, a mean of three to 0.03 / sqrt(3), a difference of two to sqrt(2) times that.

    Of twice as many partners it is known to half of the square.
    """
    one = made_up(lost={}, seeds=(3,))
    found = found_in(one)[EITHER].lost
    assert found is not None
    assert found.error == pytest.approx(0.03 * (2 / 3) ** 0.5)
    assert found.low == pytest.approx(0.1 - 1.96 * found.error)
    cells, ids = {way: of * 2 for way, of in one.cells.items()}, list(one.held_out_ids) * 2
    twice = found_in(one._replace(cells=cells, held_out_ids=ids, opinions={}))[EITHER].lost
    assert twice is not None
    assert twice.error == pytest.approx(0.03 * (2 / 6) ** 0.5)
    assert "new episodes" in diagnosis_tables(made_up(seeds=(3,)))[0].title


def test_what_is_within_noise_is_no_cause():
    """The predictor's 0.1 are 4 of its standard errors, 0.04 not even two."""
    assert found_in(made_up(lost={}, seeds=(3,)))[EITHER].advice
    little = found_in(made_up(HEALTHY | {MAIN: 0.96}, {}, seeds=(3,)))[EITHER]
    assert little.lost is not None
    assert little.lost.mean == pytest.approx(0.04)
    assert not little.advice


def test_learning_curves_go_on_as_in_their_last_quarter():
    """Of twelve points the last four rise by 2 each: twelve more would bring 24. Steep beginnings do not count."""
    steep = np.array([[-90.0, -50, -40, -30, -20, -10, -5, -4, 2, 4, 6, 8]])
    gain = gain_of(steep)
    assert gain is not None
    assert gain[:3] == pytest.approx((24, 24, 24))
    two = gain_of(np.array([[0.0, 1.0], [0.0, 3.0]]))
    assert two is not None
    assert two.mean == 4  # 2 x (1 + 3) / 2
    assert gain_of(np.array([[0.0, 1.0]])) is None
    assert gain_of(np.array([[0.0], [1.0]])) is None


def test_noise_in_a_curve_is_level():
    """0, 1, 0, 1: a slope of 0.2, with a standard error of 0.28 and a t of two degrees of freedom."""
    gain = gain_of(np.array([[0.0, 1.0, 0.0, 1.0]]))
    assert gain is not None
    assert gain.mean == pytest.approx(4 * 0.2)
    assert gain.error == pytest.approx(4 * 0.2828, abs=1e-3)
    assert Learning("loss", 1.0, gain).is_level
    assert str(Learning("reward", 1.0, gain)) == "its reward was level"


def test_a_loss_gets_better_by_falling():
    learnt = facts_of(made_up(predictor=FALLING, policy=FALLING))
    assert learnt is not None
    assert learnt.training("belief").gain == pytest.approx((8, 8, 8, 0))
    assert not learnt.training("policy").improves  # whose reward falls


def test_beliefs_are_told_by_step():
    """Four steps long, half is two; a guess at first, then right in nine of ten."""
    facts = facts_of(made_up())
    assert facts is not None
    predictor = facts.known["predictor"]
    assert predictor[:6] == pytest.approx((2, 1 / 3, 0.9, 0.9, (1 / 3 + 2.7) / 4, 1 / 3))
    two_types = [PartnerId(100, name, held_out=True) for name in ("novice", "novice", "skilled")]
    facts = facts_of(made_up()._replace(held_out_ids=two_types))
    assert facts is not None
    assert facts.known["predictor"].guess == 1 / 2


def test_returns_stand_side_by_side():
    _, returns, beliefs, trainings = diagnosis_tables(made_up())
    assert list(returns.columns) == ["who", *TYPES, "mean"]
    shown = {row[0]: row[-1] for row in returns.rows}
    assert shown == {"oracle label": "1.0000", "own belief": "0.9000", "label-blind": "0.5000", "LSTM": "0.6000"}
    assert [row[0] for row in beliefs.rows] == ["predictor", "exact posterior"]
    assert [row[:4] for row in trainings.rows] == [
        ["policy", "reward", "-4.0000", "level"],
        ["predictor", "loss", "4.0000", "level"],
    ]


PARTS = ("cells", "regrets", "opinions", "curves")


def without(*parts: str):
    return made_up()._replace(**{part: {} for part in parts})


@pytest.mark.parametrize(
    "results",
    [
        *(without(part) for part in PARTS),
        *(without(*(part for part in PARTS if part != only)) for only in PARTS),
        without(*PARTS),
        made_up()._replace(cells={**made_up().cells, ("lstm_matched", 3, "sample"): [Cell(10.0, 9.0, 0.03, 1.0)] * 3}),
        made_up(seeds=(3,)),
        *(
            made_up({who: of for who, of in HEALTHY.items() if who != missing})
            for missing in HEALTHY
            if missing != MAIN
        ),
        made_up({MAIN: 0.5, "oracle_label": 1.0}, {}),
        made_up()._replace(held_out_ids=[PartnerId(100, "novice", held_out=True)] * 3),
        made_up(predictor=FALLING[:1], policy=FALLING[:1]),
        made_up(seeds=(3,), predictor=FALLING[:2], policy=FALLING[:2]),
    ],
)
def test_what_was_not_measured_is_left_out(results):
    text = "\n".join([why(results), *(table.markdown() for table in diagnosis_tables(results))])
    assert "nan" not in text
    assert "None" not in text
    json_text(plain(diagnosis(results)))


def test_of_one_type_nothing_is_said_of_labels():
    results = made_up()._replace(held_out_ids=[PartnerId(100, "novice", held_out=True)] * 3)
    assert set(found_in(results)) == {POLICY, PREDICTOR, UNKNOWABLE}
    assert [table.title.split()[0] for table in diagnosis_tables(results)] == ["Why", "Return", "What"]


def test_nobody_is_diagnosed_where_no_method_has_a_belief():
    alone = made_up()
    alone = alone._replace(study=replace(alone.study, methods=("label_blind", "lstm")))
    assert diagnosis_tables(alone) == []
    assert (why(alone), diagnosis(alone)) == ("", {})


def test_every_report_has_it():
    """Second among the tables, so that the page shows it at once; in the summary; and at the end of the verdict."""
    results = without("regrets")._replace(switches={})
    shown = [table.title for table in tables(results)]
    assert shown[1] == diagnosis_tables(results)[0].title
    assert len(set(shown)) == len(shown)
    assert verdict(results).endswith(why(results))
    told = json.loads(json_text(plain(summary(results))))["diagnosis"]
    assert told["verdict"] == why(results)
    assert told["causes"][0]["lost"]["mean"] == pytest.approx(0.1)
