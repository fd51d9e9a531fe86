"""The paper's first experiment: a matrix game with partners whose taste has to be found out.

Two methods are trained against Dirichlet partners at several concentrations and from several seeds. A *run* is one
concentration with one seed; all runs of a method are one program, side by side along one axis.
"""

from coadapt.experiments.matrix_game.config import FAST, PAPER, PRESETS, MatrixGameConfig
from coadapt.experiments.matrix_game.report import Results
from coadapt.experiments.matrix_game.reproduce import measure, reproduce, tables
from coadapt.experiments.matrix_game.tuning import GRIDS, tune

__all__ = ["FAST", "GRIDS", "PAPER", "PRESETS", "MatrixGameConfig", "Results", "measure", "reproduce", "tables", "tune"]
