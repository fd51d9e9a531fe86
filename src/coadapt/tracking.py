"""Metrics for those who watch their runs in TensorBoard or Weights & Biases; both are extras, loaded on demand."""

import os
from pathlib import Path
from typing import Any, Protocol


class Tracker(Protocol):
    """Where numbers go as they come."""

    def log(self, stage: str, iteration: int, numbers: dict[str, float]) -> None: ...

    def close(self) -> None: ...


class TensorBoard:
    """Event files in the run's folder: tensorboard --logdir runs"""

    def __init__(self, folder: Path, name: str, config: dict[str, Any]):
        del name, config
        from tensorboardX import SummaryWriter

        self._writer = SummaryWriter(str(folder / "tensorboard"))

    def log(self, stage: str, iteration: int, numbers: dict[str, float]) -> None:
        for name, value in numbers.items():
            self._writer.add_scalar(f"{stage}/{name}", value, iteration)

    def close(self) -> None:
        self._writer.close()


class WeightsAndBiases:
    """A run of Weights & Biases, offline unless WANDB_MODE says otherwise: wandb sync runs/NAME/wandb/offline-*"""

    def __init__(self, folder: Path, name: str, config: dict[str, Any]):
        import wandb

        mode = os.environ.get("WANDB_MODE", "offline")
        quiet = wandb.Settings(silent=True)
        self._run = wandb.init(project="coadapt", name=name, dir=str(folder), config=config, mode=mode, settings=quiet)  # type: ignore[arg-type]
        self._stages: set[str] = set()

    def log(self, stage: str, iteration: int, numbers: dict[str, float]) -> None:
        if stage not in self._stages:
            self._stages.add(stage)
            self._run.define_metric(f"{stage}/*", step_metric=f"{stage}/iteration")
        self._run.log({f"{stage}/iteration": iteration} | {f"{stage}/{name}": n for name, n in numbers.items()})

    def close(self) -> None:
        self._run.finish()


TRACKERS = {"tensorboard": TensorBoard, "wandb": WeightsAndBiases}
MODULES = {"tensorboard": "tensorboardX", "wandb": "wandb"}


def check_tracker(name: str) -> None:
    """Refuse a tracker that is not there, before any work begins."""
    from importlib.util import find_spec

    if name not in TRACKERS:
        raise ValueError(f"there is no tracker {name!r}; choose one of: {', '.join(TRACKERS)}")
    if find_spec(MODULES[name]) is None:
        raise ValueError(f"tracking with {name} needs an extra; install it with: pip install 'coadapt[track]'")
