"""Metrics for those who watch their runs in TensorBoard or Weights & Biases; both are extras, loaded on demand."""

import os
from collections.abc import Callable
from typing import Any, Protocol

from coadapt.storage.runs import Run


class Tracker(Protocol):
    """Where numbers go as they come."""

    def begin(self, stage: str, iteration: int) -> None:
        """A stage goes on from this iteration: what was told of later ones no longer holds."""
        ...

    def log(self, stage: str, iteration: int, numbers: dict[str, float]) -> None: ...

    def close(self) -> None: ...


class TensorBoard:
    """Event files in the run's folder: tensorboard --logdir runs"""

    def __init__(self, run: Run):
        self._folder = run.folder / "tensorboard"
        self._writers: dict[str, Any] = {}

    def begin(self, stage: str, iteration: int) -> None:
        from tensorboardX import SummaryWriter

        self._writers[stage] = SummaryWriter(str(self._folder / stage), purge_step=iteration + 1)

    def log(self, stage: str, iteration: int, numbers: dict[str, float]) -> None:
        for name, value in numbers.items():
            self._writers[stage].add_scalar(name, value, iteration)

    def close(self) -> None:
        for writer in self._writers.values():
            writer.close()


class WeightsAndBiases:
    """A run of Weights & Biases, offline unless WANDB_MODE says otherwise: wandb sync runs/NAME/wandb/offline-*"""

    def __init__(self, run: Run):
        import wandb

        mode: Any = os.environ.get("WANDB_MODE", "offline")
        self._run = wandb.init(
            project="coadapt",
            name=run.name,
            id=run.id,
            resume="allow" if mode == "online" else None,
            dir=str(run.folder),
            config=run.config,
            mode=mode,
            settings=wandb.Settings(silent=True),
        )

    def begin(self, stage: str, iteration: int) -> None:
        del iteration  # each number carries its own
        self._run.define_metric(f"{stage}/*", step_metric=f"{stage}/iteration")

    def log(self, stage: str, iteration: int, numbers: dict[str, float]) -> None:
        self._run.log({f"{stage}/iteration": iteration} | {f"{stage}/{name}": n for name, n in numbers.items()})

    def close(self) -> None:
        self._run.finish()


class Guarded:
    """A tracker that is made when it is first needed, and may fail without harm: it is told once, and there is none."""

    def __init__(self, make: Callable[[], Tracker | None], report: Callable[[str], None]):
        self._make: Callable[[], Tracker | None] | None = make
        self._report = report
        self._tracker: Tracker | None = None

    def begin(self, stage: str, iteration: int) -> None:
        self._attempt(lambda tracker: tracker.begin(stage, iteration))

    def log(self, stage: str, iteration: int, numbers: dict[str, float]) -> None:
        self._attempt(lambda tracker: tracker.log(stage, iteration, numbers))

    def close(self) -> None:
        self._make = None  # who was never needed has nothing to close
        self._attempt(lambda tracker: tracker.close())

    def _attempt(self, action: Callable[[Tracker], None]) -> None:
        try:
            if self._make is not None:
                make, self._make = self._make, None
                self._tracker = make()
            if self._tracker is not None:
                action(self._tracker)
        except Exception as problem:  # whatever other people's software comes up with
            self._report(f"Tracking has failed and is left out from here on: {problem}")
            self._tracker = None


TRACKERS: dict[str, type] = {"tensorboard": TensorBoard, "wandb": WeightsAndBiases}
MODULES = {"tensorboard": "tensorboardX", "wandb": "wandb"}


def check_tracker(name: str) -> None:
    """Refuse a tracker that is not there, before any work begins."""
    from importlib.util import find_spec

    if name not in TRACKERS:
        raise ValueError(f"there is no tracker {name!r}; choose one of: {', '.join(TRACKERS)}")
    if find_spec(MODULES[name]) is None:
        raise ValueError(f"tracking with {name} needs an extra; install it with: pip install 'coadapt[track]'")
