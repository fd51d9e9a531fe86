"""The model card: what somebody should know who takes the weights of a run."""

from collections.abc import Iterator

from coadapt.pipeline.methods import methods_of
from coadapt.pipeline.partners import all_within
from coadapt.pipeline.results import Results
from coadapt.pipeline.sources.self_play import SelfPlay, seeds_in_words
from coadapt.pipeline.study import Study
from coadapt.pipeline.tables import partner_table, score_table

UNMEASURED = " No agent was\nmeasured with partners it had not trained with."
CARD = """# {title}: agents and partners

Weights of small networks for a cooperative game of two, trained from nothing by coadapt. Each file has a manifest
beside it: the configuration, the seed, the commits that made the stages it comes from (`stages`), the one that wrote
the file (`commit`), and what was measured.

{agents}{partners}
**For** research on cooperation with unknown partners: as baselines, as partners, as opponents of your own methods.
**Not for** any decision about people: the partners are networks, and nothing was measured with human ones.
**Limits:** {limits}{types} types of partners. {company}{measured}
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
        limits=f"{limits}, " if (limits := results.showing.limits(study.task)) else "",
        types=len(results.all_types),
        company=" ".join(_company(study)),
    )
    return "\n".join([card, *(table.markdown() for table in (*shown, partner_table(results)))])


def _partner_files(study: Study) -> str:
    """What is said of partners: where those are that were trained here, and who else was held out."""
    said = ""
    if study.held_out is not None:
        who = "`partners/SEED-TYPE`" if isinstance(study.held_out, SelfPlay) else study.held_out.in_words(study)
        said = f"- {who}: the held-out partners, which no agent was trained with.\n"
    if any(isinstance(source, SelfPlay) for source in all_within(study.partners)):
        said += "- `training-partners/SEED-TYPE`: the partners that agents trained with. The package comes without.\n"
    return said


def _company(study: Study) -> Iterator[str]:
    """Which agents trained with whom, a sentence for each company."""
    companies: dict[str, list[int]] = {}
    for seed in study.seeds:
        companies.setdefault(study.partners.in_words(study, seed), []).append(seed)
    for company, seeds in companies.items():
        yield f"Agents of {seeds_in_words(seeds)} trained with {company}."
