"""Files that were written under older names: one table of what each is called now.

The weights that come with the package are not written again because a word has changed.
"""

from typing import Any

FIELDS = {
    "world": "task",
    "rehearsal": "validation",
    "rehearsal_episodes": "validation_episodes",
    "crossplay": "evaluation_matrix",
    "feed": "conditioning",
    "kind": "type",
    "exchange_after": "switch_after",
    "bound_layouts": "joint_layouts",
    "games": "num_envs",
    "steps": "num_steps",
    "trace_decay": "gae_lambda",
    "entropy_bonus": "entropy_coefficient",
}
VALUES = {"likeliest": "map", "drawn": "sampled"}

TENSORS = {"sight/network/before/": "encoder/pairs/", "sight/network/after/": "head/"}
TENSORS_OF_RECURRENT = TENSORS | {"sight/network/after/": "encoder/after/"}


def in_words_of_today(written: Any) -> Any:
    """What a file says about agents and their training, whichever words it was written in."""
    if isinstance(written, list):
        return [in_words_of_today(each) for each in written]
    if not isinstance(written, dict):
        return VALUES.get(written, written) if isinstance(written, str) else written
    said = {FIELDS.get(name, name): in_words_of_today(value) for name, value in written.items()}
    if "intermediate_length" in said:  # a configuration
        said["levels"] = [said.pop("intermediate_length")]
        said["partners"] = {"seeds": said.pop("companions"), "own": True}
        said["held_out"] = {"seeds": said.pop("references")}
        said.pop("pretrained_references", None)
    if {"seed", "type", "iteration"} <= said.keys():  # a partner
        said["id"] = [said.pop("seed"), said.pop("type")]
    if isinstance(said.get("met"), list):  # partners by name
        said["met"] = [_identified(each) for each in said["met"]]
    return said


def _identified(partner: Any) -> Any:
    if not isinstance(partner, str):
        return partner
    seed, _, name = partner.partition("-")
    return [int(seed), name]


def tensor_name(tensor: str, networks: dict[str, Any]) -> str:
    """What a tensor is called now, of these networks by name."""
    network = networks.get(tensor.partition("/")[0])
    for older, now in (TENSORS_OF_RECURRENT if hasattr(network, "recurrent") else TENSORS).items():
        tensor = tensor.replace(older, now)
    return tensor
