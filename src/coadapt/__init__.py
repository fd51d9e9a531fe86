"""Agents that cooperate with partners they have never met.

A small recurrent network watches the partner and infers what type it is; a memoryless policy acts on that inference.
"""

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coadapt.compiler import avoid_faults, keep_false_alarms_quiet

avoid_faults()  # before JAX starts
keep_false_alarms_quiet()

if TYPE_CHECKING:  # the only list of what the package offers; at run time a name is loaded when it is first used
    from coadapt.agents.bayes import BestAction as BestAction
    from coadapt.agents.bayes import bayes_optimal as bayes_optimal
    from coadapt.agents.behaviour_conditioned import BehaviourConditioned as BehaviourConditioned
    from coadapt.agents.behaviour_conditioned import ConditionedCritic as ConditionedCritic
    from coadapt.agents.behaviour_conditioned import ConditionedOnMAP as ConditionedOnMAP
    from coadapt.agents.behaviour_conditioned import ConditionedPolicy as ConditionedPolicy
    from coadapt.agents.beliefs import ConstantBelief as ConstantBelief
    from coadapt.agents.beliefs import DirichletPosterior as DirichletPosterior
    from coadapt.agents.beliefs import LearnedBelief as LearnedBelief
    from coadapt.agents.beliefs import ReplayedBelief as ReplayedBelief
    from coadapt.agents.encoders import EncoderSpec as EncoderSpec
    from coadapt.agents.encoders import FeedbackSpec as FeedbackSpec
    from coadapt.agents.encoders import GridSpec as GridSpec
    from coadapt.agents.encoders import RelationSpec as RelationSpec
    from coadapt.agents.encoders import VectorSpec as VectorSpec
    from coadapt.agents.recurrent import RecurrentCritic as RecurrentCritic
    from coadapt.agents.recurrent import RecurrentPolicy as RecurrentPolicy
    from coadapt.catalogue import load as load
    from coadapt.catalogue import pretrained as pretrained
    from coadapt.encounters import EpisodeState as EpisodeState
    from coadapt.encounters import Transition as Transition
    from coadapt.encounters import rollout as rollout
    from coadapt.encounters import start_episode as start_episode
    from coadapt.evaluation.episodes import play_episodes as play_episodes
    from coadapt.evaluation.episodes import play_told_episodes as play_told_episodes
    from coadapt.evaluation.episodes import step_scores as step_scores
    from coadapt.evaluation.returns import mean_returns as mean_returns
    from coadapt.games.game import MAIN as MAIN
    from coadapt.games.game import PARTNER as PARTNER
    from coadapt.games.game import Game as Game
    from coadapt.games.game import Outcome as Outcome
    from coadapt.games.matrix import MatrixGame as MatrixGame
    from coadapt.games.salesman.rules import Salesman as Salesman
    from coadapt.games.seats import EitherSeat as EitherSeat
    from coadapt.games.seats import OtherSeat as OtherSeat
    from coadapt.learning import ppo as ppo
    from coadapt.learning import supervised as supervised
    from coadapt.learning.ppo import PPOConfig as PPOConfig
    from coadapt.learning.supervised import SupervisedConfig as SupervisedConfig
    from coadapt.oracles.enumeration import EnumerableGame as EnumerableGame
    from coadapt.oracles.enumeration import for_certain as for_certain
    from coadapt.partners.dirichlet import DirichletPartners as DirichletPartners
    from coadapt.partners.dirichlet import Stationary as Stationary
    from coadapt.partners.mixed import Cast as Cast
    from coadapt.partners.mixed import OneOf as OneOf
    from coadapt.partners.mixed import fixed_population_of as fixed_population_of
    from coadapt.partners.population import FixedPopulation as FixedPopulation
    from coadapt.partners.population import Partners as Partners
    from coadapt.partners.population import Population as Population
    from coadapt.pipeline.check import check as check
    from coadapt.pipeline.partners import PartnerSource as PartnerSource
    from coadapt.pipeline.running import run as run
    from coadapt.pipeline.running import smoke as smoke
    from coadapt.pipeline.sources.mixture import Mixture as Mixture
    from coadapt.pipeline.sources.pretrained import Pretrained as Pretrained
    from coadapt.pipeline.sources.scripted import Scripted as Scripted
    from coadapt.pipeline.sources.self_play import SelfPlay as SelfPlay
    from coadapt.pipeline.study import Measures as Measures
    from coadapt.pipeline.study import Study as Study
    from coadapt.pipeline.task import AnyTask as AnyTask
    from coadapt.pipeline.task import Heads as Heads
    from coadapt.pipeline.task import Task as Task
    from coadapt.pipeline.trained import TrainedAgent as TrainedAgent
    from coadapt.pipeline.trained import save as save
    from coadapt.players import Belief as Belief
    from coadapt.players import Critic as Critic
    from coadapt.players import Decision as Decision
    from coadapt.players import Encoder as Encoder
    from coadapt.players import Player as Player
    from coadapt.players import Policy as Policy
    from coadapt.players import Seen as Seen

__version__ = "0.1.0"


def _homes() -> dict[str, str]:
    listed = next(node for node in ast.parse(Path(__file__).read_bytes()).body if isinstance(node, ast.If))
    imports = (node for node in listed.body if isinstance(node, ast.ImportFrom))
    return {alias.name: str(node.module) for node in imports for alias in node.names}


HOMES: dict[str, str] = _homes()
"""Which module each of the names above comes from."""

if not TYPE_CHECKING:  # type checkers take `import name as name` for it
    __all__ = list(HOMES)


def __getattr__(name: str) -> Any:
    """A name when it is first used, so that nobody waits for JAX who does not need it."""
    from coadapt.storage.compiled import remember_compiled_programs

    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(__import__(HOMES[name], fromlist=[name]), name)  # as `from home import name`, submodules included
    remember_compiled_programs()
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(HOMES))
