"""A game, partners and an agent of your own: a walk around a lake with a friend who goes one way or the other.

There are five places, and being side by side pays 1 a step. Nobody tells which way the friend goes: the agent must see.
"""

import jax
import jax.numpy as jnp

import coadapt as ca


class Lake:
    num_actions, max_steps = (3, 3), 8  # both the agent and the friend can go back, stay or go on

    def reset(self, key):
        return jnp.int32(0), jax.random.randint(key, (2,), 0, 5)  # steps taken; where the agent and the friend are

    def step(self, state, actions, key):
        taken, places = state[0] + 1, (state[1] + jnp.stack(actions) - 1) % 5
        return (taken, places), ca.Outcome(
            jnp.float32(places[0] == places[1]), jnp.bool_(False), taken == self.max_steps
        )

    def observe(self, state, seat):
        agent, friend = state[1]
        return {"gap": jax.nn.one_hot((friend - agent) % 5, 5), "friend": jax.nn.one_hot(friend, 5)}


class GoesOn:
    def start(self, key):
        return ()  # nothing to remember

    def decide(self, seen, memory):
        return ca.Decision(jnp.array([0.0, 0.0, 99.0]), memory, {})  # logits: this is as good as certain


class GoesBack(GoesOn):
    def decide(self, seen, memory):
        return ca.Decision(jnp.array([99.0, 0.0, 0.0]), memory, {})


GAME, FRIENDS = Lake(), ca.fixed_population_of({"goes on": [GoesOn()], "goes back": [GoesBack()]})


def train(keys):
    _, played = ca.rollout(ca.start_episode(keys[0], GAME, (GoesOn(),) * 2), GAME, (GoesOn(),) * 2, steps=1)
    seen = jax.tree.map(lambda leaf: leaf[0], played.seen[ca.MAIN])  # what the agent is shown, for its shapes
    gap, friend = (ca.VectorSpec(lambda seen, part=part: seen[part]) for part in ("gap", "friend"))  # who sees what
    # A policy is told the truth and learns to close the gap. With less entropy it would just wait for its friend.
    policy = ca.ConditionedPolicy(keys[0], gap, seen, labels=2, hidden=(32,), actions=3)
    critic = ca.ConditionedCritic(keys[1], gap, seen, labels=2, hidden=(32,))
    told = lambda policy, label: ca.BehaviourConditioned(ca.ConstantBelief(label), policy)
    config = ca.PPOConfig(300, num_envs=64, num_steps=8, learning_rate=3e-3, discount=0.9, entropy_coefficient=1.0)
    state = ca.ppo.start(keys[2], policy, critic, config)
    state, _ = ca.ppo.train_chunk(state, GAME, FRIENDS, told, config, config.iterations)
    policy = ca.ConditionedOnMAP(state.policy.network)  # it has never been told anything but certainties
    # A belief watches the friend and learns to see the truth. Meanwhile the agent acts on what it believes so far.
    belief = ca.LearnedBelief(keys[3], friend, seen, units=16, hidden=(16,), labels=2)
    agent = lambda belief: ca.BehaviourConditioned(belief, policy)
    config = ca.SupervisedConfig(150, num_envs=64, num_steps=8, learning_rate=1e-2)
    state, loss = ca.supervised.start(keys[4], belief, config), ca.supervised.negative_log_likelihood
    state, _ = ca.supervised.train_chunk(state, GAME, FRIENDS, agent, loss, config, config.iterations)
    return agent(state.belief.network)


def main():
    agent = jax.jit(train)(jax.random.split(jax.random.key(0), 5))
    # By hand: who knows the label is side by side from the first step on at three of the five gaps, and a step later
    # at two: 8 - 2/5 = 7.6. Who does not has to guess, which at any gap costs a step on average: 8 - 1 = 7.
    players = {
        "its own belief": (lambda label: agent, 7.0),
        "the truth": (lambda label: agent._replace(belief=ca.ConstantBelief(label)), 7.6),
        "the opposite": (lambda label: agent._replace(belief=ca.ConstantBelief(1 - label)), 0.0),  # they never meet
    }
    print("label from         goes on   goes back   mean   optimum")
    for name, (player, by_hand) in players.items():
        on, back = ca.mean_returns(jax.random.key(1), GAME, FRIENDS.partners, player, episodes=1000)
        print(f"{name:17}{on:10.2f}{back:12.2f}{(on + back) / 2:7.2f}{by_hand:10.2f}")


if __name__ == "__main__":
    main()
