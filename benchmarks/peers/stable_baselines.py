# pyright: reportMissingImports=false
"""Self-play PPO by Stable-Baselines3, and its recurrent sister of sb3-contrib, on the NumPy game.

Each seat of each game is a game of one player to them, so both seats' experience is learnt from, as ours does. An
episode that is cut off at the step limit counts as finished: to bootstrap from it they would ask the value network for
one such game after the other, which would cost them more time.
"""

import time
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib import RecurrentPPO
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv

from numpy_salesman import NumpySalesman, Rules
from torch_relation import RelationFeatures

PACKAGES = ("torch", "stable-baselines3", "sb3-contrib", "numpy")


class BothSeats(VecEnv):
    """The games of `NumpySalesman` as twice as many games of one player."""

    def __init__(self, games: int, rules: Rules):
        self.games = NumpySalesman(games, rules)
        self.infos: list[dict[str, Any]] = [{} for _ in range(2 * games)]  # nobody needs them, so they stay empty
        width = self.games.observe().shape[1]
        super().__init__(2 * games, spaces.Box(0, rules.size, (width,), np.float32), spaces.Discrete(4))

    def reset(self) -> np.ndarray:
        self.games.restart(np.ones(self.games.games, bool))
        return self.games.observe()

    def step_async(self, actions: np.ndarray) -> None:
        self.actions = actions.reshape(2, -1).T

    def step_wait(self):
        reward, terminated, truncated = self.games.step(self.actions)
        over = terminated | truncated
        self.games.restart(over)
        return self.games.observe(), np.tile(reward, 2), np.tile(over, 2), self.infos

    def close(self) -> None:
        pass

    def get_attr(self, attr_name, indices=None):
        return [None] * self.num_envs  # there is no way to draw them, for one

    def set_attr(self, attr_name, value, indices=None):
        raise NotImplementedError

    def env_method(self, method_name, *method_args, indices=None, **method_kwargs):
        raise NotImplementedError

    def env_is_wrapped(self, wrapper_class, indices=None):
        return [False] * self.num_envs


def learner(request: dict[str, Any]) -> PPO | RecurrentPPO:
    """The learner that a request describes, before its first iteration."""
    games = BothSeats(request["num_envs"], Rules(**request["rules"]))
    before, after, on_top = request["before_sum"], request["after_sum"], request["policy_hidden"]
    sight = {"size": request["rules"]["size"], "subgoals": request["rules"]["subgoals"], "before": before}
    networks = {
        "features_extractor_class": RelationFeatures,
        "share_features_extractor": False,  # policy and value networks have nothing in common, as ours
        "activation_fn": torch.nn.ReLU,
    }
    settings = {
        "n_steps": request["num_steps"],
        "batch_size": 2 * request["num_envs"] * request["num_steps"] // request["minibatches"],
        "n_epochs": request["epochs"],
        "learning_rate": request["learning_rate"],
        "gamma": request["discount"],
        "gae_lambda": request["gae_lambda"],
        "clip_range": request["clip"],
        "ent_coef": request["entropy_coefficient"],
        "max_grad_norm": request["max_gradient_norm"],
        "device": "cpu",
        "seed": 0,
    }
    if request["lstm_units"]:
        # As in our baseline the layers behind the sum come before the LSTM, and the value network has none.
        networks |= {"features_extractor_kwargs": {**sight, "after": after}, "net_arch": {"pi": [], "vf": on_top}}
        networks |= {"lstm_hidden_size": request["lstm_units"], "enable_critic_lstm": False}
        return RecurrentPPO("MlpLstmPolicy", games, policy_kwargs=networks, **settings)
    behind_sum = [*after, *on_top]
    networks |= {"features_extractor_kwargs": {**sight, "after": []}, "net_arch": {"pi": behind_sum, "vf": behind_sum}}
    return PPO("MlpPolicy", games, policy_kwargs=networks, **settings)


class Training:
    """The learner that is being measured: it goes on learning from request to request."""

    def __init__(self):
        self.request: dict[str, Any] | None = None
        self.learner: PPO | RecurrentPPO | None = None

    def go_on(self, request: dict[str, Any], iterations: int) -> dict[str, Any]:
        if request != self.request:
            self.request, self.learner = request, learner(request)
        assert self.learner is not None
        samples = iterations * 2 * request["num_envs"] * request["num_steps"]
        started = time.perf_counter()
        self.learner.learn(samples, reset_num_timesteps=False, log_interval=1_000_000)
        return {
            "amount": samples // 2,
            "seconds": time.perf_counter() - started,
            "parameters": sum(each.numel() for each in self.learner.policy.parameters()),
        }


def look(request: dict[str, Any]) -> dict[str, Any]:
    """The features of some observations, before any network: ours are to be the same."""
    rows = torch.tensor(request["look_at"], dtype=torch.float32)
    width = spaces.Box(0, request["size"], rows.shape[1:], np.float32)
    pairs, rest = RelationFeatures(width, request["size"], request["subgoals"], before=[1], after=[]).pairs(rows)
    return {"pairs": pairs.tolist(), "rest": rest.tolist()}


TRAINING = Training()


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Environment steps of so many iterations of collecting and learning, the seconds they took, and what learns."""
    if "look_at" in request:
        return look(request)
    return TRAINING.go_on(request["training"], request["iterations"])
