"""Does the compiler compute what we wrote? Our own functions, jitted, beside NumPy in double precision or unjitted.

Faults of a compiler hide in the last rows of arrays whose size is just off a power of two. So each probe takes a number
of rows and compares row by row, and where rows are added up the last of them are a hundred times louder than the rest:
a wrong one cannot drown.

    python -m tests.compiler.probe             every function at every size: a table
"""

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from coadapt.agents.behaviour_conditioned import BehaviourConditioned, ConditionedCritic, ConditionedPolicy
from coadapt.agents.beliefs import ConstantBelief
from coadapt.agents.encoders import VectorSpec
from coadapt.evaluation.returns import Sums, _means
from coadapt.games.salesman.layouts import Layout
from coadapt.games.salesman.rules import Salesman
from coadapt.learning import ppo
from coadapt.learning.ppo import Experience
from coadapt.learning.replay import replay
from coadapt.networks.mlp import MLP
from coadapt.networks.recurrent import RecurrentNetwork
from coadapt.networks.relation import PairSum
from coadapt.oracles.salesman import at_random, best_response, outlook_of
from coadapt.players import shown_first

SIZES = tuple(2**power + off for power in range(10, 20) for off in (-1, 0, 1))
LOUD_ROWS = 64
LOUDNESS = 100.0
KEY = jax.random.key(0)


class Compared(NamedTuple):
    """What the compiled program gave, and what it should have given: trees of the same shape."""

    compiled: Any
    expected: Any

    @property
    def error(self) -> float:
        """The largest difference, as a share of the largest number of its array."""
        pairs = zip(*map(jax.tree.leaves, self), strict=True)
        return max(_relative(np.asarray(one, np.float64), np.asarray(other, np.float64)) for one, other in pairs)


def _relative(found: np.ndarray, expected: np.ndarray) -> float:
    assert found.shape == expected.shape
    worst = float(np.max(np.abs(found - expected)) / max(float(np.max(np.abs(expected))), 1e-12))
    return worst if np.isfinite(worst) else np.inf


def rows_of(rows: int, columns: int) -> np.ndarray:
    """Numbers between -1 and 1, another row for every row there is."""
    return np.random.default_rng(rows).uniform(-1, 1, (rows, columns)).astype(np.float32)


def loud_tail(rows: int) -> np.ndarray:
    """How much each row counts where rows are added up."""
    return np.where(np.arange(rows) < rows - LOUD_ROWS, 1.0, LOUDNESS).astype(np.float32)


def reported_fault(rows: int) -> Compared:
    """The case that was reported to the makers of the compiler: the last row is read from another place."""
    x = np.zeros((rows, 3), np.float32)
    x[:, 0] = np.arange(rows)
    squares = jax.vmap(lambda row: jnp.sum((jnp.eye(3) @ row) ** 2))
    return Compared(jax.jit(squares)(x), x[:, 0].astype(np.float64) ** 2)


def relation_table(rows: int) -> Compared:
    """The table of a relation network: one row for every pair there can be."""
    pairs, table = PairSum(KEY, 12, (24, 16)), rows_of(rows, 12)
    compiled = jax.jit(lambda pairs, table: pairs.tabulated(table).embedded)(pairs, table)
    return Compared(compiled, np.maximum(_perceptron(pairs, table, _relu), 0))


def relation_states(rows: int) -> Compared:
    """States that gather and sum the rows of their pairs, and what the network makes of them."""
    pairs, after = PairSum(KEY, 12, (24, 16)), MLP(KEY, 18, (8,), 4, activation=jax.nn.relu)
    table, rest = rows_of(300, 12), rows_of(rows, 2)
    indices = np.random.default_rng(rows).integers(0, 300, (rows, 10))

    def look(pairs, after, indices, rest):
        tabulated = pairs.tabulated(jnp.asarray(table))
        return jax.vmap(lambda rows, rest: after(jnp.concatenate([tabulated(rows), rest])))(indices, rest)

    embedded = np.maximum(_perceptron(pairs, table, _relu), 0)
    summed = np.concatenate([embedded[indices].sum(axis=1), rest], axis=1)
    return Compared(jax.jit(look)(pairs, after, indices, rest), _perceptron(after, summed, _relu))


def recurrent_replay(rows: int) -> Compared:
    """An LSTM along many trajectories side by side, one of them loud, with episodes that end in the middle."""
    network, steps = RecurrentNetwork(KEY, 5, 8, (6,), 3), 4
    observations = rows_of(rows * steps, 5).reshape(rows, steps, 5) * loud_tail(rows)[:, None, None] / LOUDNESS
    ended = np.zeros((rows, steps), bool)
    ended[::3, 1] = True
    along = jax.vmap(lambda seen, over: replay(network, seen, network.start(), over)[0])
    return Compared(jax.jit(along)(observations, ended), _replayed(network, observations.astype(np.float64), ended))


def ppo_gradients(rows: int) -> Compared:
    """PPO's loss and its gradients in both networks, over games of one step each."""
    see, seen = VectorSpec(lambda observation: observation), shown_first(jnp.zeros(4))
    for_policy, for_critic = jax.random.split(KEY)
    policy = ConditionedPolicy(for_policy, see, seen, 2, (6, 5), 3)
    networks = policy, ConditionedCritic(for_critic, see, seen, 2, (6, 5))
    loud, drawn = loud_tail(rows)[:, None], np.random.default_rng(rows)
    experience = Experience(
        seen=jax.vmap(jax.vmap(shown_first))(jnp.asarray(rows_of(rows, 4)[:, None])),
        ended=jnp.ones((rows, 1), bool),
        actions=jnp.asarray(drawn.integers(0, 3, (rows, 1)), jnp.int32),
        log_probabilities=jnp.log(jnp.asarray(drawn.uniform(0.25, 0.45, (rows, 1)), jnp.float32)),
        advantages=jnp.asarray(drawn.normal(size=(rows, 1)) * loud, jnp.float32),
        targets=jnp.asarray(drawn.normal(size=(rows, 1)) * loud, jnp.float32),
        label=jnp.asarray(rows_of(rows, 2)),
    )
    told = lambda policy, label: BehaviourConditioned(ConstantBelief(label), policy)
    gradients = lambda networks, batch: jax.grad(lambda n: ppo.loss(n, batch, told, 0.2, 0.01)[0])(networks)
    with jax.disable_jit():
        expected = gradients(networks, experience)
    return Compared(jax.jit(gradients)(networks, experience), expected)


def evaluation_sums(rows: int) -> Compared:
    """Means, errors and shares over many games, from their sums."""
    loud, drawn = loud_tail(rows), np.random.default_rng(rows)
    quotas = drawn.integers(1, 4, rows)
    sums = Sums(*(jnp.asarray(drawn.uniform(0, 1, rows) * loud, jnp.float32) for _ in Sums._fields))
    steps, rewards, finished = (np.asarray(values, np.float64) for values in sums)
    episodes = quotas.sum()
    spread = ((rewards - quotas * rewards.sum() / episodes) ** 2).sum()
    error = np.sqrt(rows * spread / (rows - 1)) / episodes
    expected = (steps.sum() / episodes, rewards.sum() / episodes, error, finished.sum() / episodes)
    return Compared(tuple(jax.jit(_means)(sums, quotas)), expected)


def oracle_tables(rows: int) -> Compared:
    """The exact tables of a gridworld with at least so many places, by dynamic programming."""
    size = next(size for size in range(3, 100) if 4 * size**4 >= min(rows, 4 * 13**4))
    game = Salesman(size=size, subgoals=2, max_steps=4)
    layout = Layout(jnp.array([[0, 0], [size - 1, 1]]), jnp.array([1, size - 1]))
    shares = jax.nn.softmax(jax.random.normal(KEY, at_random(game).shape), axis=0)
    tables = lambda partner: (
        best_response(game, layout, partner).outlook,
        outlook_of(game, layout, at_random(game), partner),
    )
    with jax.disable_jit():
        expected = tables(shares)
    return Compared(jax.jit(tables)(shares), expected)


def _relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0)


def _perceptron(network: MLP, x: np.ndarray, activation: Callable = np.tanh) -> np.ndarray:
    """A multi-layer perceptron in double precision."""
    x = x.astype(np.float64)
    for number, layer in enumerate(network.layers):
        x = x @ np.asarray(layer.weight, np.float64).T + np.asarray(layer.bias, np.float64)
        x = activation(x) if number < len(network.layers) - 1 else x
    return x


def _replayed(network: RecurrentNetwork, observations: np.ndarray, ended: np.ndarray) -> np.ndarray:
    """The same as `replay` in double precision, by the equations of an LSTM cell."""
    cell = network.cell
    inward, again, bias = (np.asarray(w, np.float64) for w in (cell.weight_ih, cell.weight_hh, cell.bias))
    sigmoid = lambda x: 1 / (1 + np.exp(-x))
    hidden = kept = np.zeros((len(observations), cell.hidden_size))
    outputs = []
    for step in range(observations.shape[1]):
        write, keep, new, show = np.split(observations[:, step] @ inward.T + hidden @ again.T + bias, 4, axis=1)
        kept = sigmoid(keep) * kept + sigmoid(write) * np.tanh(new)
        hidden = sigmoid(show) * np.tanh(kept)
        outputs.append(_perceptron(network.head, hidden))
        over = ended[:, step, None]
        hidden, kept = np.where(over, 0, hidden), np.where(over, 0, kept)
    return np.stack(outputs, axis=1)


PROBES: dict[str, Callable[[int], Compared]] = {
    probe.__name__: probe
    for probe in (
        reported_fault,
        relation_table,
        relation_states,
        recurrent_replay,
        ppo_gradients,
        evaluation_sums,
        oracle_tables,
    )
}
TOLERANCE = 2e-5
"""Single precision, added up in whatever order. The faults that are known are a hundred times as large."""


def main() -> int:
    """Every function at every size; the exit status says whether all is right."""
    print(f"jax {jax.__version__}, jaxlib {sys.modules['jaxlib'].__version__}")
    wrong = 0
    for name, probe in PROBES.items():
        errors = {rows: probe(rows).error for rows in SIZES}
        bad = [rows for rows, error in errors.items() if error > TOLERANCE]
        wrong += len(bad)
        print(f"{name:18} worst {max(errors.values()):.1e}  wrong at {len(bad)} of {len(errors)} sizes {bad[:8]}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
