"""All methods of the pipeline: a line for each, in the order of tables. Nothing else lists them."""

from coadapt.configs.checks import one_of
from coadapt.pipeline.method import Method
from coadapt.pipeline.methods import behaviour_conditioned, label_blind, lstm
from coadapt.pipeline.study import Study

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        behaviour_conditioned.METHOD,
        lstm.METHOD,
        lstm.MATCHED,
        label_blind.METHOD,
    )
}


def methods_of(study: Study) -> dict[str, Method]:
    """Those of a study, in the order in which it names them."""
    for name in study.methods:
        one_of("methods", name, METHODS)
    return {name: METHODS[name] for name in study.methods}
