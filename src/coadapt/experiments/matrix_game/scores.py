"""What the matrix game's agents earn, beside what the best and the controls earn on the very same partners."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.agents.bayes import bayes_optimal
from coadapt.agents.behaviour_conditioned import BehaviourConditioned
from coadapt.agents.beliefs import ConstantBelief, LearnedBelief, ReplayedBelief
from coadapt.agents.recurrent import RecurrentPolicy
from coadapt.arrays import Count, Key, Scalar
from coadapt.encounters import Transition
from coadapt.evaluation.episodes import StepScores, play_episodes, play_told_episodes, step_scores
from coadapt.experiments.matrix_game.config import MatrixGameConfig
from coadapt.experiments.matrix_game.replicates import Replicates, keys_for
from coadapt.experiments.matrix_game.training import partners_of
from coadapt.games.game import MAIN
from coadapt.games.matrix import partner_action
from coadapt.oracles.matrix import Optima, optima
from coadapt.partners.population import Partners
from coadapt.pipeline.stages import measuring_stage
from coadapt.players import Player, Policy
from coadapt.runs.stage import Info, Inputs, Stage

TRAINED = ("behaviour_conditioned", "rl2")
EVALUATIONS = {"sample": "evaluation", "argmax": "greedy_evaluation"}
"""The stages of the final evaluation, by mode."""

FIRST_OF_CURVE = 1_000_000
"""The batches of the learning curve are numbered from here, out of the way of the final evaluation's."""


@cache
def optima_of(config: MatrixGameConfig) -> list[Optima]:
    """What no agent can beat, for each alpha."""
    payoff = np.array(config.payoff)
    return [optima(payoff, np.full(len(payoff), alpha), config.max_steps) for alpha in config.alphas]


class Networks(NamedTuple):
    """What plays in one replicate, or the same with one more axis for all of them."""

    predictor: LearnedBelief
    policy: Policy
    rl2: RecurrentPolicy


def score_all(
    key: Key,
    alpha: Scalar,
    networks: Networks,
    config: MatrixGameConfig,
    episodes: int,
    greedy: bool = False,
    controls: bool = True,
) -> dict[str, StepScores]:
    """The two trained agents of one replicate and the Bayes-optimal player, each with the same partners.

    The controls, if they are asked for, are the trained policy with other beliefs than its own.
    """
    partners, play, play_told = table_for(key, alpha, config, episodes, greedy)
    with_belief = partial(BehaviourConditioned, policy=networks.policy)
    predicted = play(with_belief(networks.predictor))
    transitions = {
        "behaviour_conditioned": predicted,
        "rl2": play(networks.rl2),
        "bayes": play(bayes_player(config, alpha)),
    }
    if controls:
        others_predictions = jnp.roll(predicted.infos[MAIN]["belief"], 1, axis=0)
        transitions |= {
            "oracle_label": play_told(lambda label: with_belief(ConstantBelief(label)), partners.labels),
            "prior_mean_label": play(with_belief(ConstantBelief(partners_of(config, alpha).mean_label))),
            "shuffled_label": play_told(lambda beliefs: with_belief(ReplayedBelief(beliefs)), others_predictions),
        }
    return {method: step_scores(of_method, partners) for method, of_method in transitions.items()}


def bayes_player(config: MatrixGameConfig, alpha: Scalar) -> BehaviourConditioned:
    """Whom no agent beats that is not told the truth."""
    return bayes_optimal(config.game.payoff, partners_of(config, alpha).concentration, partner_action)


def table_for(
    key: Key, alpha: Scalar, config: MatrixGameConfig, episodes: int, greedy: bool
) -> tuple[Partners, Callable[[Player], Transition], Callable[..., Transition]]:
    """Some partners, and two ways to play an episode with each: as one is, or told something.

    The same key brings the same partners acting alike, so methods are compared on the same luck.
    """
    for_partners, for_play = jax.random.split(key)
    partners = partners_of(config, alpha).draw(for_partners, episodes)
    play = partial(play_episodes, for_play, config.game, partners, greedy=greedy)
    play_told = partial(play_told_episodes, for_play, config.game, partners, greedy=greedy)
    return partners, play, play_told


def evaluation_of(mode: str, config: MatrixGameConfig, replicates: Replicates) -> Stage:
    """The stage that lets the finished agents and the controls play, a batch of new episodes at a time."""
    score = partial(score_all, config=config, episodes=config.batch, greedy=mode == "argmax")
    own = {"mode": mode, "episodes": config.episodes_of(mode), "batch": config.batch}
    parts, finished = config.episodes_of(mode) // config.batch, lambda batch: (-1, batch)
    return _scoring(EVALUATIONS[mode], config, replicates, own, score, parts, finished, ("episodes", "batch"))


def curves_of(config: MatrixGameConfig, replicates: Replicates) -> Stage:
    """The stage that lets the agents of every point of the learning curve play."""
    score = partial(score_all, config=config, episodes=config.curve_episodes, controls=False)
    own, larger_by = (
        {"points": config.curve_points, "episodes": config.curve_episodes},
        ("curve_points", "curve_episodes"),
    )
    at_point = lambda point: (point, FIRST_OF_CURVE + point)
    return _scoring("curves", config, replicates, own, score, config.curve_points, at_point, larger_by)


def _scoring(
    name: str,
    config: MatrixGameConfig,
    replicates: Replicates,
    own_settings: dict[str, Any],
    score: Callable[..., dict[str, StepScores]],
    parts: int,
    point_and_batch: Callable[[Count], tuple[Count | int, Count]],
    larger_by: tuple[str, str],
) -> Stage:
    """The stage of the scores of all replicates, at points of the learning curve, each batch with new episodes."""

    def measure(trained: Inputs, keys: Key, part: Count) -> tuple[dict[str, StepScores], Info]:
        point, batch = point_and_batch(part)
        at_point = lambda name: jax.tree.map(lambda leaf: leaf[point], trained[name].networks)
        one = lambda key, alpha, networks: score(jax.random.fold_in(key, batch), alpha, networks)
        scores = jax.vmap(one)(keys, replicates.alphas, Networks(*map(at_point, Networks._fields)))
        return scores, {method: of_method.reward[:, -1] for method, of_method in scores.items()}

    remedy = "look at the networks it was given: their training must have gone wrong"
    display = {"replicates": replicates.names, "shown": TRAINED, "remedy": remedy, "larger_by": larger_by}
    settings, keys = config.shared_settings | own_settings, keys_for(replicates, "evaluation")
    return measuring_stage(name, (__name__,), settings, measure, keys, parts, Networks._fields, **display)


def final_scores(outcomes: Inputs) -> dict[tuple[str, str], StepScores]:
    """Means over all episodes of the final evaluation, by (method, mode), each by replicate and step."""
    mean = lambda batches: np.mean(np.asarray(batches, np.float64), axis=0)
    return {
        (method, mode): jax.tree.map(mean, of_method)
        for mode, stage in EVALUATIONS.items()
        for method, of_method in outcomes[stage].items()
    }


def curve_scores(outcomes: Inputs, exact: np.ndarray) -> dict[str, np.ndarray]:
    """The reward of the last step along training, by method: point of the curve, replicate.

    What the Bayes player earned on the same episodes beyond its exact expectation is luck, and taken off.
    """
    last = {method: np.asarray(of.reward[..., -1], np.float64) for method, of in outcomes["curves"].items()}
    return {method: last[method] - (last["bayes"] - exact) for method in TRAINED}
