"""Playing one episode step by step, to look at it."""

from collections.abc import Sequence

import equinox as eqx
import numpy as np

from coadapt.arrays import Key
from coadapt.encounters import NeverEnds, Players, advance, outcome, start_episode
from coadapt.games.episode import Episode
from coadapt.games.game import MAIN, Game
from coadapt.tables import Table


def record_episode(
    key: Key,
    game: Game,
    players: Players,
    greedy: bool = False,
    label_names: Sequence[str] = (),
    truth: str | None = None,
) -> Episode:
    """One episode, played step by step to be looked at. Without names, labels are numbered."""
    episode_state = start_episode(key, game, players)
    states, transitions, before = [], [], episode_state
    while not (transitions and transitions[-1].ended):
        if len(transitions) == game.max_steps:
            raise NeverEnds(game)
        states.append(episode_state.state)
        before, (episode_state, transition) = episode_state, _advance(episode_state, game, players, greedy)
        transitions.append(transition)
    final, _ = outcome(before, game, transitions[-1].actions)  # another episode has begun already
    rewards = np.array([transition.reward for transition in transitions])
    beliefs = None
    if "belief" in transitions[0].infos[MAIN]:
        beliefs = np.array([transition.infos[MAIN]["belief"] for transition in transitions])
        label_names = label_names or [f"label {n}" for n in range(beliefs.shape[1])]
    actions = np.array([transition.actions for transition in transitions])
    return Episode(game, [*states, final], rewards, beliefs, label_names, truth, actions)


def as_table(episode: Episode) -> Table:
    """An episode step by step, for games that nobody has said how to draw."""
    names = [] if episode.beliefs is None else [f"believes {name}" for name in episode.label_names]
    rows = []
    for step, reward in enumerate(episode.rewards):
        acted = [] if episode.actions is None else [str(action) for action in episode.actions[step]]
        believed = episode.belief_at(step)
        rows.append([str(step), *acted, f"{reward:.3g}", *(f"{p:.2f}" for p in (() if believed is None else believed))])
    acting = [] if episode.actions is None else ["agent", "partner"]
    truth = "" if episode.truth is None else f" with a partner that is {episode.truth}"
    title = f"{episode.steps} steps{truth}, return {episode.return_after(episode.steps):.3g}"
    return Table(title, ["step", *acting, "reward", *names], rows)


_advance = eqx.filter_jit(advance)  # here, and not where it is called, for another episode not to compile it again
