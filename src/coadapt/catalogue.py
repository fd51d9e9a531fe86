"""Agents by name: those published with the package, and those in files of one's own.

player = coadapt.load("salesman/behaviour-conditioned")
"""

from pathlib import Path

from coadapt.experiments.salesman import weights
from coadapt.experiments.salesman.weights import PUBLISHED, Saved
from coadapt.players import Player
from coadapt.storage.files import Incompatible
from coadapt.storage.trees import manifest_file


def load(name: str | Path) -> Player:
    """The player of this name, such as salesman/behaviour-conditioned or salesman/partners/100-skilled.

    Where several were trained, the name alone means the first; salesman/behaviour-conditioned/3 is that of seed 3. The
    path of a file that training has left behind (without its ending) does as well.
    """
    return find(name).player()


def find(name: str | Path) -> Saved:
    """The networks of this name, with all that is known of them."""
    return weights.read(path_of(name))


def published() -> list[str]:
    """The names of all that came with the package."""
    weights = sorted(PUBLISHED.rglob("*.safetensors"))
    return [file.relative_to(PUBLISHED).with_suffix("").as_posix() for file in weights]


def path_of(name: str | Path) -> Path:
    """Where a name's file is: in the package, or else where the path says."""
    for path in (PUBLISHED / name, _without_ending(Path(name))):
        first = min(path.glob("*.safetensors"), default=None) if path.is_dir() else None
        if first is not None:
            return first.with_suffix("")
        if manifest_file(path).exists():
            return path
    raise Incompatible(
        f"there is no agent {str(name)!r}, neither in the package ({_offer()}) nor as a file {name}.json"
    )


def _without_ending(path: Path) -> Path:
    return path.with_suffix("") if path.suffix in (".json", ".safetensors") else path


def _offer() -> str:
    families = dict.fromkeys(name.rpartition("/")[0] for name in published())
    return ", ".join(families) or "which has none"
