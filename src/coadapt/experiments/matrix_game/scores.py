"""What the matrix game's agents earn, beside what the best and the controls earn on the very same partners."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.agents.bayes import bayes_optimal
from coadapt.agents.behaviour_conditioned import BehaviourConditioned
from coadapt.agents.beliefs import Fixed, LearnedBelief, Recorded
from coadapt.agents.rl2 import RL2
from coadapt.arrays import Key, Scalar
from coadapt.evaluation.episodes import StepScores, play_episodes, step_scores
from coadapt.experiments.matrix_game.config import MatrixGameConfig
from coadapt.experiments.matrix_game.training import TrainedMethods, partners_of
from coadapt.experiments.stages import Runs, keys_for
from coadapt.games.game import MAIN
from coadapt.games.matrix import partner_action
from coadapt.oracles.matrix import Ceilings, ceilings
from coadapt.players import Policy
from coadapt.progress import Progress

TRAINED = ("behaviour_conditioned", "rl2")
METHODS = (*TRAINED, "bayes", "true_distribution", "prior_mean", "shuffled_prediction")
MODES = {"sample": False, "argmax": True}


Score = Callable[..., dict[str, StepScores]]


def ceilings_of(config: MatrixGameConfig) -> list[Ceilings]:
    """What no agent can beat, for each alpha."""
    payoff = np.array(config.payoff)
    return [ceilings(payoff, np.full(len(payoff), alpha), config.max_steps) for alpha in config.alphas]


class Networks(NamedTuple):
    """What plays in one run, or the same with one more axis for all runs."""

    predictor: LearnedBelief
    policy: Policy
    rl2: RL2


def networks_at(trained: TrainedMethods, point: int) -> Networks:
    """The networks at one point of the learning curve: the k-th predictor with the k-th policy."""
    return Networks(*(stage.networks[point] for stage in trained))


def score_trained(
    key: Key, alpha: Scalar, networks: Networks, config: MatrixGameConfig, episodes: int, greedy: bool
) -> dict[str, StepScores]:
    """The two trained agents of one run, each with the same partners."""
    partners, play = _table(key, alpha, config, episodes, greedy)
    moments = {
        "behaviour_conditioned": play(lambda label: BehaviourConditioned(networks.predictor, networks.policy)),
        "rl2": play(lambda label: networks.rl2),
    }
    return {method: step_scores(of_method, partners) for method, of_method in moments.items()}


def score_all(
    key: Key, alpha: Scalar, networks: Networks, config: MatrixGameConfig, episodes: int, greedy: bool
) -> dict[str, StepScores]:
    """The trained agents, the Bayes-optimal player, and the trained policy with other beliefs than its own."""
    partners, play = _table(key, alpha, config, episodes, greedy)
    population = partners_of(config, alpha)
    bayes = bayes_optimal(config.game.payoff, population.concentration, partner_action)
    with_belief = partial(BehaviourConditioned, policy=networks.policy)
    predicted = play(lambda label: with_belief(networks.predictor))
    others_predictions = jnp.roll(predicted.infos[MAIN]["belief"], 1, axis=0)
    moments = {
        "behaviour_conditioned": predicted,
        "rl2": play(lambda label: networks.rl2),
        "bayes": play(lambda label: bayes),
        "true_distribution": play(lambda label: with_belief(Fixed(label))),
        "prior_mean": play(lambda label: with_belief(Fixed(population.mean_label))),
        "shuffled_prediction": play(lambda beliefs: with_belief(Recorded(beliefs)), told=others_predictions),
    }
    return {method: step_scores(of_method, partners) for method, of_method in moments.items()}


def _table(key: Key, alpha: Scalar, config: MatrixGameConfig, episodes: int, greedy: bool):
    """Some partners, and a way to play an episode with each. The same key brings the same partners acting alike."""
    for_partners, for_play = jax.random.split(key)
    partners = partners_of(config, alpha).draw(for_partners, episodes)

    def play(as_player, told=partners.labels):
        return play_episodes(for_play, config.game, partners, as_player, told, greedy)

    return partners, play


def final_scores(
    config: MatrixGameConfig, runs: Runs, networks: Networks, progress: Progress
) -> dict[tuple[str, str], StepScores]:
    """Means over all episodes of the final evaluation, by (method, mode), each by run and step."""
    batches = range(config.episodes // config.batch)
    scores: dict[tuple[str, str], StepScores] = {}
    with progress.stage("evaluating agents and controls", len(batches) * len(MODES)) as advance:
        for mode, greedy in MODES.items():
            score = _for_all_runs(score_all, config, runs, config.batch, greedy)
            measured = []
            for batch in batches:
                measured.append(jax.tree.map(lambda x: np.asarray(x, np.float64), score(networks, batch)))
                advance()
            means = jax.tree.map(lambda *of_batches: np.mean(of_batches, axis=0), *measured)
            scores |= {(method, mode): of_method for method, of_method in means.items()}
    return scores


def curve_scores(
    config: MatrixGameConfig, runs: Runs, trained: TrainedMethods, progress: Progress
) -> dict[str, np.ndarray]:
    """The reward of the last step along training, by method: point of the curve, run."""
    curves = {method: [] for method in TRAINED}
    score = _for_all_runs(score_trained, config, runs, config.curve_episodes, greedy=False)
    with progress.stage("evaluating learning curves", config.curve_points) as advance:
        for point in range(config.curve_points):
            scores = score(networks_at(trained, point), FIRST_OF_CURVE + point)
            for method, curve in curves.items():
                curve.append(np.asarray(scores[method].reward[:, -1], np.float64))
            advance()
    return {method: np.stack(curve) for method, curve in curves.items()}


FIRST_OF_CURVE = 1_000_000
"""The batches of the learning curve are numbered from here, out of the way of the final evaluation's."""


def _for_all_runs(score: Score, config: MatrixGameConfig, runs: Runs, episodes: int, greedy: bool) -> Callable:
    """`score` as a compiled function of all runs' networks and a batch number; each number brings new episodes."""

    @jax.jit
    def scored(keys, alphas, networks, batch):
        def one_run(key, alpha, networks):
            return score(jax.random.fold_in(key, batch), alpha, networks, config, episodes, greedy)

        return jax.vmap(one_run)(keys, alphas, networks)

    return partial(scored, keys_for(runs, "evaluation"), runs.alphas)
