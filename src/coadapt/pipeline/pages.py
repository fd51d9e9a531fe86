"""Results as a page to look at: what is in a folder of results, told to somebody who has a minute."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from coadapt.configs.data import fields_of
from coadapt.evaluation.pages import Figure, Page, Section, as_html, as_markdown
from coadapt.runs.times import times_told
from coadapt.storage.files import MOST_BYTES, Damaged, Incompatible, make_folder, read_bytes, read_json, write_text
from coadapt.tables import Table, tables_in

TITLE = "coadapt: agents that cooperate with partners they have never met"
LEAD = """A small recurrent network watches the partner and infers what type it is; a memoryless policy acts on that
inference. Here is how well that works: against the paper, against baselines and controls, and against exact optima,
which no agent can pass."""


class Story(NamedTuple):
    """What to say of an experiment. It is part of the summary of its results, which so can tell themselves."""

    title: str
    text: str = ""
    captions: Mapping[str, str] = MappingProxyType({})  # of its pictures, by name, in the order they are shown in
    first_tables: int = 1  # so many are shown at once, the others when asked for
    place: int = 9  # among others, of which the lowest comes first


ENDINGS = ("svg", "png")
"""Of two files of a picture, the sharper one."""


def write_report(folders: Sequence[Path], to: Path) -> tuple[Path, Path]:
    """The page of what is in these folders of results, as `report.html` and `report.md`."""
    names, sections = [_name(folder) for folder in folders], []
    for folder, name in zip(folders, names, strict=True):
        run = folder.parent.name if folder.name == "results" else folder.name
        sections += sections_of(folder, run if names.count(name) > 1 else "")
    page = Page(TITLE, LEAD, sections)
    html, markdown = to / "report.html", to / "report.md"
    texts = {html: as_html(page), markdown: as_markdown(page, to)}  # all is read before anything is written
    make_folder(to)
    for file, text in texts.items():
        write_text(file, text)
    return html, markdown


def results_in(path: Path) -> list[Path]:
    """The folders of results at a place: it is one, it is a run that has one, or it has some within it."""
    candidates = dict.fromkeys((path, path / "results", *sorted(path.glob("*/"))))
    found = [folder for folder in candidates if (folder / "summary.json").is_file()]
    if not found:
        raise Incompatible(f"there are no results in {path} (no summary.json); make some with: coadapt reproduce")
    return sorted(found, key=lambda folder: _story(folder).place)


def _name(folder: Path) -> str:
    """Of which experiment the results are."""
    name = _read(folder / "summary.json").get("experiment")
    return name if isinstance(name, str) else folder.name


def _story(folder: Path) -> Story:
    """What results have to tell; where they do not say, or not as they should, they are called by their name."""
    told: Any = _read(folder / "summary.json").get("story")
    kinds = {"title": str, "text": str, "captions": dict, "first_tables": int, "place": int}
    if not isinstance(told, dict) or told.keys() != kinds.keys():
        return Story(_name(folder))
    if not all(isinstance(told[name], kind) for name, kind in kinds.items()):
        return Story(_name(folder))
    captions = {str(name): str(caption) for name, caption in told["captions"].items()}
    return Story(**told)._replace(captions=captions)


def conclusion_of(folder: Path) -> tuple[Table | None, str]:
    """What results come to, for somebody who reads no more than that: their first table, and a sentence."""
    return next(iter(tables_in(_text(folder / "table.md"))), None), _verdict(folder)


def _verdict(folder: Path) -> str:
    """What was beaten by how much, if there is anything to say."""
    verdict = _read(folder / "summary.json").get("verdict", "")
    return verdict if isinstance(verdict, str) else ""


def sections_of(folder: Path, run: str = "") -> list[Section]:
    """What one folder of results has to show; the run is named where others are of the same experiment."""
    story = _story(folder)
    title = f"{story.title} ({run})" if run else story.title
    tables = tables_in(_text(folder / "table.md"))
    figures = [Figure(file, caption) for stem, caption in story.captions.items() if (file := _picture(folder, stem))]
    first, rest = tables[: story.first_tables], tables[story.first_tables :]
    sections = [Section(title, f"{story.text}\n\n{_verdict(folder)}".strip(), figures, first)]
    if rest:
        sections.append(Section(f"{title}: all other numbers", tables=rest, folded=True))
    making = _making(folder)
    return [*sections, *([Section(f"{title}: how it was made", tables=making, folded=True)] if making else [])]


def _picture(folder: Path, stem: str) -> Path | None:
    """The file of a picture, which lies in the folder itself, whatever results may say."""
    if Path(stem).name != stem:
        return None
    found = next((file for ending in ENDINGS if (file := folder / f"{stem}.{ending}").is_file()), None)
    if found is not None and found.stat().st_size > MOST_BYTES:
        raise Incompatible(f"{found} is larger than any picture; make the results again")
    return found


def _making(folder: Path) -> list[Table]:
    """The configuration, the versions and the times."""
    # A run keeps its configuration above its results; published results have it beside them. Those of agents that were
    # trained before tell how that was done, too.
    config = _read(folder / "config.json") or _read(folder.parent / "config.json")
    trained = _read(folder / "summary.json").get("trained", {})
    provenance, of_training = (_read(folder / name) for name in ("provenance.json", "training-provenance.json"))
    facts = {name: value for name, value in provenance.items() if name != "stages"}
    settings = {
        "Code, versions and machine": facts,
        "Configuration, seeds included": config,
        "Configuration of the training": {} if trained == config else trained,
    }
    as_rows = lambda of: [[place, str(value)] for place, value in fields_of(of)]
    made = [Table(title, ["what", "value"], as_rows(of), left=(1,)) for title, of in settings.items() if of]
    return [*made, *(times_told(stages) for of in (provenance, of_training) if (stages := _stages(of)))]


def _stages(provenance: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The stages whose making is told, if it is told as it should be."""
    stages = provenance.get("stages")
    is_timed = lambda making: isinstance(making, dict) and isinstance(making.get("seconds"), int | float | None)
    return {name: making for name, making in stages.items() if is_timed(making)} if isinstance(stages, dict) else {}


def _read(file: Path) -> dict[str, Any]:
    try:
        found = read_json(file) if file.is_file() else {}
    except Damaged as problem:
        raise Incompatible(f"{problem}; make the results again") from None
    if not isinstance(found, dict):
        raise Incompatible(f"{file} does not say what it should; make the results again")
    return found


def _text(file: Path) -> str:
    return read_bytes(file).decode(errors="replace") if file.is_file() else ""
