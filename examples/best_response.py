"""How well can anybody do with a given partner? The exact answer on one layout of the salesman's grid, and its price.

Partners are pretrained ones; any memoryless player will do, such as one of your own. Give names to see others:

    python examples/best_response.py salesman/partners/101-skilled salesman/partners/102-skilled
"""

import sys
import time

import jax

import coadapt as ca
from coadapt.experiments.salesman.oracle import over_all_starts
from coadapt.games.salesman.layouts import layout_of
from coadapt.oracles.salesman import behaviour_of, best_response, joint_optimum

PARTNERS = [f"salesman/partners/100-{name}" for name in ("skilled", "intermediate", "novice")]
GAME = ca.Salesman()
LAYOUT = layout_of(GAME.reset(jax.random.key(0)))


def timed(work, *arguments):
    """What it comes to, and the seconds it takes once it is compiled."""
    jax.block_until_ready(work(*arguments))
    started = time.perf_counter()
    return jax.block_until_ready(work(*arguments)), time.perf_counter() - started


def main(names):
    mean = lambda table: over_all_starts(GAME, LAYOUT, table)
    # What a partner does wherever it may be, and the best there is to do about it, from everywhere at every time.
    tabulate = jax.jit(lambda player: behaviour_of(player, GAME, LAYOUT))
    respond = jax.jit(lambda behaviour: best_response(GAME, LAYOUT, behaviour).outlook)
    fewest, seconds = timed(jax.jit(lambda: joint_optimum(GAME, LAYOUT)))
    print("best response to                       return   steps   seconds   for the partner's table")
    for name in names:
        behaviour, tabulating = timed(tabulate, ca.load(name))
        best, responding = timed(respond, behaviour)
        print(f"{name:36}{mean(best.total):8.4f}{mean(best.length):8.2f}{responding:10.2f}{tabulating:10.2f}")
    print(f"{'(both at their best)':36}{'':8}{mean(fewest):8.2f}{seconds:10.2f}")


if __name__ == "__main__":
    main(sys.argv[1:] or PARTNERS)
