"""Row 1: steps of the game alone, at random, with everything that both seats see."""

from benchmarks.contenders import Contenders
from benchmarks.measuring import Entry, Quantity, side_by_side, turns
from benchmarks.ours import stepping_request
from benchmarks.sizes import Sizes
from coadapt.configs.data import plain
from coadapt.runs.progress import Progress

ROW = "stepping"
RATE = Quantity("stepping", "games x steps/s")

LANDMARK = "a landmark: another game, stepped in the same way"


def measure(sizes: Sizes, contenders: Contenders, progress: Progress) -> list[Entry]:
    """The same rules in JAX, NumPy and plain Python; and two other games for two."""
    game, num_envs, num_steps = sizes.task.game, sizes.stepping_games, sizes.stepping_steps
    same = {"num_envs": num_envs, "num_steps": num_steps, "rules": plain(game)}
    alone = {"num_steps": sizes.alone_steps, "rules": plain(game)}
    elsewhere = {"num_envs": num_envs, "num_steps": num_steps}
    one_by_one = "the same rules in plain Python, one game"
    taking_part = [
        contenders.ours("coadapt", stepping_request(game, num_envs, num_steps), RATE),
        *contenders.peer("vectorised NumPy", "numpy", "numpy_stepping", same, RATE, "the same rules"),
        *contenders.peer("PettingZoo", "numpy", "pettingzoo_stepping", alone, RATE, one_by_one),
        *contenders.peer("JaxMARL Overcooked", "jaxmarl", "jaxmarl_stepping", elsewhere, RATE, LANDMARK),
        *contenders.peer("Jumanji foraging", "jumanji", "jumanji_stepping", elsewhere, RATE, LANDMARK),
    ]
    with progress.stage(ROW, turns(taking_part, sizes.repetitions)) as advance:
        return side_by_side(ROW, taking_part, sizes.repetitions, advance)
