"""Somebody who looks over a player's shoulder."""

from typing import Any, NamedTuple

from coadapt.arrays import Key
from coadapt.players import Belief, Decision, Player


class WithOnlooker(NamedTuple):
    """A player that acts as it always does, while another belief watches the same games and changes nothing in them."""

    player: Player
    onlooker: Belief

    def start(self, key: Key) -> tuple[Any, Any]:
        return self.player.start(key), self.onlooker.start()

    def decide(self, observation: Any, memory: tuple[Any, Any]) -> Decision:
        of_player, of_onlooker = memory
        decision = self.player.decide(observation, of_player)
        belief, of_onlooker = self.onlooker.update(observation, of_onlooker)
        return Decision(decision.logits, (decision.memory, of_onlooker), {**decision.info, "onlooker": belief})
