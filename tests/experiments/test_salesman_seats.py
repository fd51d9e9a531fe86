"""Who plays with whom, told what: nobody is trained here, and no episode is played."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.encounters import Transition
from coadapt.evaluation.episodes import EpisodeScores
from coadapt.evaluation.returns import Means, Notes
from coadapt.experiments.salesman import EXPERIMENT, adaptation, ceilings, scores, training
from coadapt.experiments.salesman.clones import Clones, partners_from, told_nothing
from coadapt.experiments.salesman.results import best_mode, of_kind, only, partner_ids
from coadapt.experiments.salesman.scores import Cell
from coadapt.experiments.salesman.seats import told_by_sources
from coadapt.experiments.salesman.training import LEARNERS, Beginning, metrics_by_type
from coadapt.experiments.salesman.world import KINDS, NO_LABEL
from coadapt.learning import ppo, supervised
from coadapt.pipeline.stages import Trained
from tests.experiments.small_salesman import SMALL

WORLD = SMALL.world
(SEED,) = SMALL.seeds
KEY = jax.random.key(0)
SHAPES = {
    "policy": jax.eval_shape(WORLD.new_policy, KEY),
    "critic": jax.eval_shape(WORLD.new_critic, KEY),
    "predictor": jax.eval_shape(WORLD.new_predictor, KEY),
    "lstm": jax.eval_shape(WORLD.new_recurrent_policy, KEY),
}


def marked(network, mark):
    """A network all of whose weights are one number, by which it is known again."""
    return jax.tree.map(lambda leaf: jnp.full(leaf.shape, mark, leaf.dtype), SHAPES[network])


def mark_of(policy):
    return policy.head.layers[-1].bias[..., 0]


def clones(seed):
    """What the clones of a seed have left behind: 100.25, 100.5 and 100.75 are those of seed 100, by kind."""
    novice, intermediate, skilled = (marked("policy", seed + quarter / 4) for quarter in (1, 2, 3))
    return Clones(novice, intermediate, skilled, marked("critic", seed), jnp.int32(0))


def marks_of(*seeds):
    return [seed + quarter / 4 for seed in seeds for quarter in (1, 2, 3)]


@pytest.fixture(scope="module")
def inputs():
    """The outcomes of all trainings; the networks of the seed's own agents have negative marks."""
    found = {f"clones_{seed}": clones(seed) for seed in SMALL.all_clones}
    own = {"policy": ("policy", -1), "predictor": ("predictor", -2), "label_blind": ("policy", -3)}
    own |= {"lstm": ("lstm", -4), "lstm_matched": ("lstm", -5)}
    found |= {f"{name}_{SEED}": marked(network, mark) for name, (network, mark) in own.items()}
    one_replicate = lambda networks: jax.tree.map(lambda leaf: leaf[None], networks)
    return {name: Trained(one_replicate(networks), {}) for name, networks in found.items()}


@pytest.fixture
def met(monkeypatch):
    """In place of every episode: by whom it would be played with, and of which kind that one is said to be."""

    def play_with_all(key, game, partners, as_player, told, episodes, greedy=False, note=None):
        players = getattr(partners.players, "second", partners.players)  # of two, who takes over
        kinds = jnp.argmax(partners.labels, axis=1).astype(jnp.float32)
        whom = mark_of(players.policy)
        noted = beliefs_noted(note, partners) if note else None
        return Means(kinds, whom, jnp.float32(greedy) + jnp.zeros_like(kinds), kinds), Notes(noted, noted)

    def from_starts(key, game, starts, player, partner, greedy=False):
        whom = jnp.broadcast_to(mark_of(partner.policy), starts.step.shape)
        return EpisodeScores(whom, whom, whom)

    for module in (scores, adaptation):
        monkeypatch.setattr(module, "play_with_all", play_with_all)
    monkeypatch.setattr(ceilings, "from_starts", from_starts)


def beliefs_noted(note, partners):
    """What is noted of beliefs at each step, of which nothing matters here but its shape."""
    belief = partners.labels[0]
    infos = {"belief": belief, "onlooker": belief}, {}
    flag, number = jnp.bool_(False), jnp.float32(0)
    of_one = note(Transition(((), ()), (belief, belief), infos, (number, number), number, flag, flag, ((), ())), belief)
    by_step = lambda leaf: jnp.zeros((len(partners.ids), WORLD.game.max_steps, *leaf.shape), leaf.dtype)
    return jax.tree.map(by_step, of_one)


def stage(name, config=SMALL):
    (found,) = [each for each in EXPERIMENT.stages(config) if each.name == f"{name}_{SEED}"]
    return found


def measured(name, inputs):
    """The first part of what a stage measures, given more than it needs: it has to find what it should."""
    of = stage(name)
    state, _ = jax.jit(lambda inputs: of.go_on(of.begin(inputs), inputs))(inputs)
    return jax.tree.map(lambda leaf: leaf[0], of.outcome(state))


HELD_OUT, TRAINED_WITH = marks_of(100), marks_of(3, 0)


@pytest.mark.parametrize("name", ["evaluation", "exchange", "regret"])
def test_agents_are_measured_with_partners_that_nobody_trained_with(name, inputs, met):
    for method, by_mode in measured(name, inputs).items():
        for found in by_mode.values():
            whom = np.ravel(getattr(found, "episodes", found).total)
            assert set(whom.tolist()) == set(HELD_OUT), method


def test_what_is_chosen_is_chosen_with_training_partners_alone(inputs, met):
    rehearsed = measured("rehearsal", inputs)
    assert set(rehearsed) == {"probabilities", "map", "sampled"}
    for by_mode in rehearsed.values():
        for found in by_mode.values():
            assert found.episodes.total.tolist() == TRAINED_WITH


def test_in_cross_play_everybody_is_met(inputs, met):
    for by_mode in measured("crossplay", inputs).values():
        assert all(found.total.tolist() == HELD_OUT + TRAINED_WITH for found in by_mode.values())


def test_every_partner_has_the_label_of_its_kind(inputs, met):
    evaluated = measured("evaluation", inputs)["lstm"]["sample"]
    assert evaluated.length.tolist() == [0, 1, 2]


def test_only_one_mode_is_greedy(inputs, met):
    by_mode = measured("evaluation", inputs)["behaviour_conditioned"]
    assert {mode: set(found.total_error.tolist()) for mode, found in by_mode.items()} == {"sample": {0}, "argmax": {1}}


def test_what_a_stage_may_look_at():
    """The partners it is about, and the agents of its seed."""
    needs = lambda name: {need for need in stage(name).needs if need.startswith("clones")}
    training_partners, held_out = {"clones_3", "clones_0"}, {"clones_100"}
    assert needs("rehearsal") == training_partners
    for name in SMALL.trainings:
        assert needs(name) == (training_partners if name != "lstm_clones" else set())
    for name in ("evaluation", "regret", "adaptation", "exchange"):
        assert needs(name) == held_out
    assert needs("crossplay") == training_partners | held_out
    assert set(stage("rehearsal").needs) == training_partners | {"policy_3", "predictor_3"}


def test_kinds_come_in_their_order():
    """Everything that is stored or published is in this order: nobody may change it."""
    assert KINDS == ("novice", "intermediate", "skilled")
    partners = partners_from([clones(7), clones(8)])
    assert mark_of(partners.players.policy).tolist() == marks_of(7, 8)
    assert partners.labels.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]] * 2
    assert partners.ids.tolist() == list(range(6))
    assert partner_ids((7, 8))[1:4] == ["7-intermediate", "7-skilled", "8-novice"]
    assert only("skilled", marks_of(7, 8)) == [7.75, 8.75]
    assert of_kind("novice") == slice(0, None, 3)


def test_partners_are_told_nothing():
    partner = told_nothing(marked("policy", 1.0), jnp.ones(3))
    said, _ = partner.belief.update(None, partner.belief.start())
    assert said.tolist() == NO_LABEL.tolist() == [0, 0, 0]


def test_what_else_a_policy_is_told():
    labels = jnp.eye(3)[jnp.array([0, 1, 2, 2, 2, 1, 0, 0])]
    told = told_by_sources(jax.random.key(1), labels)
    assert told["true_label"].tolist() == labels.tolist()
    assert told["always_skilled"].tolist() == [[0, 0, 1]] * 8
    assert told["always_novice"].tolist() == [[1, 0, 0]] * 8
    assert told["shuffled_label"].sum(axis=0).tolist() == [3, 2, 3]
    assert told["shuffled_label"].tolist() != labels.tolist()


def test_lengths_are_those_with_partners_of_each_kind():
    """Two games with the first kind, of 1 and 3 steps; one with the second, of 2; one with the third, of 3."""
    ends = jnp.array([[1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 1]], bool)
    transitions = Transition((), (), ({}, {}), (), jnp.zeros(ends.shape), ends, jnp.zeros_like(ends), ())  # pyright: ignore[reportArgumentType]
    seen = metrics_by_type(transitions, jnp.eye(3)[jnp.array([0, 0, 1, 2])])
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
        with pytest.raises(AboutToTrain) as caught:
            LEARNERS[name](SMALL).chunk(state, Beginning(networks, partners_from([clones(7)])), 1)
        _, game, population, as_player, *_ = caught.value.args
        assert game == WORLD.training_game
        assert mark_of(population.partners.players.policy).tolist() == marks_of(7)
        return as_player, caught.value.args

    return ask


OBSERVATION = WORLD.game.observe(WORLD.game.reset(jax.random.key(6)), 0)


def opinionated(network):
    """A network to which it makes a difference what it is told and what it sees."""
    draw = np.random.default_rng(0).normal
    return jax.tree.map(lambda leaf: jnp.asarray(draw(size=leaf.shape), leaf.dtype), SHAPES[network])


POLICY, BELIEF = opinionated("policy"), opinionated("predictor")
ACTS_ON = jax.jit(lambda told: POLICY(OBSERVATION, told))


def acts(player):
    return jax.jit(lambda: player.decide(OBSERVATION, player.start(KEY)).logits)()


def test_the_predictor_learns_from_an_agent_that_acts_on_its_prediction(about_to_train):
    as_player, arguments = about_to_train("predictor", POLICY)
    said = jax.jit(lambda: BELIEF.update(OBSERVATION, BELIEF.start())[0])()
    done = acts(as_player(BELIEF))
    np.testing.assert_allclose(done, ACTS_ON(said), rtol=1e-4)
    assert not np.allclose(done, ACTS_ON(NO_LABEL), rtol=1e-2)
    assert supervised.negative_log_likelihood in arguments


@pytest.mark.parametrize(("name", "is_told"), [("policy", True), ("label_blind", False)])
def test_the_policy_is_told_the_kind_and_the_control_is_not(name, is_told, about_to_train):
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


@pytest.mark.parametrize("name", ["policy", "label_blind"])
def test_a_policy_goes_on_from_the_skilled_clone_of_its_own_seed(name, inputs):
    (networks, critic), partners = training._beginning(name, SMALL, SEED, inputs)
    assert mark_of(networks) == SEED + 3 / 4
    assert mark_of(critic) == SEED
    assert mark_of(partners.players.policy).tolist() == TRAINED_WITH


def test_the_predictor_watches_the_finished_policy(inputs):
    networks, _ = training._beginning("predictor", SMALL, SEED, inputs)
    assert mark_of(networks) == -1


def cell(total):
    return Cell(length=1.0, total=total, total_error=0.0, finished=1.0)


@pytest.mark.parametrize(("sampled", "greedy", "better"), [(1.0, 2.0, "argmax"), (2.0, 1.0, "sample")])
def test_the_mode_that_earns_more_is_chosen(sampled, greedy, better):
    """With the feed that is used: another one, with which it is the other way round, decides nothing."""
    rehearsal = {("probabilities", "sample", 0): [cell(sampled)], ("probabilities", "argmax", 0): [cell(greedy)]}
    rehearsal |= {("sampled", "sample", 0): [cell(9 * greedy)], ("sampled", "argmax", 0): [cell(9 * sampled)]}
    assert best_mode(rehearsal, "probabilities") == better


def test_the_mode_is_chosen_by_the_mean_over_seeds_and_partners():
    """Greedy is better with most of them, by 1; sampling with one, by 5."""
    greedy = {("probabilities", "argmax", seed): [cell(1.0), cell(1.0)] for seed in (0, 1)}
    sampled = {("probabilities", "sample", seed): [cell(0.0), cell(6.0 * seed)] for seed in (0, 1)}
    assert best_mode(greedy | sampled, "probabilities") == "sample"
