"""Agents that cooperate with partners they have never met.

A small recurrent network watches the partner and infers what type it is; a memoryless policy acts on that inference.
"""

from typing import TYPE_CHECKING, Any

from coadapt.compiler import avoid_faults, keep_false_alarms_quiet

avoid_faults()  # before JAX starts
keep_false_alarms_quiet()

if TYPE_CHECKING:  # for editors and type checkers; at run time a name is loaded when it is first used, see below
    from coadapt.agents.bayes import BestAction, bayes_optimal
    from coadapt.agents.behaviour_conditioned import (
        BehaviourConditioned,
        ConditionedCritic,
        ConditionedOnMAP,
        ConditionedPolicy,
    )
    from coadapt.agents.beliefs import ConstantBelief, DirichletPosterior, LearnedBelief, ReplayedBelief
    from coadapt.agents.encoders import EncoderSpec, GridSpec, RelationSpec, VectorSpec
    from coadapt.agents.recurrent import RecurrentCritic, RecurrentPolicy
    from coadapt.catalogue import load, pretrained
    from coadapt.encounters import EpisodeState, Transition, rollout, start_episode
    from coadapt.evaluation.episodes import play_episodes, play_told_episodes, step_scores
    from coadapt.evaluation.returns import mean_returns
    from coadapt.games.game import MAIN, PARTNER, Game, Outcome
    from coadapt.games.matrix import MatrixGame
    from coadapt.games.salesman.rules import Salesman
    from coadapt.learning import ppo, supervised
    from coadapt.learning.ppo import PPOConfig
    from coadapt.learning.supervised import SupervisedConfig
    from coadapt.partners.dirichlet import DirichletPartners, Stationary
    from coadapt.partners.mixed import Cast, OneOf, fixed_population_of
    from coadapt.partners.population import FixedPopulation, Partners, Population
    from coadapt.pipeline.sources.mixture import Mixture
    from coadapt.pipeline.sources.pretrained import Pretrained
    from coadapt.pipeline.sources.scripted import Scripted
    from coadapt.pipeline.sources.self_play import SelfPlay
    from coadapt.pipeline.study import Measures, PartnerSource, Study
    from coadapt.pipeline.task import Heads, Task
    from coadapt.players import Belief, Critic, Decision, Encoder, Player, Policy

__version__ = "0.1.0"

__all__ = [
    "MAIN",
    "PARTNER",
    "BehaviourConditioned",
    "Belief",
    "BestAction",
    "Cast",
    "ConditionedCritic",
    "ConditionedOnMAP",
    "ConditionedPolicy",
    "ConstantBelief",
    "Critic",
    "Decision",
    "DirichletPartners",
    "DirichletPosterior",
    "Encoder",
    "EncoderSpec",
    "EpisodeState",
    "FixedPopulation",
    "Game",
    "GridSpec",
    "Heads",
    "LearnedBelief",
    "MatrixGame",
    "Measures",
    "Mixture",
    "OneOf",
    "Outcome",
    "PPOConfig",
    "PartnerSource",
    "Partners",
    "Player",
    "Policy",
    "Population",
    "Pretrained",
    "RecurrentCritic",
    "RecurrentPolicy",
    "RelationSpec",
    "ReplayedBelief",
    "Salesman",
    "Scripted",
    "SelfPlay",
    "Stationary",
    "Study",
    "SupervisedConfig",
    "Task",
    "Transition",
    "VectorSpec",
    "bayes_optimal",
    "fixed_population_of",
    "load",
    "mean_returns",
    "play_episodes",
    "play_told_episodes",
    "ppo",
    "pretrained",
    "rollout",
    "start_episode",
    "step_scores",
    "supervised",
]

HOMES: dict[str, tuple[str, ...]] = {
    "coadapt.agents.bayes": ("BestAction", "bayes_optimal"),
    "coadapt.agents.behaviour_conditioned": (
        "BehaviourConditioned",
        "ConditionedCritic",
        "ConditionedOnMAP",
        "ConditionedPolicy",
    ),
    "coadapt.agents.beliefs": ("ConstantBelief", "DirichletPosterior", "LearnedBelief", "ReplayedBelief"),
    "coadapt.agents.encoders": ("EncoderSpec", "GridSpec", "RelationSpec", "VectorSpec"),
    "coadapt.agents.recurrent": ("RecurrentCritic", "RecurrentPolicy"),
    "coadapt.catalogue": ("load", "pretrained"),
    "coadapt.encounters": ("EpisodeState", "Transition", "rollout", "start_episode"),
    "coadapt.evaluation.episodes": ("play_episodes", "play_told_episodes", "step_scores"),
    "coadapt.evaluation.returns": ("mean_returns",),
    "coadapt.games.game": ("MAIN", "PARTNER", "Game", "Outcome"),
    "coadapt.games.matrix": ("MatrixGame",),
    "coadapt.games.salesman.rules": ("Salesman",),
    "coadapt.learning": ("ppo", "supervised"),
    "coadapt.learning.ppo": ("PPOConfig",),
    "coadapt.learning.supervised": ("SupervisedConfig",),
    "coadapt.partners.dirichlet": ("DirichletPartners", "Stationary"),
    "coadapt.partners.mixed": ("Cast", "OneOf", "fixed_population_of"),
    "coadapt.partners.population": ("FixedPopulation", "Partners", "Population"),
    "coadapt.pipeline.sources.mixture": ("Mixture",),
    "coadapt.pipeline.sources.pretrained": ("Pretrained",),
    "coadapt.pipeline.sources.scripted": ("Scripted",),
    "coadapt.pipeline.sources.self_play": ("SelfPlay",),
    "coadapt.pipeline.study": ("Measures", "PartnerSource", "Study"),
    "coadapt.pipeline.task": ("Heads", "Task"),
    "coadapt.players": ("Belief", "Critic", "Decision", "Encoder", "Player", "Policy"),
}
"""Which module each of these names comes from."""


def __getattr__(name: str) -> Any:
    """A name when it is first used, so that nobody waits for JAX who does not need it."""
    from coadapt.storage.compiled import remember_compiled_programs

    home = next((module for module, names in HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(__import__(home, fromlist=[name]), name)  # as `from home import name` does, submodules included
    remember_compiled_programs()
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
