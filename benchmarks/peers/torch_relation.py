# pyright: reportMissingImports=false
"""The relation network in PyTorch, with the features of `coadapt.games.salesman.pairs.RelativePairs`.

All pairs of all observations of a batch are made at once and go through the perceptron as one matrix.
"""

from itertools import pairwise

import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

KINDS = 4  # open subgoal, goal, agent, collected subgoal


class RelationFeatures(BaseFeaturesExtractor):
    """Every pair through `before`, summed, with the agents' places beside it; then, if there are any, layers `after`.

    Observations are rows of `NumpySalesman.observe`.
    """

    def __init__(self, observation_space, size: int, subgoals: int, before: list[int], after: list[int]):
        summed = before[-1] + 6
        super().__init__(observation_space, features_dim=after[-1] if after else summed)
        self.size, self.subgoals = size, subgoals
        self.before = perceptron([2 + KINDS + 2, *before])
        self.after = perceptron([summed, *after])
        one_hot = torch.eye(KINDS)
        # Of each pair the agent's role, then the object's kind; which subgoals are collected is added to every batch.
        self.register_buffer("roles", torch.eye(2).repeat_interleave(subgoals + 2, dim=0))
        self.register_buffer("goal_and_agent", one_hot[1:3])
        self.register_buffer("open_and_collected", one_hot[[0, 3]])

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        pairs, rest = self.pairs(observations)
        embedded = self.before(pairs.flatten(0, 1)).view(*pairs.shape[:2], -1)
        return self.after(torch.cat([embedded.sum(dim=1), rest], dim=1))

    def pairs(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """By observation and pair, the features of `RelativePairs`; and what comes after the sum."""
        batch, far = len(observations), self.size - 1
        own, other, targets, collected = observations.split([2, 2, 2 * (self.subgoals + 1), self.subgoals], dim=1)
        targets = targets.view(batch, self.subgoals + 1, 2)
        of_own = torch.cat([targets, other[:, None]], dim=1) - own[:, None]
        of_other = torch.cat([targets, own[:, None]], dim=1) - other[:, None]
        of_own[:, : self.subgoals] *= 1 - collected[:, :, None]  # where a collected one lies is of no use to anybody
        of_other[:, : self.subgoals] *= 1 - collected[:, :, None]
        steps = torch.cat([of_own, of_other], dim=1) / far
        kinds = torch.cat(
            [self.open_and_collected[collected.long()], self.goal_and_agent.expand(batch, -1, -1)], dim=1
        ).repeat(1, 2, 1)
        features = torch.cat([self.roles.expand(batch, -1, -1), kinds, steps], dim=2)
        rest = torch.cat([2 * own / far - 1, 2 * other / far - 1, (other - own) / far], dim=1)
        return features, rest


def perceptron(sizes: list[int]) -> nn.Sequential:
    """Linear layers, a rectifier after each."""
    return nn.Sequential(
        *(part for inputs, outputs in pairwise(sizes) for part in (nn.Linear(inputs, outputs), nn.ReLU()))
    )
