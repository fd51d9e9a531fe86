"""Operations and parameters, counted by hand."""

from dataclasses import replace

from benchmarks.flops import forward, forward_and_back, ppo_update
from benchmarks.ours import Training, arranged, training_request
from benchmarks.sizes import FULL
from coadapt.experiments.salesman.task import SalesmanTask, Sizes
from coadapt.games.salesman.rules import Salesman


def test_an_example_goes_forward():
    # A multiplication and an addition for each of 3 x 5 and 5 x 2 weights.
    assert forward((3, 5, 2)) == 2 * (15 + 10)


def test_and_back():
    # As much again for the weights, and for what the second layer was given; what the first was given is data.
    assert forward_and_back((3, 5, 2), to_inputs=False) == 50 + 50 + 20
    assert forward_and_back((3, 5, 2), to_inputs=True) == 50 + 50 + 50


def test_an_update():
    # Three cells a side: a step is one of 5 x 5, and an agent in 2 roles may be paired with 3 kinds of objects that are
    # somewhere and a kind that is nowhere: a pair is one of 152, of 8 features each.
    # One subgoal: each of 2 agents with a subgoal, the goal and the other agent, 6 pairs.
    task = SalesmanTask(Salesman(size=3, subgoals=1, max_steps=4), Sizes((5,), (7,), ()))
    training = replace(FULL.self_play, num_envs=2, num_steps=4, epochs=3, minibatches=2)
    rows, pairs, samples, updates = 2 * (3 * 5 * 5 + 1), 6, 3 * 2 * 2 * 4, 3 * 2
    a_pair = 2 * 8 * 5 + 2 * 8 * 5  # forward, and back to the weights
    # Behind the sum of 5: 6 numbers of the rest and 3 of the label; 4 actions or 1 value.
    behind = 3 * 2 * (14 * 7 + 7 * 4) + 3 * 2 * (14 * 7 + 7 * 1)
    flops = ppo_update(task, training)
    assert flops.pairwise == samples * (2 * pairs * a_pair + behind)
    assert flops.tabulated == updates * 2 * rows * a_pair + samples * behind


def test_the_papers_network():
    # 8 x 128 and six times 128 x 128 weights a pair, twelve pairs a state, policy and critic, three epochs of 64,000.
    a_pair = 3 * 2 * (8 * 128 + 6 * 128**2) - 2 * 8 * 128
    hidden = 137 * 64 + 64 * 64 + 64 * 128 + 128 * 128
    behind = 3 * 2 * (hidden + 128 * 4) + 3 * 2 * (hidden + 128 * 1)
    flops = ppo_update(SalesmanTask(), FULL.self_play)
    assert flops.pairwise == 192_000 * (2 * 12 * a_pair + behind)
    assert flops.tabulated == 12 * 2 * 2_648 * a_pair + 192_000 * behind


def test_the_parameters_that_learn():
    # Weights and biases: 8 features to 5 before the sum, then as above; a clone's older versions learn nothing.
    task = SalesmanTask(Salesman(size=3, subgoals=1, max_steps=4), Sizes((5,), (7,), ()))
    training = replace(FULL.self_play, num_envs=2, num_steps=4, epochs=1, minibatches=1)
    before, behind = 8 * 5 + 5, 14 * 7 + 7
    policy, critic = before + behind + 7 * 4 + 4, before + behind + 7 * 1 + 1
    for seeds in (1, 2):
        request = training_request("self-play", arranged(task, True), training, 1, seeds)
        assert Training(request).about == {"parameters": policy + critic}
