"""Floating-point operations of a PPO update, counted by hand.

Only linear layers count: a multiplication and an addition for every weight and example. Activations, biases, sums over
pairs, Adam and the losses are left out, so what is counted is less than what is done.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from coadapt.experiments.salesman.task import SalesmanTask
from coadapt.learning.ppo import PPOConfig


def forward(sizes: Sequence[int]) -> int:
    """One example through linear layers of these sizes, from the inputs to the outputs."""
    return sum(2 * inputs * outputs for inputs, outputs in pairwise(sizes))


def forward_and_back(sizes: Sequence[int], to_inputs: bool) -> int:
    """The same with the gradient: as much again for the weights, and for what each layer was given.

    What the first layer was given needs a gradient only where it comes from other layers.
    """
    unneeded = 0 if to_inputs else 2 * sizes[0] * sizes[1]
    return 3 * forward(sizes) - unneeded


class Flops(NamedTuple):
    """Floating-point operations of all epochs over the experience of one iteration."""

    tabulated: int
    pairwise: int


def ppo_update(task: SalesmanTask, training: PPOConfig) -> Flops:
    """Policy and critic, from both sides of self-play."""
    encoder, after = task.encoder("policy"), task.heads.policy
    view, before = encoder.view, encoder.before
    rows, features = view.table().shape
    samples = training.epochs * 2 * training.steps_per_iteration
    pairs = 2 * (task.game.subgoals + 2)
    updates = training.epochs * training.minibatches
    of_a_pair = forward_and_back((features, *before), to_inputs=False)
    behind_the_sum = sum(
        forward_and_back((before[-1] + view.rest_size + len(task.types), *after, outputs), to_inputs=True)
        for outputs in (task.game.num_actions[0], 1)
    )
    networks = 2
    return Flops(
        tabulated=updates * networks * rows * of_a_pair + samples * behind_the_sum,
        pairwise=samples * (networks * pairs * of_a_pair + behind_the_sum),
    )
