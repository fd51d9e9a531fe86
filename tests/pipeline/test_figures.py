"""Figures show what the tables say."""

from types import SimpleNamespace

import numpy as np

from coadapt.evaluation import figures as drawing
from coadapt.evaluation.statistics import Estimate
from coadapt.experiments.salesman.showing import SHOWING
from coadapt.experiments.salesman.task import TYPES
from coadapt.pipeline import figures
from coadapt.pipeline.results import gather
from tests.experiments.small_salesman import SMALL


def test_bars_of_regret_reach_from_the_lower_to_the_upper_end_of_the_interval(monkeypatch):
    """Which are not equally far from the mean."""
    lost = {
        type_: Estimate(mean, 0.0, mean - 0.1, mean + 0.3) for type_, mean in zip(TYPES, (1.0, 2.0, 3.0), strict=True)
    }
    monkeypatch.setattr(figures, "regretting", lambda results: ["lstm"])
    monkeypatch.setattr(figures, "regret_of", lambda results, method, type_: SimpleNamespace(lost=lost[type_]))
    drawn = []
    monkeypatch.setattr(drawing, "as_files", lambda figure, dpi: drawn.append(figure) or {})
    figures.draw_regret(gather(SMALL, {}, SHOWING))
    (axis,) = drawn[0].axes
    (bars,) = (container for container in axis.containers if hasattr(container, "errorbar"))
    (lines,) = bars.errorbar.lines[2]
    np.testing.assert_allclose([ends[:, 1] for ends in lines.get_segments()], [[2.9, 3.3], [1.9, 2.3], [0.9, 1.3]])
