"""Laws that theory guarantees, held against the agents and partners that come with the package."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.agents.behaviour_conditioned import BehaviourConditioned
from coadapt.agents.beliefs import ConstantBelief, WithOnlooker
from coadapt.catalogue import find
from coadapt.encounters import rollouts_with_each
from coadapt.evaluation.episodes import first_episode
from coadapt.evaluation.starts import from_starts
from coadapt.experiments.salesman.oracle import SalesmanOracle, from_table
from coadapt.experiments.salesman.task import TYPES
from coadapt.games.game import MAIN
from coadapt.games.salesman.layouts import layout_of
from coadapt.games.salesman.rules import Salesman
from coadapt.oracles.salesman import behaviour_of, best_response, joint_optimum, outlook_of
from coadapt.partners.population import Partners

GAME = Salesman()
ORACLE = SalesmanOracle(GAME)
EPISODES = 200


@pytest.fixture(scope="module")
def partners():
    players = [find(f"salesman/partners/{seed}-{name}").player() for seed in (100, 101, 102) for name in TYPES]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *players)
    return Partners(stacked, jnp.tile(jnp.eye(len(TYPES)), (3, 1)), jnp.arange(len(players)))


def shared_layout(starts):
    """The layout that all these starts are on."""
    return layout_of(jax.tree.map(lambda leaf: leaf[0], starts))


@pytest.mark.slow
def test_no_belief_has_a_smaller_log_loss_than_the_exact_posterior(partners, key):
    """Summed over each episode, on the same episodes, the hypotheses exactly the partners met and as often; z = 4."""
    agent = find("salesman/behaviour-conditioned/0").player()
    assert isinstance(agent, BehaviourConditioned)
    posterior = ORACLE.posterior(partners)

    @jax.jit
    def log_losses(key):
        keys = jax.random.split(key, (len(partners.ids), EPISODES))
        told = jnp.zeros((keys.size, 0))
        watched = WithOnlooker(agent, posterior)
        transitions = rollouts_with_each(keys, GAME, partners.players, lambda _: watched, told, GAME.max_steps)
        truth = jnp.repeat(partners.labels, EPISODES, axis=0)[:, None]
        counted = first_episode(transitions)
        loss = lambda said: -jnp.sum(jnp.log(jnp.sum(said * truth, axis=-1)), axis=1, where=counted)
        return loss(transitions.infos[MAIN]["belief"]), loss(transitions.infos[MAIN]["onlooker"])

    learned, exact = (np.asarray(losses, np.float64) for losses in log_losses(key))
    difference = learned - exact
    assert difference.mean() > -4 * difference.std() / len(difference) ** 0.5


def told(name):
    """The first seed's conditioned policy, told of which type its partner is."""
    agent = find("salesman/behaviour-conditioned/0").player()
    assert isinstance(agent, BehaviourConditioned)
    return agent._replace(belief=ConstantBelief(jnp.eye(len(TYPES))[TYPES.index(name)]))


@pytest.mark.slow
def test_exactly_valued_no_pretrained_agent_beats_the_best_response_and_no_pair_the_joint_optimum(key):
    """From every state of the paper's grid; and what is played from some starts comes to what it should, at z = 4."""

    @jax.jit
    def values(key, agent, partner):
        for_starts, for_play = jax.random.split(key)
        starts = ORACLE.starts(for_starts, 500)
        layout = shared_layout(starts)
        does = behaviour_of(partner, GAME, layout)
        best, fewest = best_response(GAME, layout, does).outlook, joint_optimum(GAME, layout)
        value = outlook_of(GAME, layout, behaviour_of(agent, GAME, layout, MAIN), does)
        most = 5 * GAME.goal_reward + GAME.step_reward * fewest
        slack = [
            jnp.min(best.total - value.total),
            jnp.min((most - best.total)[..., 0]),  # with nothing collected: more would have paid already
            jnp.min(value.length - jnp.minimum(fewest, GAME.max_steps)) / 10,  # steps of the order of ten
        ]
        played = from_starts(for_play, GAME, starts, 500, agent, partner)
        return jnp.stack(slack), played.total - from_table(starts, value.total)

    surprises = []
    for number, name in enumerate(TYPES):
        partner = find(f"salesman/partners/100-{name}").player()
        for agent in (told(name), find("salesman/label-blind/0").player()):
            slack, surprise = values(jax.random.fold_in(key, number), agent, partner)
            assert np.all(np.asarray(slack) >= -1e-5)
            surprises.append(np.asarray(surprise, np.float64))
    pooled = np.concatenate(surprises)
    assert abs(pooled.mean()) < 4 * pooled.std() / len(pooled) ** 0.5


@pytest.mark.slow
def test_no_episode_is_shorter_than_two_at_their_best_would_make_it(key):
    """Whoever plays, with a memory or without: this holds for every single one, and skilled ones come near."""

    @jax.jit
    def spare(key, agent, partner):
        """The steps of some episodes, on a layout of their own, beyond the fewest from their start."""
        for_starts, for_play = jax.random.split(key)
        starts = ORACLE.starts(for_starts, 200)
        fewest = from_table(starts, joint_optimum(GAME, shared_layout(starts)))
        length = from_starts(for_play, GAME, starts, 200, agent, partner, greedy=True).length
        return length - jnp.minimum(fewest, GAME.max_steps)

    for agent in (find(f"salesman/{method}/0").player() for method in ("behaviour-conditioned", "lstm")):
        for number, name in enumerate(TYPES):
            partner = find(f"salesman/partners/100-{name}").player()
            steps = jnp.stack(
                [spare(jax.random.fold_in(key, 10 * number + layout), agent, partner) for layout in range(4)]
            )
            assert steps.min() >= 0
            assert name != "skilled" or steps.min() == 0
