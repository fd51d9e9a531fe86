"""A trained agent as a player that knows what it was trained for."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jax

from coadapt.agents.behaviour_conditioned import CONDITIONINGS
from coadapt.arrays import Key
from coadapt.configs.checks import one_of
from coadapt.games.traced import shape_of
from coadapt.pipeline.check import check_player
from coadapt.pipeline.methods import METHODS
from coadapt.pipeline.saved import Agent, Saved, agent_of
from coadapt.pipeline.saved import save as save_networks
from coadapt.pipeline.task import AnyTask, check_task, seen_in
from coadapt.players import Decision, Player, Seen


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["networks"],
    meta_fields=["kind", "task", "conditioning", "greedy"],
)
@dataclass(frozen=True)
class TrainedAgent:
    """Networks by name, and the player that they make: `start` and `decide` as of any player.

    To JAX the weights are arguments; all else is static, so agents of one kind can be stacked.
    """

    networks: Mapping[str, Any]
    kind: Agent
    task: AnyTask
    conditioning: str = "probabilities"  # what its policy gets of its belief, if it has one
    greedy: bool = False  # how it is to act, as was chosen on training partners

    @classmethod
    def of(cls, saved: Saved) -> "TrainedAgent":
        """The agent in a file."""
        conditioning, mode = saved.about.get("conditioning") or "probabilities", saved.about.get("mode")
        return cls(saved.networks, saved.agent, saved.task, conditioning, mode == "argmax")

    @classmethod
    def made_of(
        cls, method: str, task: AnyTask, networks: Mapping[str, Any], conditioning: str = "probabilities"
    ) -> "TrainedAgent":
        """An agent of networks that were trained elsewhere, such as in a loop of one's own."""
        check_task(task)
        one_of("method", method, METHODS)
        one_of("conditioning", conditioning, CONDITIONINGS)
        parts = METHODS[method].parts
        if not isinstance(networks, Mapping) or set(networks) != set(parts):
            given = ", ".join(networks) if isinstance(networks, Mapping) else shape_of(networks)
            raise ValueError(f"an agent of {method} has networks by name ({', '.join(parts)}), not {given}")
        agent = cls(dict(networks), agent_of(METHODS[method]), task, conditioning)
        check_player(f"an agent of {method} with these networks", agent, seen_in(task.game), agent.num_actions)
        return agent

    @property
    def player(self) -> Player:
        return self.kind.player(self.networks, self.task, self.conditioning)

    @property
    def game(self) -> Any:
        return self.task.game

    @property
    def types(self) -> tuple[str, ...]:
        """Of which types a partner can be, in the order of the belief in a decision's info."""
        return self.task.types

    @property
    def num_actions(self) -> int:
        return self.task.game.num_actions[0]

    def start(self, key: Key) -> Any:
        return self.player.start(key)

    def decide(self, seen: Seen, memory: Any) -> Decision:
        return self.player.decide(seen, memory)


def save(path: str | Path, agent: TrainedAgent) -> None:
    """An agent to `path.safetensors` and `path.json`: arrays and data, nothing that could run."""
    about = {"conditioning": agent.conditioning, "mode": "argmax" if agent.greedy else "sample"}
    save_networks(Path(path), Saved(agent.kind, agent.task, dict(agent.networks), about))
