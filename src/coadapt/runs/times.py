"""How long the stages of a run took."""

from typing import Any

from coadapt.tables import Table


def times_told(makings: dict[str, dict[str, Any]]) -> Table:
    """How long the stages took; those of one family, which do the same for different seeds, stand together."""
    seconds = {stage: making.get("seconds") or 0.0 for stage, making in makings.items()}
    families: dict[str, list[float]] = {}
    for stage, taken in seconds.items():
        families.setdefault(makings[stage].get("family") or stage, []).append(taken)
    rows = [
        [name, f"{len(each)}", f"{sum(each) / len(each):,.0f}", f"{sum(each):,.0f}"] for name, each in families.items()
    ]
    rows.append(["all", f"{len(seconds)}", "", f"{sum(seconds.values()):,.0f}"])
    return Table("Seconds the stages took, compiling included", ["stage", "how many", "each", "together"], rows)
