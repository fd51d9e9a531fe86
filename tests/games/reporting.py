"""A player of any game that tells what it is shown."""

from typing import Any, NamedTuple

import jax

from coadapt.players import Decision, Seen


class Reporting(NamedTuple):
    """Says what it is shown beside the observation; always decides alike."""

    logits: jax.Array

    def start(self, key: jax.Array) -> tuple[()]:
        del key
        return ()

    def decide(self, seen: Seen, memory: Any) -> Decision:
        known = {"last_action": seen.last_action, "last_reward": seen.last_reward, "first": seen.first}
        if seen.privileged is not None:
            known["privileged"] = seen.privileged
        return Decision(self.logits, memory, known)
