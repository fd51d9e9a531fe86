"""The presets of minutes, and what a run says in a sentence."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from coadapt.experiments import matrix_game, salesman
from coadapt.experiments.matrix_game.report import verdict as matrix_verdict
from coadapt.experiments.pages import conclusion_of, results_in, write_report
from coadapt.experiments.salesman.clones import networks_of
from coadapt.experiments.salesman.pretrained import STAGE, find, source_of
from coadapt.experiments.salesman.report import verdict
from coadapt.experiments.salesman.reproduce import stages
from coadapt.experiments.salesman.results import gather
from coadapt.experiments.salesman.scores import Cell
from coadapt.experiments.salesman.shipped import PRESETS, the_package
from coadapt.games.salesman.rules import Salesman
from coadapt.storage.files import Incompatible
from tests.experiments.small_salesman import SMALL

QUICK = salesman.QUICK


def test_rl2_has_as_many_steps_as_policy_and_predictor_together():
    for config in (matrix_game.QUICK, matrix_game.FAST):
        steps = {
            n: of.iterations * of.steps_per_iteration
            for n in ("predictor", "policy", "rl2")
            if (of := getattr(config, n))
        }
        assert steps["rl2"] == steps["predictor"] + steps["policy"]


def test_a_quick_agent_trains_with_its_own_clones_and_meets_the_packages_partners_once():
    made = [stage.name for stage in stages(QUICK)]
    assert made == [STAGE, "clones_0", "self_play_0", "policy_0", "predictor_0", "rehearsal_0", "evaluation_0"]
    by_name = {stage.name: stage for stage in stages(QUICK)}
    meets_them = [name for name, stage in by_name.items() if STAGE in stage.needs]
    assert meets_them == ["evaluation_0"]
    assert by_name["policy_0"].needs == ("clones_0",)
    assert by_name["rehearsal_0"].needs == ("policy_0", "predictor_0", "clones_0")


def test_networks_come_from_the_run_but_for_the_packages_partners():
    source = source_of(QUICK)
    assert source.made_by("clones", 100) == STAGE
    assert [source.made_by(training, 0) for training in ("clones", "policy")] == ["clones_0", "policy_0"]
    assert source.made_by("policy", 100) == "policy_100"  # only partners come from there
    inputs = {STAGE: {f"partners/100-{kind}": {"policy": kind} for kind in ("novice", "intermediate", "skilled")}}
    assert source.find(inputs, "clones", 100) == find(inputs, "clones", 100) == ("novice", "intermediate", "skilled")
    inputs = {"clones_0": SimpleNamespace(networks=(np.array([7]),))}
    assert source.find(inputs, "clones", 0) == networks_of(inputs, "clones", 0)
    assert source_of(SMALL).made_by("clones", 100) == "clones_100"


def test_partners_of_another_game_or_that_are_not_there_are_refused():
    other = replace(QUICK.world, game=Salesman(size=7))
    with pytest.raises(Incompatible, match=r"another game than the one in world\.game"):
        salesman.check_references(replace(QUICK, world=other))
    salesman.check_references(replace(QUICK, world=other, pretrained_references=False))
    with pytest.raises(Incompatible, match="no reference partners of seed 103"):
        salesman.check_references(replace(QUICK, references=(103,)))


def test_the_packages_agents_are_tried_in_both_modes_or_in_the_chosen_one():
    assert the_package(PRESETS["fast"]).evaluated_modes == ("sample", "argmax")
    quick = the_package(PRESETS["quick"])
    assert quick.evaluated_modes == quick.modes == ("argmax",)


def played(returns: dict[str, float], config: salesman.SalesmanConfig):
    """Results of a seed that returned so much with the partners of each kind of one reference population."""
    config = replace(config, seeds=(3,), references=(100,))
    cells = [Cell(10.0, returns[kind], 0.0, 1.0) for kind in ("novice", "intermediate", "skilled")]
    return gather(config, {}, mode="argmax")._replace(cells={("behaviour_conditioned", 3, "argmax"): cells})


def test_what_was_beaten_is_said_in_a_sentence():
    """The paper's returns are 0.080, 0.011 and -0.040."""
    returns = {"skilled": 0.1, "intermediate": 0.061, "novice": -0.02}
    assert verdict(played(returns, QUICK)) == (
        "With skilled, intermediate and novice partners it has never met the agent returns 0.1000, 0.0610 and -0.0200:"
        " 0.0200, 0.0500 and 0.0200 more than the paper's."
    )
    worse = verdict(played(returns | {"novice": -0.05}, QUICK))
    assert worse.endswith("0.0200, 0.0500 and -0.0100 more (where it is negative: less) than the paper's.")
    assert verdict(played(returns, SMALL)) == ""  # of which the paper has no numbers


def matrix_results(curve: list[float], rl2_steps: int = 3_000_000):
    """Two alphas, two seeds: the agent has half and all of the best reward, RL2 what its curve says for one seed.

    The other seed earns a hundredth of it more, so that what is gained differs a little between them.
    """
    ceilings = [SimpleNamespace(bayes_last_step=0.5), SimpleNamespace(bayes_last_step=0.1)]
    rewards = {"behaviour_conditioned": [0.25, 0.1], "rl2": [curve[-1], 0.1]}
    return SimpleNamespace(
        ceilings=ceilings,
        environment_steps={"predictor": 1_000_000, "policy": 2_000_000, "rl2": rl2_steps},
        curves={"rl2": np.array([[reward, 1.01 * reward, 0.1, 0.1] for reward in curve])},
        last_step_rewards=lambda method, mode, number: np.array([rewards[method][number]]),
        of_alpha=lambda values, number: np.asarray(values)[..., 2 * number : 2 * number + 2],
    )


def test_the_matrix_game_says_who_earns_which_share_and_who_was_not_done():
    done = matrix_results([0.1, 0.2, 0.3, 0.4, 0.4])
    assert matrix_verdict(done) == (  # pyright: ignore[reportArgumentType]
        "With partners it has never met the agent earns 50.0% to 100.0% of what the exact Bayes-optimal player earns,"
        " and RL2, which had as many steps, 80.0% to 100.0%."
    )
    still = matrix_results([0.1, 0.2, 0.3, 0.4, 0.41], rl2_steps=6_000_000)
    assert "which had 2.00 times as many steps" in matrix_verdict(still)  # pyright: ignore[reportArgumentType]
    assert "still learning" in matrix_verdict(still)  # pyright: ignore[reportArgumentType]


def test_a_shorter_training_than_the_fast_presets_is_called_so():
    short = matrix_verdict(matrix_results([0.4, 0.4, 0.4, 0.4, 0.4], rl2_steps=600_000))  # pyright: ignore[reportArgumentType]
    assert short.endswith("; it had 20% of the fast preset's steps, which may be too few for it.")


def test_what_one_seed_gains_and_another_loses_is_chance():
    """On average 0.01 of 0.5, as above; but by no means for certain."""
    by_chance = matrix_results([0.4, 0.4, 0.4, 0.4, 0.41])
    by_chance.curves["rl2"][-1, :2] = 0.45, 0.374
    assert "still learning" not in matrix_verdict(by_chance)  # pyright: ignore[reportArgumentType]


def test_the_page_has_the_sentence_and_names_runs_of_one_experiment(tmp_path):
    for run in ("one", "two"):
        (tmp_path / run / "results").mkdir(parents=True)
        summary = f'{{"experiment": "salesman", "verdict": "Run {run} <won>."}}'
        (tmp_path / run / "results" / "summary.json").write_text(summary)
    folders = [folder for run in ("one", "two") for folder in results_in(tmp_path / run)]
    assert [conclusion_of(folder) for folder in folders] == [(None, "Run one <won>."), (None, "Run two <won>.")]
    html = write_report(folders, tmp_path)[0].read_text()
    for run in ("one", "two"):
        assert f"<h2>The travelling-salesman gridworld ({run})</h2>" in html
        assert f"Run {run} &lt;won&gt;." in html
