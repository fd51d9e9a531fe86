"""Figures show what the tables say."""

from types import SimpleNamespace

import numpy as np

from coadapt.evaluation import figures
from coadapt.evaluation.statistics import Estimate
from coadapt.experiments.salesman import drawings
from coadapt.experiments.salesman.results import gather
from coadapt.experiments.salesman.world import KINDS
from tests.experiments.small_salesman import SMALL


def test_bars_of_regret_reach_from_the_lower_to_the_upper_end_of_the_interval(monkeypatch):
    """Which are not equally far from the mean."""
    lost = {
        kind: Estimate(mean, 0.0, mean - 0.1, mean + 0.3) for kind, mean in zip(KINDS, (1.0, 2.0, 3.0), strict=True)
    }
    monkeypatch.setattr(drawings, "regretting", lambda results: ["lstm"])
    monkeypatch.setattr(drawings, "regret_of", lambda results, method, kind: SimpleNamespace(lost=lost[kind]))
    drawn = []
    monkeypatch.setattr(figures, "as_files", lambda figure, dpi: drawn.append(figure) or {})
    drawings.draw_regret(gather(SMALL, {}))
    (axis,) = drawn[0].axes
    (bars,) = (container for container in axis.containers if hasattr(container, "errorbar"))
    (lines,) = bars.errorbar.lines[2]
    np.testing.assert_allclose([ends[:, 1] for ends in lines.get_segments()], [[2.9, 3.3], [1.9, 2.3], [0.9, 1.3]])
