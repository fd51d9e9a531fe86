"""Laws that theory guarantees, held against the agents and partners that come with the package."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.agents.behaviour_conditioned import BehaviourConditioned
from coadapt.agents.onlooker import WithOnlooker
from coadapt.agents.posterior import PartnerPosterior
from coadapt.catalogue import find
from coadapt.encounters import play_with_each
from coadapt.evaluation.episodes import first_episode
from coadapt.experiments.salesman.world import KINDS
from coadapt.games.game import MAIN
from coadapt.games.salesman import Salesman
from coadapt.partners.population import Partners

GAME = Salesman()
EPISODES = 200


@pytest.fixture(scope="module")
def partners():
    players = [find(f"salesman/partners/{seed}-{kind}").player() for seed in (100, 101, 102) for kind in KINDS]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *players)
    return Partners(stacked, jnp.tile(jnp.eye(len(KINDS)), (3, 1)), jnp.arange(len(players)))


@pytest.mark.slow
def test_no_belief_has_a_smaller_log_loss_than_the_exact_posterior(partners, key):
    """Summed over each episode, on the same episodes, the hypotheses exactly the partners met and as often; z = 4."""
    agent = find("salesman/behaviour-conditioned/0").player()
    assert isinstance(agent, BehaviourConditioned)
    posterior = PartnerPosterior(GAME, partners.players, partners.labels, jnp.full(len(partners.ids), 1 / 9))

    @jax.jit
    def log_losses(key):
        keys = jax.random.split(key, (len(partners.ids), EPISODES))
        told = jnp.zeros((keys.size, 0))
        watched = WithOnlooker(agent, posterior)
        moments = play_with_each(keys, GAME, partners.players, lambda _: watched, told, GAME.max_steps)
        truth = jnp.repeat(partners.labels, EPISODES, axis=0)[:, None]
        counted = first_episode(moments)
        loss = lambda said: -jnp.sum(jnp.log(jnp.sum(said * truth, axis=-1)), axis=1, where=counted)
        return loss(moments.infos[MAIN]["belief"]), loss(moments.infos[MAIN]["onlooker"])

    learned, exact = (np.asarray(losses, np.float64) for losses in log_losses(key))
    difference = learned - exact
    assert difference.mean() > -4 * difference.std() / len(difference) ** 0.5
