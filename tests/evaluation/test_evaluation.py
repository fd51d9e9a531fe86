import jax
import jax.numpy as jnp
import numpy as np
import pytest

from coadapt.encounters import Transition
from coadapt.evaluation.episodes import episode_scores, first_episode, play_episodes, step_scores
from coadapt.evaluation.figures import Line, Panel, draw_panels
from coadapt.evaluation.statistics import over_seeds
from coadapt.games.matrix import MatrixGame
from coadapt.partners.dirichlet import DirichletPartners, Stationary
from coadapt.partners.population import Partners
from coadapt.tables import Table


def test_an_estimate_counted_by_hand():
    """1 to 5: mean 3, deviation the root of 10/4; Student's t for four degrees of freedom is 2.776."""
    estimate = over_seeds(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert estimate.mean == 3
    assert estimate.deviation == pytest.approx(2.5**0.5)
    assert estimate.high - 3 == pytest.approx(2.776 * 0.5**0.5, abs=1e-3)
    assert 3 - estimate.low == pytest.approx(estimate.high - 3)


def test_one_seed_says_nothing_of_the_spread():
    estimate = over_seeds(np.array([2.0]))
    assert estimate.mean == 2
    assert np.isnan([estimate.deviation, estimate.low, estimate.high]).all()


def test_only_the_first_episode_of_a_game_counts(key):
    """A game of two steps looked at for five: the third and all that follow belong to other episodes."""
    game, someone = MatrixGame(max_steps=2), Stationary(jnp.zeros(5))
    partners = DirichletPartners(jnp.ones(5)).draw(key, 3)
    once = play_episodes(key, game, partners, someone)
    assert first_episode(once).tolist() == [[True, True]] * 3
    twice = jax.tree.map(lambda leaf: jnp.concatenate([leaf, leaf], axis=1), once)
    assert first_episode(twice).tolist() == [[True, True, False, False]] * 3
    np.testing.assert_array_equal(step_scores(twice, partners).reward[:2], step_scores(once, partners).reward)


def test_episodes_counted_by_hand():
    """One is over by itself after two steps, one is cut off after three; what follows is of other episodes."""
    ended, cut_off = jnp.array([[0, 1, 0], [0, 0, 0]], bool), jnp.array([[0, 0, 1], [0, 0, 1]], bool)
    beliefs = jnp.array([[[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]])
    reward = jnp.array([[1.0, 2.0, 4.0], [3.0, 5.0, 7.0]])
    transitions = Transition((), (), ({"belief": beliefs}, {}), (), reward, jnp.zeros_like(reward), ended, cut_off, ())  # pyright: ignore[reportArgumentType]
    scores = episode_scores(transitions)
    assert scores.length.tolist() == [2, 3]
    assert scores.total.tolist() == [3, 15]
    assert scores.finished.tolist() == [1, 0]
    partners = Partners((), jnp.array([[1.0, 0.0], [0.0, 1.0]]), jnp.arange(2))
    by_step = step_scores(transitions, partners)
    assert by_step.reward.tolist() == [2, 3.5, 7]
    assert by_step.prediction_error.tolist() == [(0.5 + 0) / 2, (0 + 0.5) / 2, 2]


def test_a_table_in_markdown():
    table = Table("Title", ["name", "number"], [["a", "1"], ["b", "2"]])
    assert table.markdown() == "**Title**\n\n| name | number |\n| --- | ---: |\n| a | 1 |\n| b | 2 |\n"


def test_a_table_on_the_terminal(capsys):
    Table("Title", ["name", "number"], [["a", "1"]]).show()
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("Title", "name", "number", "a", "1"))


def test_the_same_numbers_draw_the_same_file():
    x = np.arange(3.0)
    panels = [Panel(str(n), [Line("a", x, x, x / 10), Line("b", x, -x, style="--")]) for n in range(4)]
    one, two = (draw_panels(panels, "x", "y", "title") for _ in range(2))
    assert one == two
    assert one["png"].startswith(b"\x89PNG")
    assert b"<svg" in one["svg"]
