"""Pictures are looked at by people; here is what can be counted in them. Colours are looked for pixel by pixel."""

import io

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from coadapt.evaluation.watching import record_episode
from coadapt.games.episode import Episode
from coadapt.games.salesman.render import (
    BAR,
    COLLECTED_COLOUR,
    GOAL_FLOOR,
    HEADING,
    MAIN_COLOUR,
    PARTNER_COLOUR,
    SUBGOAL_COLOUR,
    _canvas,
    _draw_grid,
    episode_gif,
    episode_strip,
)
from coadapt.games.salesman.rules import Salesman, SalesmanState
from coadapt.images import as_files
from tests.games.walkers import Seeker, Wanderer

NAMES = ("novice", "intermediate", "skilled")
GAME = Salesman(size=4, subgoals=2, max_steps=30)


@pytest.fixture(scope="module")
def finished() -> Episode:
    return record_episode(jax.random.key(2), GAME, (Seeker(), Seeker()), label_names=NAMES, truth="skilled")


def layout(agents, collected=(False, False), size=4):
    cells = [jnp.array(each, jnp.int32) for each in (agents, [[0, 2], [3, 1]], [2, size - 1])]
    return SalesmanState(jnp.int32(0), cells[0], cells[1], cells[2], jnp.array(collected))


def state_picture(state: SalesmanState, size: int) -> dict[str, bytes]:
    """A state with a margin around it: the contents of a png and of an svg file."""
    axis = _canvas(434, 434)
    _draw_grid(axis, state, size, 12, 12, 410)
    return as_files(axis.figure, dpi=200)


def pixels(image: Image.Image) -> np.ndarray:
    return np.asarray(image.convert("RGB")).astype(int)


def coloured(of_pixels: np.ndarray, colour: str) -> np.ndarray:
    """Which pixels have a colour, up to what a palette of 256 makes of it."""
    return np.abs(of_pixels - np.array(to_rgb(colour)) * 255).max(-1) < 6


def cell_of(png: bytes, size: int, row: int, column: int) -> np.ndarray:
    """The pixels of one cell. Around the grid there are 12 pixels, which are 24 in a png."""
    image = pixels(Image.open(io.BytesIO(png)))
    width = (image.shape[1] - 48) / size
    top, left = round(24 + row * width), round(24 + column * width)
    return image[top : top + round(width), left : left + round(width)]


def frames_of(gif: bytes) -> list[Image.Image]:
    image = Image.open(io.BytesIO(gif))
    frames = []
    for number in range(getattr(image, "n_frames", 1)):
        image.seek(number)
        frames.append(image.copy())
    return frames


@pytest.mark.parametrize("size", [5, 11])
def test_the_same_state_gives_the_same_files(size):
    one, two = (state_picture(layout([[0, 0], [1, 1]], size=size), size) for _ in range(2))
    assert one == two
    assert one["png"].startswith(b"\x89PNG\r\n\x1a\n")
    assert Image.open(io.BytesIO(one["png"])).size == (868, 868)
    assert one["svg"].startswith(b"<?xml")
    assert b"<svg" in one["svg"]
    assert b"<dc:date>" not in one["svg"]


@pytest.mark.parametrize("size", [5, 11])
def test_agents_in_one_cell_are_both_seen(size):
    apart = state_picture(layout([[1, 0], [1, 1]], size=size), size)["png"]
    together = state_picture(layout([[1, 1], [1, 1]], size=size), size)["png"]
    alone = [coloured(cell_of(apart, size, 1, column), MAIN_COLOUR).sum() for column in (0, 1)]
    assert alone[0] > 100
    assert alone[1] == 0
    main, partner = (coloured(cell_of(together, size, 1, 1), colour).sum() for colour in (MAIN_COLOUR, PARTNER_COLOUR))
    assert min(main, partner) > 0.3 * alone[0]
    assert 0.6 < main / partner < 1.6
    assert coloured(cell_of(together, size, 1, 0), MAIN_COLOUR).sum() == 0


def test_a_collected_subgoal_is_faint_and_an_open_one_is_not():
    png = state_picture(layout([[0, 0], [1, 1]], collected=(True, False)), 4)["png"]
    collected, left = cell_of(png, 4, 0, 2), cell_of(png, 4, 3, 1)
    assert coloured(collected, SUBGOAL_COLOUR).sum() == 0
    assert coloured(collected, COLLECTED_COLOUR).sum() > 100
    assert coloured(left, SUBGOAL_COLOUR).sum() > 1_000


def test_the_goal_is_seen_below_an_agent():
    png = state_picture(layout([[2, 3], [1, 1]]), 4)["png"]
    cell = cell_of(png, 4, 2, 3)
    assert coloured(cell, MAIN_COLOUR).sum() > 1_000
    assert coloured(cell, GOAL_FLOOR).sum() > 1_000
    assert coloured(cell_of(png, 4, 1, 1), GOAL_FLOOR).sum() == 0


def test_an_animation_has_a_frame_for_every_state_and_holds_the_last(finished):
    gif = episode_gif(finished, milliseconds=100, hold=900)
    frames = frames_of(gif)
    assert gif.startswith(b"GIF89a")
    assert gif == episode_gif(finished, milliseconds=100, hold=900)
    assert {frame.size for frame in frames} == {(480, 312)}
    assert [frame.info["duration"] for frame in frames] == [100] * finished.steps + [900]
    assert frames[0].info["loop"] == 0


def test_bars_are_as_long_as_the_belief(finished):
    for step, frame in enumerate(frames_of(episode_gif(finished))):
        for row, share in enumerate(finished.belief_at(step)):
            middle = 98 + HEADING + row * BAR + 11
            line = pixels(frame)[middle, 310:]
            assert coloured(line, MAIN_COLOUR).sum() == pytest.approx(150 * share, abs=1.5)


def test_an_agent_without_a_belief_gets_no_bars_and_an_unknown_partner_no_name(finished):
    beside = (slice(0, 240), slice(310, None))  # the caption and the bars, not the legend below them
    for episode, bars, truth in (
        (finished, True, True),
        (finished._replace(beliefs=None), False, True),
        (finished._replace(beliefs=None, truth=None), False, False),
    ):
        seen = pixels(frames_of(episode_gif(episode))[-1])[beside]
        assert coloured(seen, MAIN_COLOUR).any() == bars
        assert coloured(seen, PARTNER_COLOUR).any() == truth


def test_a_frame_grows_with_the_number_of_labels(finished):
    labels = 10
    many = finished._replace(
        beliefs=np.full((finished.steps, labels), 1 / labels), label_names=[f"type {n}" for n in range(labels)]
    )
    assert frames_of(episode_gif(many))[0].height > 98 + labels * BAR


def test_a_long_animation_is_small(key):
    episode = record_episode(key, Salesman(), (Wanderer(), Wanderer()), label_names=NAMES, truth="novice")
    drifting = np.random.default_rng(0).dirichlet(np.ones(3), episode.steps)
    gif = episode_gif(episode._replace(beliefs=drifting))
    assert episode.steps == 50
    assert len(frames_of(gif)) == 51
    assert len(gif) < 300_000


def test_a_strip_has_as_many_states_as_asked_for_but_none_twice(finished):
    width = lambda episode, steps: Image.open(io.BytesIO(episode_strip(episode, steps)["png"])).width // 2
    assert finished.steps > 4
    assert width(finished, 4) == 14 + 4 * 174
    assert width(finished, 100) == 14 + (finished.steps + 1) * 174


def test_the_same_episode_gives_the_same_strip(finished):
    one, two = (episode_strip(finished) for _ in range(2))
    assert one == two
    assert one["png"].startswith(b"\x89PNG")
    assert b"<svg" in one["svg"]


def test_a_strip_without_beliefs_is_lower(finished):
    height = lambda episode: Image.open(io.BytesIO(episode_strip(episode)["png"])).height
    assert height(finished) - height(finished._replace(beliefs=None)) == pytest.approx(2 * (HEADING + 3 * BAR), abs=20)
