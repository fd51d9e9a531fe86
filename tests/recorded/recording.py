"""What the code computes from the files of the package and from fixed seeds, as one flat tree of arrays.

    python -m tests.recorded.recording     writes it down anew

However the code is rearranged, it has to come to the same numbers, so that what is written down is not written again
unless the agents themselves are: `test_recorded.py` holds the code to it.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import safetensors.numpy

import coadapt
from coadapt.experiments.salesman import FAST
from coadapt.experiments.salesman.task import TYPES
from coadapt.games.salesman.rules import SalesmanObservation
from coadapt.pipeline.co_op import predictor
from coadapt.pipeline.self_play import by_length, clones
from coadapt.players import Player, shown_first

FILE = Path(__file__).with_name("recorded.safetensors")
GAME = coadapt.Salesman()
EPISODES, STEPS = 8, 8
"""So many walks at random of so many steps: 64 observations."""
METHODS = ("behaviour-conditioned", "label-blind", "lstm", "lstm-matched")
PLAYED = 200
"""Episodes of each method with each partner."""

Record = dict[str, np.ndarray]


def observations() -> SalesmanObservation:
    """By episode and step: what the main agent sees while both walk at random."""

    def walk(key):
        for_start, for_moves = jax.random.split(key)
        moves = jax.random.randint(for_moves, (STEPS, 2), 0, 4)

        def step(state, move):
            return GAME.step(state, (move[0], move[1]))[0], GAME.observe(state, 0)

        return jax.lax.scan(step, GAME.reset(for_start), moves)[1]

    return jax.vmap(walk)(jax.random.split(jax.random.key(64), EPISODES))


def decisions(players: Player, seen: SalesmanObservation) -> Record:
    """The logits of players of one class, which are stacked, and their beliefs if they have any, along the episodes."""

    def along(player, seen):
        def step(memory, now):
            decision = player.decide(shown_first(now), memory)
            return decision.memory, {"logits": decision.logits} | decision.info

        return jax.lax.scan(step, player.start(jax.random.key(0)), seen)[1]

    in_all = jax.vmap(along, (None, 0))
    return jax.tree.map(np.asarray, jax.jit(jax.vmap(in_all, (0, None)))(players, seen))


def stacked(names: Sequence[str]) -> Player:
    """The players of these names, who differ in their weights alone."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *(coadapt.load(f"salesman/{name}") for name in names))


def of_files(seen: SalesmanObservation) -> Record:
    """What everybody whose networks come with the package decides and believes."""
    families = {method: [f"{method}/{seed}" for seed in range(5)] for method in METHODS}
    families["partners"] = [f"partners/{seed}-{name}" for seed in (100, 101, 102) for name in TYPES]
    return {
        f"{name}/{what}": values[number]
        for names in families.values()
        for what, values in decisions(stacked(names), seen).items()
        for number, name in enumerate(names)
    }


def returns() -> Record:
    """What each method of seed 0 earns with each partner of seed 100, with fixed luck."""
    players = stacked([f"partners/100-{name}" for name in TYPES])
    partners = coadapt.Partners(players, jnp.eye(len(TYPES)), jnp.arange(len(TYPES)))
    found = {}
    for method in METHODS:
        agent = coadapt.load(f"salesman/{method}")
        earned = coadapt.mean_returns(jax.random.key(7), GAME, partners, lambda _, agent=agent: agent, PLAYED, True)
        found[f"{method}/returns"] = np.asarray(earned)
    return found


def training(seen: SalesmanObservation) -> Record:
    """How networks begin, and two iterations of self-play: what a critic values, a predictor believes and PPO tells."""
    assert FAST.clones is not None
    small = replace(FAST.clones, num_envs=8, minibatches=2, epochs=1)
    learner, key = clones(FAST.task, small, by_length(FAST.levels)), jax.random.key(0)
    begun = learner.start(key, ())
    after, info = jax.jit(lambda state: learner.chunk(state, (), 2))(begun)
    alone = replace(FAST.predictor, num_envs=15, minibatches=1)
    believing = predictor(FAST, alone).start(key, None).belief.network
    every = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), seen)
    label = jnp.array([0.0, 1.0, 0.0])  # an intermediate partner
    values = lambda critic: jax.vmap(lambda now: critic.value(shown_first(now), label, ())[0])(every)
    return {
        "training/values": np.asarray(values(begun.learner.critic.network)),
        "training/values_after": np.asarray(values(after.learner.critic.network)),
        "training/beliefs": np.asarray(
            jax.vmap(lambda now: believing.update(shown_first(now), believing.start())[0])(every)
        ),
        "training/reward": np.asarray(info.reward),
        "training/value_loss": np.asarray(info.value_loss),
    }


def computed() -> Record:
    """All of it."""
    seen = observations()
    as_seen = {f"observations/{name}": np.asarray(values) for name, values in seen._asdict().items()}
    return as_seen | of_files(seen) | returns() | training(seen)


if __name__ == "__main__":
    FILE.write_bytes(safetensors.numpy.save({name: np.ascontiguousarray(v) for name, v in computed().items()}))
