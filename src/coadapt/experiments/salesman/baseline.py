"""The baseline's own clones: an LSTM that has learnt to play with copies of itself, before it meets anybody else."""

from typing import Any

import jax

from coadapt.agents.relational import RelationalCritic, RelationalLSTM, ready
from coadapt.arrays import Key
from coadapt.experiments.salesman.clones import about_training, episode_metrics, stage_name
from coadapt.experiments.salesman.world import KINDS, NO_LABEL, World
from coadapt.learning import ppo, selfplay
from coadapt.learning.ppo import PPOConfig, PPOInfo, PPOState
from coadapt.pipeline.stages import Learner, key_for, training_stage
from coadapt.players import Player
from coadapt.runs.stage import Stage


def finding_out(policy: RelationalLSTM, label: Any = None) -> Player:
    """The baseline, whom no one tells anything."""
    del label
    return ready(policy)


def lstm_clones(world: World, training: PPOConfig) -> Learner:
    """The baseline with copies of itself."""

    def start(key: Key, condition: Any) -> PPOState:
        del condition
        for_policy, for_critic, for_training = jax.random.split(key, 3)
        sizes = world.relation_sizes(training)
        policy = RelationalLSTM(for_policy, sizes, world.sizes.lstm_units, world.game.num_actions[0])
        return ppo.start(for_training, policy, RelationalCritic(for_critic, sizes, len(KINDS)), training)

    def chunk(state: PPOState, condition: Any, iterations: int) -> tuple[PPOState, PPOInfo]:
        del condition
        return selfplay.train_chunk(
            state, world.training_game, finding_out, NO_LABEL, training, iterations, episode_metrics
        )

    both = lambda state: (state.policy.network, state.critic.network)
    return Learner(start, chunk, both, training.iterations, training.steps_per_iteration)


def lstm_cloning_of(seed: int, world: World, training: PPOConfig, points: int) -> Stage:
    """The stage that trains the baseline's clones of one seed."""
    return training_stage(
        stage_name("lstm_clones", seed),
        __name__,
        {"world": world, "seed": seed, "training": training, "points": points},
        lstm_clones(world, training),
        key_for(seed, "lstm_clones")[None],
        lambda inputs: (),
        points,
        keep_all=False,
        **about_training("lstm_clones", seed),
    )
