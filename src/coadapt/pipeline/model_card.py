"""The model card: what somebody should know who takes the weights of a run."""

from collections.abc import Iterator, Sequence

from coadapt.pipeline.methods import methods_of
from coadapt.pipeline.results import Results
from coadapt.pipeline.study import Study
from coadapt.pipeline.tables import partner_table, score_table

PARTNER_FILES = "- `partners/SEED-TYPE`: the held-out partners, which no agent was trained with.\n"
PACKAGED_PARTNERS = "- The held-out partners, which no agent was trained with, are those that come with coadapt.\n"
UNMEASURED = " No agent was\nmeasured with partners it had not trained with."
CARD = """# Agents and partners of the {title}

Weights of small networks for a cooperative game of two, trained from nothing by coadapt. Each file has a manifest beside
it: the configuration, the seed, the commits that made the stages it comes from (`stages`), the one that wrote the file
(`commit`), and what was measured.

{agents}{partners}- `training-partners/SEED-TYPE`: the partners that agents trained with. The package comes without.

**For** research on cooperation with unknown partners: as baselines, as partners, as opponents of your own methods.
**Not for** any decision about people: the partners are networks, and nothing was measured with human ones.
**Limits:** {limits}, {types} types of partners that all come from self-play. {company}{measured}
"""


def model_card(results: Results) -> str:
    """The whole card, with the tables of what was measured."""
    study = results.study
    shown = [score_table(results, results.mode)] if results.cells else []
    agents = "".join(f"- `{method.folder}/SEED`: {method.about}\n" for method in methods_of(study).values())
    card = CARD.format(
        title=results.showing.title,
        agents=agents.format(conditioning=study.conditioning, mode=results.mode),
        partners=_partner_files(study),
        measured="" if shown else UNMEASURED,
        limits=results.showing.limits(study.task),
        types=len(results.types),
        company=" ".join(_company(study)),
    )
    return "\n".join([card, *(table.markdown() for table in (*shown, partner_table(results)))])


def _partner_files(study: Study) -> str:
    """What is said of the held-out partners: where they are, if there are any."""
    if not study.held_out:
        return ""
    return PACKAGED_PARTNERS if study.pretrained_held_out else PARTNER_FILES


def _company(study: Study) -> Iterator[str]:
    """Which agents trained with whose clones, a sentence for each company."""
    companies: dict[tuple[int, ...], list[int]] = {}
    for seed in study.seeds:
        companies.setdefault(tuple(sorted(study.population_of(seed))), []).append(seed)
    for clones, seeds in companies.items():
        yield f"Agents of {_seeds(seeds)} trained with clones of {_seeds(clones)}."


def _seeds(seeds: Sequence[int]) -> str:
    *others, last = map(str, seeds)
    return f"seeds {', '.join(others)} and {last}" if others else f"seed {last}"
