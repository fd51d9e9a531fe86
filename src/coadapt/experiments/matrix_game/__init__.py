"""The paper's first experiment: a matrix game with partners whose preferences have to be found out.

A *replicate* is one concentration of the partners with one seed; all replicates of a method are one program.
"""

from coadapt.experiments.matrix_game.config import FAST, MOST_SEEDS, PAPER, PRESETS, QUICK, MatrixGameConfig
from coadapt.experiments.matrix_game.reproduce import EXPERIMENT

__all__ = ["EXPERIMENT", "FAST", "MOST_SEEDS", "PAPER", "PRESETS", "QUICK", "MatrixGameConfig"]
