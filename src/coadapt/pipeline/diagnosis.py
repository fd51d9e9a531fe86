"""Why the agent loses: by its labels, its policy, its predictor, or by what nobody could know.

What each of them loses is the difference in return between two who play alike but for that. A part is wrong where it
does not do what it is there for, and not because it could do better: what is left to lose is lost somewhere.

- The labels, where they are no use to the policy, and the predictor does not find out of which type partners are.
- The policy, where another method earns more than it does with the oracle label, or where labels that the predictor can
  tell are no use to it: if it is done with learning and they do no harm, types may just not matter.
- The predictor, where it loses most of what it is worth to know the type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from coadapt.evaluation.wording import listed
from coadapt.pipeline.evidence import SHUFFLED, TRUTH, Facts, Known, Learning, Size, facts_of, rivals_of
from coadapt.pipeline.methods import METHODS
from coadapt.pipeline.results import Results
from coadapt.pipeline.wording import ACTING, SOURCES, titles
from coadapt.tables import Table


class Cause(NamedTuple):
    """Something by which the agent loses, or may do so."""

    name: str
    lost: Size | None  # of the return; none where it cannot be said
    wrong: bool  # it does not do what it is there for
    evidence: str
    advice: str  # none where it is not more than noise


LABELS, POLICY, PREDICTOR, UNKNOWABLE = "the labels", "the policy", "the predictor", "what nobody could know so soon"


def causes(facts: Facts) -> list[Cause]:
    """All that there is something to say of: first what is wrong, and then what loses most.

    Nothing is wrong with who has learnt from wrong labels, as far as one can tell.
    """
    labels, learners = _labels(facts), [_policy(facts), _predictor(facts)]
    if labels.wrong:
        learners = [learner._replace(wrong=False, advice="") for learner in learners]
    said = [cause for cause in (labels, *learners, _unknowable(facts)) if cause.lost or cause.evidence]
    return sorted(said, key=lambda cause: (cause.wrong, _at_stake(facts, cause)), reverse=True)


def _at_stake(facts: Facts, cause: Cause) -> float:
    """Against the best response everybody loses something, so a policy that is wrong is held against its rival."""
    lost = facts.ahead if cause.wrong and cause.name == POLICY else cause.lost
    return lost.mean if lost else 0.0


def _labels(facts: Facts) -> Cause:
    worth = facts.over_shuffled
    if worth is None:
        return Cause(LABELS, None, False, "", "")
    wrong, harmful = not (worth.seen or _tells_types(facts)), (-worth).certain
    over_blind = [_more(facts.over_blind, "label-blind")] if facts.over_blind else []
    earns = listed([_more(worth, "with a shuffled one"), *over_blind])
    evidence = [f"with the oracle label the policy earns {earns}", *(_predictions(facts) if wrong else ())]
    unused = "types do not matter in this game, or the policy has not learnt to use labels"
    advice = _labels_advice(facts, harmful) if wrong else "" if worth.seen else unused
    return Cause(LABELS, -worth if wrong and harmful else None, wrong, _joined(evidence), advice)


def _tells_types(facts: Facts) -> bool:
    """The predictor finds in labels what it was trained to, or still may. Who is surely wrong has found something else.

    If it was not asked, a policy that is done with learning and yet suffers from the truth tells that it would not.
    """
    predictor, worth = facts.known.get("predictor"), facts.over_shuffled
    if predictor is None:
        return not (worth and (-worth).certain and facts.training("policy").is_level)
    return predictor.better.seen or (facts.training("belief").improves and not (-predictor.better).seen)


def _labels_advice(facts: Facts, harmful: bool) -> str:
    """Who finds nothing in labels may have had too little time, or too little sense, to find it."""
    check = "check that types behave differently, and that labels are right, in training and held out alike"
    if harmful:
        return check
    if "posterior" in facts.known and not facts.known["posterior"].better.seen:
        return "make types behave differently: nobody can tell them apart in these games"
    rates = " and ".join(f"{purpose}.learning_rate" for purpose in facts.parts.values())
    if facts.training("policy").is_level or facts.training("belief").is_level:
        return f"{check}; if that is so, look at {rates}"
    return f"train policy and predictor for longer, and if that changes nothing, {check}"


def _policy(facts: Facts) -> Cause:
    ahead, worth, training = facts.ahead, facts.over_shuffled, facts.training("policy")
    behind = ahead is not None and ahead.certain
    unused = worth is not None and not worth.seen and ((-worth).certain or not training.is_level)
    evidence = [
        f"even with the oracle label it earns {ahead} less than {facts.rival}" if behind else "",
        "it earns no more with the oracle label than with a shuffled one" if unused else "",
        str(training),
    ]
    lost = facts.by_acting or (ahead if ahead and ahead.mean > 0 else None)
    more_than_noise = behind or unused or training.improves or (lost is not None and lost.seen)
    advice = _policy_advice(facts.parts["policy"], training, behind) if more_than_noise else ""
    return Cause(POLICY, lost, behind or unused, _joined(evidence), advice)


def _policy_advice(purpose: str, training: Learning, behind: bool) -> str:
    if not training.is_level:
        return f"train it for longer ({purpose}.iterations)"
    if behind:
        return f"look at {purpose}.learning_rate and {purpose}.entropy_coefficient"
    return "train it with more partners, or make its network larger"


def _predictor(facts: Facts) -> Cause:
    lost, worth, training = facts.by_predictor, facts.over_untold, facts.training("belief")
    loses_most = lost is not None and worth is not None and lost.seen and worth.seen and lost.mean > worth.mean / 2
    told_apart, belief = facts.by_nobody is not None, facts.known.get("predictor")
    excused = not told_apart and training.is_level and belief is not None and belief.better.seen
    wrong = loses_most and not excused
    longer = f"train it for longer ({facts.parts['belief']}.iterations)"
    advice = "train it with more partners, or make its network larger" if training.is_level else longer
    more_than_noise = training.improves or (lost is not None and lost.seen)
    name = PREDICTOR if wrong or told_apart else f"{PREDICTOR} or by {UNKNOWABLE}"
    return Cause(name, lost, wrong, _joined(_predictions(facts)), advice if more_than_noise else "")


def _unknowable(facts: Facts) -> Cause:
    lost, posterior = facts.by_nobody, facts.known.get("posterior")
    at = (posterior.at_first, posterior.at_half, posterior.half) if posterior else ()
    evidence = "even the exact posterior is right in {:.0%} of episodes at first, and in {:.0%} after {} steps"
    advice = "only an agent that makes partners show sooner what they are could earn it"
    return Cause(UNKNOWABLE, lost, False, evidence.format(*at) if at else "", advice if lost and lost.seen else "")


def _predictions(facts: Facts) -> list[str]:
    """How well the predictor knows held-out partners, and whether it was still learning."""
    predictor, posterior = (facts.known.get(source) for source in SOURCES)
    if predictor is None:
        return [str(facts.training("belief"))]
    best = f" and {posterior.accuracy:.0%} of the exact posterior" if posterior else ""
    right = f"{predictor.accuracy:.0%} of steps against {predictor.guess:.0%} by guessing{best}"
    certain = f"its calibration error is {predictor.calibration_error:.2f}"
    return [f"the predictor is right in {right}", certain, str(facts.training("belief"))]


def _more(size: Size, than: str) -> str:
    return f"{size} more than {than}" if size.mean >= 0 else f"{-size} less than {than}"


def _joined(parts: Sequence[str]) -> str:
    return "; ".join(part for part in parts if part)


def why(results: Results) -> str:
    """What is wrong, in a sentence, or else by what most is lost; nothing where losses were not measured."""
    facts = facts_of(results)
    told = [cause for cause in causes(facts) if cause.wrong or cause.lost] if facts else []
    if facts is None or not told:
        return ""
    first, *_ = told
    if first.wrong:
        loses = f", by which it loses {first.lost} of the return" if first.lost else ""
        return f"Something is wrong with {first.name}{loses}: {first.evidence}. Advice: {first.advice}."
    most = f"most is lost by {first.name}, {first.lost} of the return (to earn more: {first.advice})"
    remains = most if first.lost and first.lost.seen else "what the agent loses is within noise"
    return f"Nothing is found to be wrong: {'; '.join((remains, *_doubts(facts)))}."


def _doubts(facts: Facts) -> list[str]:
    """Whether more could be wrong than was found, or nothing can be gained at all."""
    trainings = {facts.parts[part]: facts.training(part) for part in facts.parts}
    short = " and ".join(purpose for purpose, training in trainings.items() if training.metric and not training.gain)
    unknown = f"whether {short} had been done with learning is not known (see curve_points)" if short else ""
    return [doubt for doubt in (_labels(facts).advice, unknown) if doubt]


def diagnosis(results: Results) -> dict[str, Any]:
    """All of it, ready for JSON."""
    facts = facts_of(results)
    if facts is None:
        return {}
    as_dict = lambda size: size._asdict() if size else None
    fields = lambda of: {name: as_dict(each) if isinstance(each, Size) else each for name, each in of._asdict().items()}
    by_type = lambda of: dict(zip(results.types, of.by_type.mean(axis=1), strict=True))
    return {
        "verdict": why(results),
        "causes": [fields(cause) for cause in causes(facts)],
        "return": {who: by_type(of) for who, of in facts.earned.items()},
        "oracle_label_over": {SHUFFLED: as_dict(facts.over_shuffled), "label_blind": as_dict(facts.over_blind)},
        "belief": {source: fields(of) for source, of in facts.known.items()},
        "learning": {training: fields(of) for training, of in facts.learning.items()},
    }


def diagnosis_tables(results: Results) -> list[Table]:
    """Why the agent loses, and the numbers that tell it, of what was measured."""
    facts = facts_of(results)
    if facts is None:
        return []
    of_agents = [_cause_table(results, facts), _return_table(results, facts)]
    of_learners = [_known_table(facts.known), _learning_table(facts.learning)]
    return [table for table in (*of_agents, *of_learners) if table.rows]


def _cause_table(results: Results, facts: Facts) -> Table:
    size = lambda of: [f"{of.mean:.4f}", of.interval] if of else ["", ""]
    rows = [[of.name, *size(of.lost), of.evidence, of.advice] for of in causes(facts)]
    new = "seeds" if len(results.study.seeds) > 1 else "episodes, of the one seed there is"
    agent = titles(results)[str(results.main)]
    title = f"Why the {agent} agent loses: return in the mean over types, with 95% intervals for new {new}"
    return Table(title, ["by", "lost", "95% interval", "what tells", "advice"], rows, left=(3, 4))


def _return_table(results: Results, facts: Facts) -> Table:
    others = sorted(rivals_of(results, facts.earned), key=lambda who: not METHODS[who].is_blind)
    names = {TRUTH: "oracle label", str(results.main): "own belief"} | {who: titles(results)[who] for who in others}
    shown = {name: facts.earned[who] for who, name in names.items() if who in facts.earned}
    rows = [[name, *(f"{each.mean():.4f}" for each in of.by_type), f"{of.mean:.4f}"] for name, of in shown.items()]
    title = f"Return with held-out partners, the main agent {ACTING[results.mode]}"
    return Table(title, ["who", *results.types, "mean"], rows)


def _known_table(known: dict[str, Known]) -> Table:
    steps = "/".join(dict.fromkeys(str(of.half) for of in known.values()))
    columns = ["belief", "at first", f"after half an episode ({steps} steps)", "at the end", "over all steps"]
    shares = lambda of: [f"{share:.1%}" for share in (of.at_first, of.at_half, of.at_the_end, of.accuracy, of.guess)]
    rows = [[SOURCES[source], *shares(of), f"{of.calibration_error:.3f}"] for source, of in known.items()]
    title = "How often a belief is right about held-out partners, in the mean over types"
    return Table(title, [*columns, "by guessing", "calibration error"], rows)


def _learning_table(learning: dict[str, Learning]) -> Table:
    gain = lambda of: f"{of.gain.mean:.4f}" if of.improves else "level" if of.is_level else "too short to tell"
    interval = lambda of: of.gain.interval if of.gain else ""
    rows = [[name, of.metric, f"{of.last:.4f}", gain(of), interval(of)] for name, of in learning.items()]
    title = "What more training would still give, if it went on as in its last quarter"
    columns = ["training", "metric", "at its end", "better by as many iterations again", "95% interval"]
    return Table(title, columns, rows, left=(1,))
