"""Agents that cooperate with partners they have never met.

A small recurrent network watches the partner and infers what kind it is; a memoryless policy acts on that inference.
"""

from coadapt.agents.bayes import BestAction, bayes_optimal
from coadapt.agents.behaviour_conditioned import (
    BehaviourConditioned,
    ConditionedCritic,
    ConditionedPolicy,
    OnTheLikeliest,
)
from coadapt.agents.beliefs import DirichletPosterior, Fixed, LearnedBelief, Recorded
from coadapt.agents.rl2 import RL2, RL2Critic
from coadapt.catalogue import load, published
from coadapt.encounters import Meeting, Moment, meet, play
from coadapt.evaluation.episodes import play_episodes, play_told_episodes, step_scores
from coadapt.evaluation.returns import mean_returns
from coadapt.games.game import MAIN, PARTNER, Game, Outcome
from coadapt.games.matrix import MatrixGame
from coadapt.games.salesman import Salesman
from coadapt.learning import ppo, supervised
from coadapt.learning.ppo import PPOConfig
from coadapt.learning.supervised import SupervisedConfig
from coadapt.partners.dirichlet import DirichletPartners, Stationary
from coadapt.partners.mixed import Cast, OneOf, roster_of
from coadapt.partners.population import Partners, Population, Roster
from coadapt.players import Belief, Critic, Decision, Player, Policy

__version__ = "0.1.0"

__all__ = [
    "MAIN",
    "PARTNER",
    "RL2",
    "BehaviourConditioned",
    "Belief",
    "BestAction",
    "Cast",
    "ConditionedCritic",
    "ConditionedPolicy",
    "Critic",
    "Decision",
    "DirichletPartners",
    "DirichletPosterior",
    "Fixed",
    "Game",
    "LearnedBelief",
    "MatrixGame",
    "Meeting",
    "Moment",
    "OnTheLikeliest",
    "OneOf",
    "Outcome",
    "PPOConfig",
    "Partners",
    "Player",
    "Policy",
    "Population",
    "RL2Critic",
    "Recorded",
    "Roster",
    "Salesman",
    "Stationary",
    "SupervisedConfig",
    "bayes_optimal",
    "load",
    "mean_returns",
    "meet",
    "play",
    "play_episodes",
    "play_told_episodes",
    "ppo",
    "published",
    "roster_of",
    "step_scores",
    "supervised",
]
