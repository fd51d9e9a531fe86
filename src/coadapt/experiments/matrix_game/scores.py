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
from coadapt.evaluation.episodes import StepScores, play_episodes, play_told_episodes, step_scores
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
    """The two trained agents of one run and the Bayes-optimal player, each with the same partners."""
    partners, play, _ = _table(key, alpha, config, episodes, greedy)
    agents = {
        "behaviour_conditioned": BehaviourConditioned(networks.predictor, networks.policy),
        "rl2": networks.rl2,
        "bayes": bayes_player(config, alpha),
    }
    return {method: step_scores(play(agent), partners) for method, agent in agents.items()}


def score_all(
    key: Key, alpha: Scalar, networks: Networks, config: MatrixGameConfig, episodes: int, greedy: bool
) -> dict[str, StepScores]:
    """The same, and the trained policy with other beliefs than its own."""
    partners, play, play_told = _table(key, alpha, config, episodes, greedy)
    with_belief = partial(BehaviourConditioned, policy=networks.policy)
    predicted = play(with_belief(networks.predictor))
    others_predictions = jnp.roll(predicted.infos[MAIN]["belief"], 1, axis=0)
    moments = {
        "behaviour_conditioned": predicted,
        "rl2": play(networks.rl2),
        "bayes": play(bayes_player(config, alpha)),
        "true_distribution": play_told(lambda label: with_belief(Fixed(label)), partners.labels),
        "prior_mean": play(with_belief(Fixed(partners_of(config, alpha).mean_label))),
        "shuffled_prediction": play_told(lambda beliefs: with_belief(Recorded(beliefs)), others_predictions),
    }
    return {method: step_scores(of_method, partners) for method, of_method in moments.items()}


def bayes_player(config: MatrixGameConfig, alpha: Scalar) -> BehaviourConditioned:
    """Whom no agent beats that is not told the truth."""
    return bayes_optimal(config.game.payoff, partners_of(config, alpha).concentration, partner_action)


def _table(key: Key, alpha: Scalar, config: MatrixGameConfig, episodes: int, greedy: bool):
    """Some partners, and two ways to play an episode with each: as one is, or told something.

    The same key brings the same partners acting alike, so methods are compared on the same luck.
    """
    for_partners, for_play = jax.random.split(key)
    partners = partners_of(config, alpha).draw(for_partners, episodes)
    play = partial(play_episodes, for_play, config.game, partners, greedy=greedy)
    play_told = partial(play_told_episodes, for_play, config.game, partners, greedy=greedy)
    return partners, play, play_told


def final_scores(
    config: MatrixGameConfig, runs: Runs, networks: Networks, progress: Progress
) -> dict[tuple[str, str], StepScores]:
    """Means over all episodes of the final evaluation, by (method, mode), each by run and step."""
    batches = {mode: range(config.episodes_of(mode) // config.batch) for mode in MODES}
    scores: dict[tuple[str, str], StepScores] = {}
    with progress.stage("evaluating agents and controls", sum(map(len, batches.values()))) as advance:
        for mode, greedy in MODES.items():
            score = _for_all_runs(score_all, config, runs, config.batch, greedy)
            measured = []
            for batch in batches[mode]:
                measured.append(jax.tree.map(lambda x: np.asarray(x, np.float64), score(networks, batch)))
                advance()
            means = jax.tree.map(lambda *of_batches: np.mean(of_batches, axis=0), *measured)
            scores |= {(method, mode): of_method for method, of_method in means.items()}
    return scores


FIRST_OF_CURVE = 1_000_000
"""The batches of the learning curve are numbered from here, out of the way of the final evaluation's."""


def curve_scores(
    config: MatrixGameConfig, runs: Runs, trained: TrainedMethods, progress: Progress
) -> dict[str, np.ndarray]:
    """The reward of the last step along training, by method: point of the curve, run.

    What the Bayes player earned on the same episodes beyond its exact expectation is luck, and taken off.
    """
    curves = {method: [] for method in TRAINED}
    exact = np.repeat([ceiling.bayes_last_step for ceiling in ceilings_of(config)], len(config.seeds))
    score = _for_all_runs(score_trained, config, runs, config.curve_episodes, greedy=False)
    with progress.stage("evaluating learning curves", config.curve_points) as advance:
        for point in range(config.curve_points):
            scores = score(networks_at(trained, point), FIRST_OF_CURVE + point)
            last = {method: np.asarray(of_method.reward[:, -1], np.float64) for method, of_method in scores.items()}
            for method, curve in curves.items():
                curve.append(last[method] - (last["bayes"] - exact))
            advance()
    return {method: np.stack(curve) for method, curve in curves.items()}


def _for_all_runs(score: Score, config: MatrixGameConfig, runs: Runs, episodes: int, greedy: bool) -> Callable:
    """`score` as a compiled function of all runs' networks and a batch number; each number brings new episodes."""

    @jax.jit
    def scored(keys, alphas, networks, batch):
        def one_run(key, alpha, networks):
            return score(jax.random.fold_in(key, batch), alpha, networks, config, episodes, greedy)

        return jax.vmap(one_run)(keys, alphas, networks)

    return partial(scored, keys_for(runs, "evaluation"), runs.alphas)
