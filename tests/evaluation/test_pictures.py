"""Pictures are looked at by people; here is what can be counted in them. Colours are looked for pixel by pixel."""

import io
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from coadapt.arrays import Array, Key
from coadapt.encounters import NeverEnds, rollout, start_episode
from coadapt.evaluation.pictures import (
    BAR,
    COLLECTED_COLOUR,
    GOAL_FLOOR,
    HEADING,
    MAIN_COLOUR,
    PARTNER_COLOUR,
    SUBGOAL_COLOUR,
    Episode,
    episode_gif,
    episode_strip,
    record_episode,
    state_picture,
)
from coadapt.games.salesman.rules import MOVES, Salesman, SalesmanObservation, SalesmanState
from coadapt.players import Decision

NAMES = ("novice", "intermediate", "skilled")
GAME = Salesman(size=4, subgoals=2, max_steps=30)


class Seeker(NamedTuple):
    """Walks to the nearest open subgoal, at last to the goal, and is ever surer of its partner."""

    def start(self, key: Key) -> Array:
        del key
        return jnp.zeros(3)

    def decide(self, observation: SalesmanObservation, memory: Array) -> Decision:
        open_now = jnp.append(~observation.collected, jnp.all(observation.collected))
        places = jnp.concatenate([observation.subgoals, observation.goal[None]])
        far = jnp.abs(places - observation.own[None]).sum(-1)
        target = places[jnp.argmin(jnp.where(open_now, far, 1_000))]
        after = jnp.abs(observation.own[None] + MOVES - target[None]).sum(-1)
        certain = jnp.where(jnp.arange(4) == jnp.argmin(after), 0.0, -1e9)
        return Decision(certain, memory + jnp.array([0.0, 0.1, 0.3]), {"belief": jax.nn.softmax(memory)})


class Upward(NamedTuple):
    """Walks into the upper wall and thinks nothing."""

    def start(self, key: Key) -> tuple[()]:
        del key
        return ()

    def decide(self, observation: SalesmanObservation, memory: Any) -> Decision:
        del observation
        return Decision(jnp.array([0.0, -1e9, -1e9, -1e9]), memory, {})


class Wanderer(NamedTuple):
    """Walks at random."""

    def start(self, key: Key) -> tuple[()]:
        del key
        return ()

    def decide(self, observation: SalesmanObservation, memory: Any) -> Decision:
        del observation
        return Decision(jnp.zeros(4), memory, {"belief": jnp.full(3, 1 / 3)})


@pytest.fixture(scope="module")
def finished() -> Episode:
    return record_episode(jax.random.key(2), GAME, (Seeker(), Seeker()), label_names=NAMES, truth="skilled")


def layout(agents, collected=(False, False), size=4):
    cells = [jnp.array(each, jnp.int32) for each in (agents, [[0, 2], [3, 1]], [2, size - 1])]
    return SalesmanState(jnp.int32(0), cells[0], cells[1], cells[2], jnp.array(collected))


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


class Endless(Salesman):
    """It never says that it is over."""

    def step(self, state, actions):
        after, outcome = super().step(state, actions)
        return after, outcome._replace(terminated=jnp.bool_(False), truncated=jnp.bool_(False))


jax.tree_util.register_dataclass(
    Endless, data_fields=["step_reward", "goal_reward"], meta_fields=["size", "subgoals", "max_steps"]
)


def test_a_game_that_never_ends_is_named_and_not_recorded_for_ever(key):
    with pytest.raises(NeverEnds, match="an episode of Endless went on after its 30 steps"):
        record_episode(key, Endless(size=4, subgoals=2, max_steps=30), (Upward(), Upward()))


def test_a_recorded_episode_ends_where_the_game_does(finished):
    assert 0 < finished.steps < GAME.max_steps
    last = finished.states[-1]
    assert last.collected.all()
    assert last.goal.tolist() in last.agents.tolist()
    assert [int(state.step) for state in finished.states] == list(range(finished.steps + 1))
    earned = GAME.step_reward * finished.steps + GAME.goal_reward * 3
    assert finished.return_after(finished.steps) == pytest.approx(earned, abs=1e-6)
    assert finished.return_after(finished.steps) == pytest.approx(finished.rewards.sum(), abs=1e-6)
    assert finished.return_after(0) == 0


def test_a_recorded_episode_is_the_one_that_is_played(key):
    players = (Wanderer(), Wanderer())
    episode = record_episode(key, GAME, players)
    _, transitions = rollout(start_episode(key, GAME, players), GAME, players, episode.steps)
    np.testing.assert_array_equal(episode.rewards, transitions.reward)
    np.testing.assert_array_equal([state.agents[0] for state in episode.states[:-1]], transitions.observations[0].own)
    assert transitions.ended.tolist() == [False] * (episode.steps - 1) + [True]


def test_an_episode_that_is_cut_off_shows_its_own_last_state(key):
    episode = record_episode(key, Salesman(size=4, subgoals=2, max_steps=5), (Upward(), Upward()))
    assert episode.steps == 5
    assert int(episode.states[-1].step) == 5
    assert episode.states[-1].agents[:, 0].tolist() == [0, 0]
    assert episode.states[-1].goal.tolist() == episode.states[0].goal.tolist()


def test_the_greedy_main_agent_takes_its_likeliest_move_and_the_partner_does_not(key):
    """Of equal moves the first, up, is the likeliest."""
    episode = record_episode(key, Salesman(size=11, max_steps=12), (Wanderer(), Wanderer()), greedy=True)
    ways = np.array([state.agents for state in episode.states])
    assert len(set(ways[:, 0, 1])) == 1
    assert len(set(ways[:, 1, 1])) > 1


def test_beliefs_are_those_acted_on_and_the_last_one_stays(finished, key):
    assert finished.beliefs.shape == (finished.steps, 3)
    np.testing.assert_allclose(finished.belief_at(0), 1 / 3, rtol=1e-6)
    np.testing.assert_array_equal(finished.belief_at(finished.steps), finished.belief_at(finished.steps - 1))
    unnamed = record_episode(key, GAME, (Seeker(), Upward()))
    assert unnamed.label_names == ["label 0", "label 1", "label 2"]
    assert record_episode(key, GAME, (Upward(), Seeker())).belief_at(0) is None


@pytest.mark.parametrize("size", [5, 11])
def test_the_same_state_gives_the_same_files(size):
    one, two = (state_picture(layout([[0, 0], [1, 1]], size=size), size) for _ in range(2))
    assert one == two
    assert one["png"].startswith(b"\x89PNG\r\n\x1a\n")
    assert Image.open(io.BytesIO(one["png"])).size == (868, 904)
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
        beliefs=np.full((finished.steps, labels), 1 / labels), label_names=[f"kind {n}" for n in range(labels)]
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
