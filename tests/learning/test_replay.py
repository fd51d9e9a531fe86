import jax
import jax.numpy as jnp

from coadapt.learning.replay import replay


def add(observation, memory):
    return memory + observation, memory + observation


def test_memory_is_carried_and_starts_again_after_an_end():
    outputs, memories = replay(add, jnp.ones(5), jnp.float32(10), jnp.arange(5) == 2)
    assert outputs.tolist() == [11, 12, 13, 11, 12]
    assert memories.tolist() == outputs.tolist()


def test_gradients_flow_back_through_the_memory_but_not_over_an_end():
    def last(observations, ended):
        return replay(add, observations, jnp.float32(0), ended)[0][-1]

    gradient = jax.grad(last)(jnp.ones(4), jnp.array([False, True, False, False]))
    assert gradient.tolist() == [0, 0, 1, 1]


def test_without_a_memory_every_step_stands_alone():
    outputs, memories = replay(lambda x, m: (2 * x, m), jnp.arange(3.0), (), jnp.zeros(3, bool))
    assert outputs.tolist() == [0, 2, 4]
    assert memories == ()
