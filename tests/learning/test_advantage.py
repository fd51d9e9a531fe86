"""Each number here can be had with pencil and paper, discount 1/2 and trace decay 1/2 throughout."""

import jax.numpy as jnp
import numpy as np

from coadapt.learning.advantage import generalised_advantages


def advantages(rewards, values, next_values, terminated=(), truncated=(), decay=0.5):
    floats = lambda numbers: jnp.array(numbers, jnp.float32)
    flags = lambda where: jnp.array([step in where for step in range(len(rewards))])
    return generalised_advantages(
        floats(rewards), floats(values), floats(next_values), flags(terminated), flags(truncated), 0.5, decay
    ).tolist()


def test_one_terminated_step_is_reward_minus_value():
    assert advantages([3], [1], [100], terminated=[0]) == [2]


def test_one_truncated_step_imagines_the_rest():
    assert advantages([3], [1], [4], truncated=[0]) == [3 + 0.5 * 4 - 1]


def test_a_segment_that_goes_on_imagines_the_rest_too():
    assert advantages([3], [1], [4]) == [4]


def test_surprises_are_handed_back_with_the_decay():
    # Surprises: 1 + 1 - 2 = 0, 1 + 2 - 2 = 1, 4 - 4 = 0 (the last step terminates). Each gets a quarter of the next.
    assert advantages([1, 1, 4], [2, 2, 4], [2, 4, 100], terminated=[2]) == [0.25, 1, 0]


def test_nothing_flows_back_over_the_end_of_an_episode():
    assert advantages([1, 8], [0, 0], [0, 0], terminated=[0])[0] == 1
    assert advantages([1, 8], [0, 0], [0, 0], truncated=[0])[0] == 1
    assert advantages([1, 8], [0, 0], [0, 0])[0] == 1 + 0.25 * 8


def test_without_decay_it_is_the_return_minus_the_value():
    rewards, values = np.array([1.0, 2.0, 4.0]), np.array([0.5, -1.0, 3.0])
    returns = [1 + 0.5 * (2 + 0.5 * 4), 2 + 0.5 * 4, 4]
    measured = advantages(rewards, values, [*values[1:], 0], terminated=[2], decay=1.0)
    np.testing.assert_allclose(measured, returns - values)
