"""Row 1: steps of the game alone, at random, with everything that both seats see."""

from coadapt.benchmarks.amounts import Amounts
from coadapt.benchmarks.contenders import Contenders
from coadapt.benchmarks.measuring import Entry, Quantity, side_by_side, turns
from coadapt.benchmarks.ours import stepping_request
from coadapt.configs.data import plain
from coadapt.runs.progress import Progress

ROW = "stepping"
RATE = Quantity("stepping", "games x steps/s")

LANDMARK = "a landmark: another game, stepped in the same way"


def measure(amounts: Amounts, contenders: Contenders, progress: Progress) -> list[Entry]:
    """The same rules in JAX, NumPy and plain Python; and two other games for two."""
    game, games, steps = amounts.world.game, amounts.stepping_games, amounts.stepping_steps
    same = {"games": games, "steps": steps, "rules": plain(game)}
    alone = {"steps": amounts.alone_steps, "rules": plain(game)}
    elsewhere = {"games": games, "steps": steps}
    one_by_one = "the same rules in plain Python, one game"
    taking_part = [
        contenders.ours("coadapt", stepping_request(game, games, steps), RATE),
        *contenders.peer("vectorised NumPy", "numpy", "numpy_stepping", same, RATE, "the same rules"),
        *contenders.peer("PettingZoo", "numpy", "pettingzoo_stepping", alone, RATE, one_by_one),
        *contenders.peer("JaxMARL Overcooked", "jaxmarl", "jaxmarl_stepping", elsewhere, RATE, LANDMARK),
        *contenders.peer("Jumanji foraging", "jumanji", "jumanji_stepping", elsewhere, RATE, LANDMARK),
    ]
    with progress.stage(ROW, turns(taking_part, amounts.repetitions)) as advance:
        return side_by_side(ROW, taking_part, amounts.repetitions, advance)
