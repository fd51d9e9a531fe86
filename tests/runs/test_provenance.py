"""Results say which commit made each of their stages, also where a stage was there before the run began."""

import json
from dataclasses import replace

from coadapt.runs import executor, launch
from coadapt.storage import provenance
from coadapt.storage.files import read_json
from tests.runs.toy import TOY, ToyConfig


def test_a_stage_keeps_the_commit_that_made_it(tmp_path, monkeypatch):
    seen_by_the_report = []

    def report(config, outcomes, folder):
        seen_by_the_report.append(read_json(folder / "provenance.json"))
        return TOY.report(config, outcomes, folder)

    def carry_out(name, commit, **changes):
        for module in (executor, provenance):
            monkeypatch.setattr(module, "commit", lambda: commit)
        run, _ = launch.carry_out(replace(TOY, report=report), ToyConfig(**changes), tmp_path / name)
        return json.loads((run.results / "provenance.json").read_text())

    before = carry_out("before", "one")
    assert (before["commit"], before["commits"]) == ("one", ["one"])
    after = carry_out("after", "another", pull=0.25)
    assert {stage: of["commit"] for stage, of in after["stages"].items()} == {
        "first": "one",
        "second": "another",
        "look": "another",
    }
    assert (after["commit"], after["commits"]) == ("another", ["one", "another"])
    assert seen_by_the_report == [before, after]
