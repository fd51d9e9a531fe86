"""All methods of the pipeline, by the modules that define them. Nothing else lists them."""

from importlib import import_module

from coadapt.configs.checks import one_of
from coadapt.pipeline.method import Method
from coadapt.pipeline.study import Study

MODULES = (  # a line for each, in the order of tables
    "behaviour_conditioned",
    "lstm",
    "rl2",
    "label_blind",
)
METHODS: dict[str, Method] = {
    method.name: method for module in MODULES for method in import_module(f"{__name__}.{module}").METHODS
}


def methods_of(study: Study) -> dict[str, Method]:
    """Those of a study, in the order in which it names them."""
    for name in study.methods:
        one_of("methods", name, METHODS)
    return {name: METHODS[name] for name in study.methods}
