"""Who plays with whom, told what: nobody is trained here, and no episode is played."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.encounters import Transition
from coadapt.evaluation import starts
from coadapt.evaluation.episodes import EpisodeScores
from coadapt.evaluation.returns import Cell, Episodes, Means, Notes
from coadapt.experiments.salesman import EXPERIMENT
from coadapt.experiments.salesman.showing import SHOWING
from coadapt.experiments.salesman.task import TYPES
from coadapt.learning import ppo, supervised
from coadapt.pipeline import adaptation, evaluation
from coadapt.pipeline.co_op import Beginning, beginning, metrics_by_type
from coadapt.pipeline.methods import methods_of
from coadapt.pipeline.partners import partners_of, populations
from coadapt.pipeline.results import best_mode, gather
from coadapt.pipeline.seats import other_labels, taken_by, told_labels
from coadapt.pipeline.self_play import Clones, as_partner, untold
from coadapt.pipeline.sources.self_play import SelfPlay
from coadapt.pipeline.stages import Trained, stage_name
from coadapt.pipeline.task import new_critic, new_policy, new_predictor, new_recurrent_policy, no_label
from coadapt.players import seen_first, shown_first
from tests.experiments.small_salesman import SMALL

TASK = SMALL.task
NO_LABEL = no_label(TASK)
(SEED,) = SMALL.seeds
OURS = "behaviour_conditioned"
KEY = jax.random.key(0)
METHODS = methods_of(SMALL)
MAKERS = {"policy": new_policy, "critic": new_critic, "predictor": new_predictor, "lstm": new_recurrent_policy}
SHAPES = {name: jax.eval_shape(lambda new=new: new(KEY, TASK)) for name, new in MAKERS.items()}
TRAININGS = {each.purpose: each for method in METHODS.values() for each in method.trainings(SMALL)}


def marked(network, mark):
    """A network all of whose weights are one number, by which it is known again."""
    return jax.tree.map(lambda leaf: jnp.full(leaf.shape, mark, leaf.dtype), SHAPES[network])


def mark_of(policy):
    return policy.head.layers[-1].bias[..., 0]


def clones(seed):
    """What the clones of a seed have left behind: 100.25, 100.5 and 100.75 are those of seed 100, by type."""
    snapshots = [marked("policy", mark) for mark in marks_of(seed)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *snapshots)
    return Clones(stacked, marked("critic", seed), jnp.arange(3))


def marks_of(*seeds):
    return [seed + quarter / 4 for seed in seeds for quarter in (1, 2, 3)]


def trained(networks):
    """Networks as the stage that trains one replicate of them hands them on."""
    return Trained(jax.tree.map(lambda leaf: leaf[None], networks), {})


def partners_from(*seeds):
    """The partners that the clones of these seeds have left behind."""
    inputs = {f"clones_{seed}": trained(clones(seed)) for seed in seeds}
    return partners_of(SMALL, SelfPlay(seeds), inputs)


@pytest.fixture(scope="module")
def inputs():
    """The outcomes of all trainings; the networks of the seed's own agents have negative marks."""
    found = {f"clones_{seed}": clones(seed) for seed in populations(SMALL.all_ids)}
    own = {"policy": ("policy", -1), "predictor": ("predictor", -2), "label_blind": ("policy", -3)}
    own |= {"lstm": ("lstm", -4), "lstm_matched": ("lstm", -5)}
    found |= {f"{name}_{SEED}": marked(network, mark) for name, (network, mark) in own.items()}
    found |= {f"lstm_clones_{SEED}": (marked("lstm", -6), marked("critic", -7))}
    return {name: trained(networks) for name, networks in found.items()}


@pytest.fixture
def met(monkeypatch):
    """In place of every episode: by whom it would be played with, and of which type that one is said to be."""

    def play_with_all(key, game, partners, as_player, told, episodes, greedy=False, note=None):
        players = getattr(partners.players, "second", partners.players)  # of two, who takes over
        types = jnp.argmax(partners.labels, axis=1).astype(jnp.float32)
        whom = mark_of(players.policy)
        noted = beliefs_noted(note, partners) if note else None
        means = Means(types, whom, jnp.float32(greedy) + jnp.zeros_like(types), types)
        return Episodes(means, Notes(noted, noted))

    def from_starts(key, game, starts, number, player, partner, greedy=False):
        whom = jnp.broadcast_to(mark_of(partner.policy), (number,))
        return EpisodeScores(whom, whom, whom)

    for module in (evaluation, adaptation):
        monkeypatch.setattr(module, "play_with_all", play_with_all)
    monkeypatch.setattr(starts, "from_starts", from_starts)


def beliefs_noted(note, partners):
    """What is noted of beliefs at each step, of which nothing matters here but its shape."""
    belief = partners.labels[0]
    infos = {"belief": belief, "onlooker": belief}, {}
    flag, number, seen = jnp.bool_(False), jnp.float32(0), shown_first(())
    of_one = note(
        Transition((seen, seen), (belief, belief), infos, (number,) * 2, number, number, flag, flag, (seen, seen)),
        belief,
    )
    by_step = lambda leaf: jnp.zeros((len(partners.ids), TASK.game.max_steps, *leaf.shape), leaf.dtype)
    return jax.tree.map(by_step, of_one)


def stage(name, method=None):
    (found,) = [each for each in EXPERIMENT.stages(SMALL) if each.name == stage_name(name, SEED, method)]
    return found


def measured(name, method, inputs):
    """The first part of what a stage measures, given more than it needs: it has to find what it should."""
    of = stage(name, method)
    state, _ = jax.jit(lambda inputs: of.go_on(of.begin(inputs), inputs))(inputs)
    return jax.tree.map(lambda leaf: leaf[0], of.outcome(state))


HELD_OUT, TRAINED_WITH = marks_of(100), marks_of(3, 0)
OTHER_LABELS = ("oracle_label", "shuffled_label", "always_novice", "always_intermediate", "always_skilled")
WHO_PLAYS = {  # by measurement: beside each method, who else plays where it has a belief
    "evaluation": (),
    "controls": OTHER_LABELS,
    "partner_switch": ("announced", "oracle_label"),
    "regret": ("oracle_label", "exact_posterior"),
}


@pytest.mark.parametrize(
    ("name", "method"),
    [(name, method) for name in WHO_PLAYS for method in METHODS if name != "controls" or method == OURS],
)
def test_agents_are_measured_with_partners_that_nobody_trained_with(name, method, inputs, met):
    found = measured(name, method, inputs)
    by_player = {method: found} if name == "evaluation" else found
    itself = () if name == "controls" else (method,)
    assert set(by_player) == {*itself, *(WHO_PLAYS[name] if method == OURS else ())}
    for player, by_mode in by_player.items():
        assert set(by_mode) == {"sample", "argmax"}
        for of in by_mode.values():
            whom = np.ravel(getattr(of, "means", of).total)
            assert set(whom.tolist()) == set(HELD_OUT), player


def test_what_is_chosen_is_chosen_with_training_partners_alone(inputs, met):
    validated = measured("validation", OURS, inputs)
    assert set(validated) == {"probabilities", "map", "sampled"}
    for by_mode in validated.values():
        for found in by_mode.values():
            assert found.means.total.tolist() == TRAINED_WITH


@pytest.mark.parametrize("method", METHODS)
def test_in_the_evaluation_matrix_everybody_is_met(method, inputs, met):
    by_mode = measured("evaluation_matrix", method, inputs)
    assert set(by_mode) == {"sample", "argmax"}
    assert all(found.total.tolist() == HELD_OUT + TRAINED_WITH for found in by_mode.values())


def test_every_partner_has_the_label_of_its_type(inputs, met):
    evaluated = measured("evaluation", "lstm", inputs)["sample"]
    assert evaluated.length.tolist() == [0, 1, 2]


def test_only_one_mode_is_greedy(inputs, met):
    by_mode = measured("evaluation", OURS, inputs)
    assert {mode: set(found.total_error.tolist()) for mode, found in by_mode.items()} == {"sample": {0}, "argmax": {1}}


NETWORKS = {
    OURS: {"policy_3", "predictor_3"},
    "label_blind": {"label_blind_3"},
    "lstm": {"lstm_3"},
    "lstm_matched": {"lstm_matched_3"},
}


def test_what_a_stage_may_look_at():
    """The partners it is about, and the networks of the one method of its seed that it is about."""
    needs = lambda name, method=None: set(stage(name, method).needs)
    training_partners, held_out = {"clones_3", "clones_0"}, {"clones_100"}
    assert {name: needs(name) for name in TRAININGS} == {
        "policy": training_partners,  # its own clones among them, which it goes on from
        "predictor": training_partners | {"policy_3"},
        "label_blind": training_partners,
        "lstm_clones": set(),
        "lstm": training_partners | {"lstm_clones_3"},
        "lstm_matched": training_partners | {"lstm_clones_3"},
    }
    assert needs("validation", OURS) == training_partners | NETWORKS[OURS]
    for name in ("controls", "adaptation"):
        assert needs(name, OURS) == held_out | NETWORKS[OURS]
    for method, networks in NETWORKS.items():
        for name in ("evaluation", "regret", "partner_switch"):
            assert needs(name, method) == held_out | networks
        assert needs("evaluation_matrix", method) == training_partners | held_out | networks


def test_types_come_in_their_order():
    """Everything that is stored or pretrained is in this order: nobody may change it."""
    assert TYPES == TASK.types == ("novice", "intermediate", "skilled")
    partners = partners_from(7, 8)
    assert mark_of(partners.players.policy).tolist() == marks_of(7, 8)
    assert partners.labels.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]] * 2
    assert partners.ids.tolist() == list(range(6))
    study = replace(SMALL, held_out=SelfPlay((7, 8)))
    assert list(map(str, study.held_out_ids))[1:4] == ["7-intermediate", "7-skilled", "8-novice"]
    results = gather(study, {}, SHOWING)
    assert results.only("skilled", marks_of(7, 8)) == [7.75, 8.75]
    assert results.of_type("novice") == [0, 3]


def test_partners_are_told_nothing():
    for partner in (as_partner(marked("policy", 1.0), TASK), untold(marked("policy", 1.0), jnp.ones(3))):
        said, _ = partner.belief.update(SEEN, partner.belief.start())
        assert said.tolist() == NO_LABEL.tolist() == [0, 0, 0]


def test_what_else_a_policy_is_told():
    labels = jnp.eye(3)[jnp.array([0, 1, 2, 2, 2, 1, 0, 0])]
    told = other_labels(jax.random.key(1), TASK, labels)
    assert tuple(told) == OTHER_LABELS
    assert told["oracle_label"].tolist() == labels.tolist()
    assert told["always_skilled"].tolist() == [[0, 0, 1]] * 8
    assert told["always_intermediate"].tolist() == [[0, 1, 0]] * 8
    assert told["always_novice"].tolist() == [[1, 0, 0]] * 8
    assert told["shuffled_label"].sum(axis=0).tolist() == [3, 2, 3]
    assert told["shuffled_label"].tolist() != labels.tolist()


def test_in_execution_nobody_but_the_controls_is_told_anything():
    """Whatever the label of an episode is, the same player sits down to it."""
    labels = jnp.eye(3)
    player = lambda method: method.player(method.new(TASK), TASK, SMALL.conditioning)
    seats = {name: taken_by(player(method), labels) for name, method in METHODS.items()}
    told = other_labels(jax.random.key(5), TASK, labels)
    seats |= {name: told_labels(new_policy(KEY, TASK), rows) for name, rows in told.items()}
    assert len(seats) == 4 + 5
    for method, seat in seats.items():
        players = [seat.as_player(row) for row in seat.told]
        logits = [player.decide(SEEN, player.start(jax.random.key(0))).logits for player in players]
        same = all(np.array_equal(logits[0], other) for other in logits[1:])
        assert same == (method not in ("oracle_label", "shuffled_label")), method


def test_lengths_are_those_with_partners_of_each_type():
    """Two games with the first type, of 1 and 3 steps; one with the second, of 2; one with the third, of 3."""
    ends = jnp.array([[1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 1]], bool)
    nothing = jnp.zeros(ends.shape)
    transitions = Transition((), (), ({}, {}), (), nothing, nothing, ends, jnp.zeros_like(ends), ())  # pyright: ignore[reportArgumentType]
    seen = metrics_by_type(TASK)(transitions, jnp.eye(3)[jnp.array([0, 0, 1, 2])])
    assert {name: float(length) for name, length in seen.items()} == {
        "length_novice": 2,
        "length_intermediate": 2,
        "length_skilled": 3,
    }


class AboutToTrain(Exception):
    """What a learner was about to do."""


@pytest.fixture
def about_to_train(monkeypatch):
    """With whom, in which game and how a learner would train."""

    def refuse(*arguments):
        raise AboutToTrain(*arguments)

    monkeypatch.setattr(ppo, "train_chunk", refuse)
    monkeypatch.setattr(supervised, "train_chunk", refuse)

    def ask(name, networks, state=None):
        learner = TRAININGS[name].learner(SMALL, TRAININGS[name].settings)
        with pytest.raises(AboutToTrain) as caught:
            learner.chunk(state, Beginning(networks, partners_from(7)), 1)
        _, game, population, as_player, *_ = caught.value.args
        assert game == TASK.learning_game
        assert mark_of(population.partners.players.policy).tolist() == marks_of(7)
        return as_player, caught.value.args

    return ask


SEEN = seen_first(TASK.game, TASK.game.reset(jax.random.key(6)), 0)


def opinionated(network):
    """A network to which it makes a difference what it is told and what it sees."""
    draw = np.random.default_rng(0).normal
    return jax.tree.map(lambda leaf: jnp.asarray(draw(size=leaf.shape), leaf.dtype), SHAPES[network])


POLICY, BELIEF = opinionated("policy"), opinionated("predictor")
ACTS_ON = jax.jit(lambda told: POLICY(SEEN, told))


def acts(player):
    return jax.jit(lambda: player.decide(SEEN, player.start(KEY)).logits)()


def test_the_predictor_learns_from_an_agent_that_acts_on_its_prediction(about_to_train):
    as_player, arguments = about_to_train("predictor", POLICY)
    said = jax.jit(lambda: BELIEF.update(SEEN, BELIEF.start())[0])()
    done = acts(as_player(BELIEF))
    np.testing.assert_allclose(done, ACTS_ON(said), rtol=1e-4)
    assert not np.allclose(done, ACTS_ON(NO_LABEL), rtol=1e-2)
    assert supervised.negative_log_likelihood in arguments


@pytest.mark.parametrize(("name", "is_told"), [("policy", True), ("label_blind", False)])
def test_the_policy_is_told_the_type_and_the_control_is_not(name, is_told, about_to_train):
    as_player, _ = about_to_train(name, (POLICY, marked("critic", 0)))
    label = jnp.array([0.0, 0.0, 1.0])
    assert not np.allclose(ACTS_ON(label), ACTS_ON(NO_LABEL), rtol=1e-2)
    np.testing.assert_allclose(acts(as_player(POLICY, label)), ACTS_ON(label if is_told else NO_LABEL), rtol=1e-4)


@pytest.mark.parametrize("name", ["lstm", "lstm_matched"])
def test_the_baseline_is_told_nothing(name, about_to_train):
    lstm = marked("lstm", 0.1)
    as_player, _ = about_to_train(name, (lstm, marked("critic", 0)))
    one, other = (as_player(lstm, label) for label in jnp.eye(3)[:2])
    assert jax.tree.all(jax.tree.map(np.array_equal, one, other))


def going_on(name, inputs):
    found = beginning(SMALL, TRAININGS[name], SEED, inputs)
    assert isinstance(found, Beginning)
    return found


@pytest.mark.parametrize("name", ["policy", "label_blind"])
def test_a_policy_goes_on_from_the_skilled_clone_of_its_own_seed(name, inputs):
    (networks, critic), partners = going_on(name, inputs)
    assert mark_of(networks) == SEED + 3 / 4
    assert mark_of(critic) == SEED
    assert mark_of(partners.players.policy).tolist() == TRAINED_WITH


@pytest.mark.parametrize("name", ["lstm", "lstm_matched"])
def test_the_baseline_goes_on_from_its_own_self_play(name, inputs):
    (networks, critic), partners = going_on(name, inputs)
    assert {float(np.ravel(leaf)[0]) for leaf in jax.tree.leaves(networks)} == {-6}
    assert mark_of(critic) == -7
    assert mark_of(partners.players.policy).tolist() == TRAINED_WITH


def test_who_trains_with_copies_of_itself_meets_nobody(inputs):
    assert beginning(SMALL, TRAININGS["lstm_clones"], SEED, inputs) == ()


def test_the_predictor_watches_the_finished_policy(inputs):
    networks, _ = going_on("predictor", inputs)
    assert mark_of(networks) == -1


def cell(total):
    return Cell(length=1.0, total=total, total_error=0.0, finished=1.0)


@pytest.mark.parametrize(("sampled", "greedy", "better"), [(1.0, 2.0, "argmax"), (2.0, 1.0, "sample")])
def test_the_mode_that_earns_more_is_chosen(sampled, greedy, better):
    """With the conditioning that is used: another one, with which it is the other way round, decides nothing."""
    validation = {("probabilities", "sample", 0): [cell(sampled)], ("probabilities", "argmax", 0): [cell(greedy)]}
    validation |= {("sampled", "sample", 0): [cell(9 * greedy)], ("sampled", "argmax", 0): [cell(9 * sampled)]}
    assert best_mode(validation, "probabilities") == better


def test_the_mode_is_chosen_by_the_mean_over_seeds_and_partners():
    """Greedy is better with most of them, by 1; sampling with one, by 5."""
    greedy = {("probabilities", "argmax", seed): [cell(1.0), cell(1.0)] for seed in (0, 1)}
    sampled = {("probabilities", "sample", seed): [cell(0.0), cell(6.0 * seed)] for seed in (0, 1)}
    assert best_mode(greedy | sampled, "probabilities") == "sample"
