"""Mistakes of one line that somebody might make, each with the test that has to notice it.

The old text stands once in its file, and `test_mutations.py` sees to it: when a line moves on, so does this.
"""

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "coadapt"


class Mutation(NamedTuple):
    """What is wrong, in words; the file below `src/coadapt`; what stands there, and what instead."""

    name: str
    file: str
    old: str
    new: str
    killed_by: str  # the test, below `tests`


def mutated(mutation: Mutation, text: str) -> str:
    """The file's text with the mutation in it."""
    found = text.count(mutation.old)
    if found != 1:
        raise ValueError(f"{mutation.name!r}: its old text is {found} times in {mutation.file}, and must be there once")
    return text.replace(mutation.old, mutation.new)


GAMES = [
    Mutation(
        "the payoff table is transposed",
        "games/matrix.py",
        "reward = self.payoff[partner, main]",
        "reward = self.payoff[main, partner]",
        "games/test_matrix.py::test_the_papers_table_pays",
    ),
    Mutation(
        "an episode is a step too long",
        "games/matrix.py",
        "terminated=after.step >= self.max_steps",
        "terminated=after.step > self.max_steps",
        "games/test_matrix.py::test_the_last_step_terminates_and_no_other",
    ),
    Mutation(
        "the predictor watches its own agent in place of the partner",
        "games/matrix.py",
        "return jnp.concatenate([observation.progress[None], observation.other_action])",
        "return jnp.concatenate([observation.progress[None], observation.own_action])",
        "games/test_matrix.py::test_what_each_network_may_look_at",
    ),
    Mutation(
        "the goal counts with some subgoals still open",
        "games/salesman/rules.py",
        "terminated = jnp.all(collected)",
        "terminated = jnp.any(collected)",
        "games/test_salesman.py::test_the_goal_counts_only_when_all_subgoals_are_taken",
    ),
    Mutation(
        "subgoals pay at every step",
        "games/salesman/rules.py",
        "jnp.sum(collected & ~state.collected)",
        "jnp.sum(collected)",
        "games/test_salesman.py::test_goals_pay_once_whoever_comes",
    ),
    Mutation(
        "a finished episode is cut off, too",
        "games/salesman/rules.py",
        "truncated=(after.step >= self.max_steps) & ~terminated",
        "truncated=after.step >= self.max_steps",
        "games/test_salesman.py::test_the_step_limit_cuts_off_unless_the_goal_is_reached",
    ),
    Mutation(
        "the grid has a row and a column too many",
        "games/salesman/rules.py",
        "[jnp.stack(actions)], 0, self.size - 1)",
        "[jnp.stack(actions)], 0, self.size)",
        "games/test_salesman.py::test_the_goal_may_be_taken_in_the_step_that_takes_the_last_subgoal",
    ),
    Mutation(
        "open subgoals are seen as collected",
        "games/salesman/pairs.py",
        "jnp.where(collected, COLLECTED, OPEN)",
        "jnp.where(collected, OPEN, COLLECTED)",
        "games/test_salesman.py::test_a_pairs_row_of_the_table_says_what_the_pair_is",
    ),
    Mutation(
        "the grid is mirrored but never turned",
        "games/salesman/symmetry.py",
        "return jnp.where(turn.swapped, counted[::-1], counted)",
        "return counted",
        "games/test_salesman.py::test_who_looks_from_home_sees_the_turned_board_and_calls_moves_by_their_names_there",
    ),
    Mutation(
        "sets of subgoals are numbered from their other end",
        "games/salesman/layouts.py",
        "collected.astype(jnp.int32) << jnp.arange(len(collected))",
        "collected.astype(jnp.int32) << jnp.arange(len(collected))[::-1]",
        "oracles/test_salesman.py::test_places_and_states_agree",
    ),
]

ENCOUNTERS = [
    Mutation(
        "both seats have the same luck",
        "encounters.py",
        "choose(chance[PARTNER], partner.logits)",
        "choose(chance[MAIN], partner.logits)",
        "test_encounters.py::test_each_seat_has_luck_of_its_own",
    ),
    Mutation(
        "partners are greedy when the main agent is",
        "encounters.py",
        "choose(chance[PARTNER], partner.logits)",
        "jnp.where(greedy, jnp.argmax(partner.logits), choose(chance[PARTNER], partner.logits))",
        "test_encounters.py::test_greedy_is_for_the_main_agent_only",
    ),
    Mutation(
        "memories outlive their episode",
        "encounters.py",
        "afresh = _begin(for_beginning, game, players)",
        "afresh = game.reset(for_beginning), (main.memory, partner.memory)",
        "test_encounters.py::test_an_episode_ends_a_new_one_begins_and_memories_with_it",
    ),
    Mutation(
        "what games are told is dealt out among partners",
        "encounters.py",
        "rows.reshape(*keys.shape, *rows.shape[1:])",
        "rows.reshape(*keys.shape[::-1], *rows.shape[1:]).swapaxes(0, 1)",
        "test_encounters.py::test_every_game_with_a_partner_is_told_its_own_row",
    ),
]

LEARNING = [
    Mutation(
        "PPO's clip is one-sided",
        "learning/ppo.py",
        "clipped = jnp.clip(ratio, 1 - clip, 1 + clip)",
        "clipped = jnp.minimum(ratio, 1 + clip)",
        "learning/test_ppo_by_hand.py::test_the_surrogate_is_clipped_on_both_sides_and_only_where_it_flatters",
    ),
    Mutation(
        "PPO's surrogate flatters",
        "learning/ppo.py",
        "jnp.minimum(ratio * batch.advantages, clipped * batch.advantages)",
        "jnp.maximum(ratio * batch.advantages, clipped * batch.advantages)",
        "learning/test_ppo_by_hand.py::test_the_surrogate_is_clipped_on_both_sides_and_only_where_it_flatters",
    ),
    Mutation(
        "the entropy bonus is a fine",
        "learning/ppo.py",
        "return value_loss - surrogate - entropy_coefficient * entropy",
        "return value_loss - surrogate + entropy_coefficient * entropy",
        "learning/test_ppo_by_hand.py::test_the_entropy_bonus_is_taken_off",
    ),
    Mutation(
        "the critic learns advantages, not values",
        "learning/ppo.py",
        "targets=advantages + values,",
        "targets=advantages,",
        "learning/test_ppo_by_hand.py::test_targets_and_advantages_of_a_game",
    ),
    Mutation(
        "advantages are standardised game by game",
        "learning/ppo.py",
        "jax.nn.standardize(experience.advantages, axis=None, epsilon=1e-8)",
        "jax.nn.standardize(experience.advantages, axis=1, epsilon=1e-8)",
        "learning/test_ppo_by_hand.py::test_advantages_are_standardised_over_all_games_together",
    ),
    Mutation(
        "the critic is not told the label when it judges",
        "learning/ppo.py",
        "judge = lambda observation, memory: critic.value(observation, label, memory)",
        "judge = lambda observation, memory: critic.value(observation, 0 * label, memory)",
        "learning/test_ppo_by_hand.py::test_the_critic_is_told_the_truth",
    ),
    Mutation(
        "all epochs have the same minibatches",
        "learning/ppo.py",
        "order = jax.random.permutation(key, len(experience.label))",
        "order = jnp.arange(len(experience.label))",
        "learning/test_ppo_by_hand.py::test_every_epoch_deals_all_games_anew",
    ),
    Mutation(
        "the learning rate neither rises nor falls",
        "learning/ppo.py",
        "rate = config.learning_rate * share",
        "rate = config.learning_rate + 0 * share",
        "learning/test_ppo_by_hand.py::test_the_learning_rate_rises_in_two_iterations_and_falls_over_four",
    ),
    Mutation(
        "what was cut off counts for nothing",
        "learning/advantage.py",
        "jnp.where(terminated, 0.0, next_values)",
        "jnp.where(terminated | truncated, 0.0, next_values)",
        "learning/test_advantage.py::test_one_truncated_step_imagines_the_rest",
    ),
    Mutation(
        "advantages flow back over episodes that were cut off",
        "learning/advantage.py",
        "decays = jnp.where(terminated | truncated, 0.0, discount * gae_lambda)",
        "decays = jnp.where(terminated, 0.0, discount * gae_lambda)",
        "learning/test_advantage.py::test_nothing_flows_back_over_the_end_of_an_episode",
    ),
    Mutation(
        "replayed memories outlive their episode",
        "learning/replay.py",
        "jnp.where(is_over, new, old)",
        "jnp.where(is_over, old, old)",
        "learning/test_replay.py::test_memory_is_carried_and_starts_again_after_an_end",
    ),
    Mutation(
        "in self-play the partner learns from what the main seat saw",
        "learning/selfplay.py",
        "observations=transitions.observations[::-1],\n        logits",
        "observations=transitions.observations,\n        logits",
        "learning/test_selfplay.py::test_each_player_has_its_own_side_of_every_transition",
    ),
    Mutation(
        "gradients of any length are followed",
        "learning/optimiser.py",
        "optax.clip_by_global_norm(max_gradient_norm)",
        "optax.identity()",
        "learning/test_optimiser.py::test_a_gradient_counts_for_no_more_than_the_bound_of_its_length",
    ),
    Mutation(
        "whoever is quick is expected more often",
        "learning/supervised.py",
        "return 1 / jnp.cumsum(begins)[len(ended) - 1 - age]",
        "return jnp.ones(len(ended))",
        "learning/test_supervised.py::test_episodes_share_the_weight_of_one",
    ),
    Mutation(
        "minibatches of the predictor have but some of the partners",
        "learning/supervised.py",
        "x.reshape(-1, minibatches, *x.shape[1:]).swapaxes(0, 1)",
        "x.reshape(minibatches, -1, *x.shape[1:])",
        "learning/test_supervised.py::test_minibatches_have_their_share_of_every_partner",
    ),
    Mutation(
        "the predictor's accuracy is that of the least likely label",
        "learning/supervised.py",
        "correct = jnp.argmax(beliefs, axis=-1)",
        "correct = jnp.argmin(beliefs, axis=-1)",
        "learning/test_supervised.py::test_the_loss_of_a_game_is_that_of_one_episode",
    ),
]

AGENTS = [
    Mutation(
        "the policy is told the least likely label",
        "agents/behaviour_conditioned.py",
        "jax.nn.one_hot(jnp.argmax(belief), belief.size)",
        "jax.nn.one_hot(jnp.argmin(belief), belief.size)",
        "agents/test_beliefs.py::test_a_policy_is_conditioned_on_the_belief_its_likeliest_label_or_one_drawn_from_it",
    ),
    Mutation(
        "labels are drawn alike, whatever is believed",
        "agents/behaviour_conditioned.py",
        "jax.nn.log_softmax(logits) + shares[:, None]",
        "jax.nn.log_softmax(logits) + 0 * shares[:, None]",
        "agents/test_beliefs.py::test_a_policy_is_conditioned_on_the_belief_its_likeliest_label_or_one_drawn_from_it",
    ),
    Mutation(
        "actions are not turned with the board",
        "agents/encoders.py",
        "return logits if permutation is None else logits[permutation]",
        "return logits",
        "agents/test_encoders.py::test_who_looks_from_home_does_the_same_on_a_turned_board",
    ),
    Mutation(
        "a critic is told nothing",
        "agents/behaviour_conditioned.py",
        "jnp.concatenate([self.encoder(observation), label])",
        "jnp.concatenate([self.encoder(observation), 0 * label])",
        "agents/test_encoders.py::test_what_it_is_told_matters_and_is_all_that_differs",
    ),
    Mutation(
        "tables of pairs are worked out for however few observations",
        "agents/encoders.py",
        "return worth_tabulating(self.view.rows, samples * self.number)",
        "return worth_tabulating(self.view.rows, samples * self.view.rows)",
        "agents/test_encoders.py::test_a_table_is_made_when_there_is_more_to_look_at_than_rows",
    ),
    Mutation(
        "a replayed belief never changes",
        "agents/beliefs.py",
        "len(self.labels) - 1)], memory + 1",
        "len(self.labels) - 1)], memory",
        "agents/test_beliefs.py::test_what_is_replayed_is_said_step_by_step_and_the_last_stays",
    ),
    Mutation(
        "the posterior forgets all counts but the last",
        "agents/beliefs.py",
        "return posterior_mean(self.concentration, counts), counts",
        "return posterior_mean(self.concentration, counts), self.view(observation)",
        "agents/test_beliefs.py::test_actions_are_counted_on_top_of_the_prior",
    ),
    Mutation(
        "the posterior asks partners what they would do in the main seat",
        "agents/posterior.py",
        "theirs = self.evidence.as_partner(observation)",
        "theirs = observation",
        "agents/test_posterior.py::test_each_of_them_is_asked_what_it_would_do_in_its_own_place",
    ),
    Mutation(
        "the posterior has no prior",
        "agents/posterior.py",
        "before, would_do, jnp.log(self.prior))",
        "before, would_do, jnp.zeros_like(self.prior))",
        "agents/test_posterior.py::test_before_anything_moves_it_is_the_prior",
    ),
    Mutation(
        "a belief that is told of the switch remembers nothing after it",
        "agents/beliefs.py",
        "jnp.where(step == self.after, new, old)",
        "jnp.where(step >= self.after, new, old)",
        "evaluation/test_adaptation.py::test_who_is_told_of_the_switch_forgets_and_who_is_not_does_not",
    ),
    Mutation(
        "a table of best actions is read at its first step for ever",
        "agents/best_response.py",
        "CERTAINLY * jax.nn.one_hot(action, self.actions), memory + 1",
        "CERTAINLY * jax.nn.one_hot(action, self.actions), memory",
        "agents/test_posterior.py::test_a_table_is_followed_step_by_step",
    ),
]

EVALUATION = [
    Mutation(
        "the last step of an episode is left out",
        "evaluation/episodes.py",
        "return jnp.cumsum(ends, axis=1) - ends == 0",
        "return jnp.cumsum(ends, axis=1) == 0",
        "evaluation/test_evaluation.py::test_episodes_counted_by_hand",
    ),
    Mutation(
        "an episode that was cut off is finished",
        "evaluation/episodes.py",
        "jnp.any(transitions.terminated & counted, axis=1)",
        "jnp.any(transitions.ended & counted, axis=1)",
        "evaluation/test_evaluation.py::test_episodes_counted_by_hand",
    ),
    Mutation(
        "the standard error is that of games, not of episodes",
        "evaluation/returns.py",
        "jnp.sqrt(games * spread / (games - 1)) / episodes",
        "jnp.sqrt(games * spread / (games - 1)) / games",
        "evaluation/test_returns.py::test_means_counted_by_hand",
    ),
    Mutation(
        "some games play an episode too many",
        "evaluation/returns.py",
        "jnp.arange(games) < episodes % games",
        "jnp.arange(games) <= episodes % games",
        "evaluation/test_returns.py::test_an_odd_number_of_episodes_is_played_to_the_last",
    ),
    Mutation(
        "errors of parts are averaged",
        "evaluation/returns.py",
        "(share**2 @ error**2) ** 0.5",
        "share @ error",
        "evaluation/test_returns.py::test_parts_make_a_whole",
    ),
    Mutation(
        "episodes may start with both agents on one cell",
        "experiments/salesman/oracle.py",
        "free[:, None] * free[None] * (1 - jnp.eye(game.size**2))",
        "free[:, None] * free[None]",
        "experiments/test_salesman_oracle.py::test_all_starts_of_a_grid_of_four_cells",
    ),
    Mutation(
        "a partner is known as soon as it was known once",
        "evaluation/adaptation.py",
        "int(wrong[-1]) + 1 if wrong.size",
        "int(wrong[0]) + 1 if wrong.size",
        "evaluation/test_adaptation.py::test_steps_until_known",
    ),
    Mutation(
        "calibration counts every bin alike",
        "evaluation/adaptation.py",
        "np.nansum(np.abs(self.said - self.was) * self.share)",
        "np.nanmean(np.abs(self.said - self.was))",
        "evaluation/test_adaptation.py::test_a_calibration_counted_by_hand",
    ),
    Mutation(
        "the interquartile mean is the mean",
        "evaluation/statistics.py",
        "stats.trim_mean(np.ravel(values), 0.25)",
        "stats.trim_mean(np.ravel(values), 0.0)",
        "evaluation/test_statistics.py::test_the_interquartile_mean_leaves_out_the_best_and_the_worst",
    ),
]

ORACLES = [
    Mutation(
        "orders of the same counts are not counted",
        "oracles/dirichlet.py",
        "return np.exp(log_ways + log_each)",
        "return np.exp(log_each)",
        "oracles/test_dirichlet.py::test_a_uniform_prior_makes_all_counts_equally_likely",
    ),
    Mutation(
        "the Bayes player takes any action",
        "oracles/matrix.py",
        "posterior_mean(concentration, counts)).max(-1)",
        "posterior_mean(concentration, counts)).mean(-1)",
        "oracles/test_matrix.py::test_matching_a_coin_of_unknown_bias",
    ),
    Mutation(
        "the least error is a little too large",
        "oracles/matrix.py",
        "(concentration.sum() + observations + 1)",
        "(concentration.sum() + observations)",
        "oracles/test_matrix.py::test_the_least_squared_error_of_a_coin",
    ),
    Mutation(
        "the best response's actions are in the order in which they were found: backwards",
        "oracles/salesman.py",
        "return BestResponse(outlook, backwards[::-1])",
        "return BestResponse(outlook, backwards)",
        "oracles/test_salesman.py::test_what_is_best_depends_on_the_time",
    ),
    Mutation(
        "the worst response is taken for the best",
        "oracles/salesman.py",
        "jnp.where(other > most, jnp.uint8(number), action)",
        "jnp.where(other < most, jnp.uint8(number), action)",
        "oracles/test_salesman.py::test_a_layout_solved_by_hand",
    ),
    Mutation(
        "a plan is as long as the shorter of its two parts",
        "oracles/salesman_plans.py",
        "joint += [np.maximum(one.home, other.open), np.maximum(one.open, other.home)]",
        "joint += [np.minimum(one.home, other.open), np.minimum(one.open, other.home)]",
        "oracles/test_salesman.py::test_plans_counted_by_hand",
    ),
]

PARTNERS = [
    Mutation(
        "labels are dealt out among games",
        "partners/population.py",
        "return jnp.repeat(partners.labels, games // len(partners.ids), axis=0)",
        "return jnp.tile(partners.labels, (games // len(partners.ids), 1))",
        "partners/test_mixed.py::test_labels_are_types_in_the_order_they_were_listed",
    ),
    Mutation(
        "the partner switch comes a step late",
        "partners/switch.py",
        "is_second = step >= self.after",
        "is_second = step > self.after",
        "evaluation/test_adaptation.py::test_after_the_switch_another_one_plays",
    ),
    Mutation(
        "who takes over has watched from the start",
        "partners/switch.py",
        "jnp.where(is_second, new, old)",
        "jnp.where(is_second, new, new)",
        "evaluation/test_adaptation.py::test_who_takes_over_has_seen_nothing_before",
    ),
    Mutation(
        "a partner's table is what it would do in the main seat",
        "oracles/salesman.py",
        "seat: int = PARTNER",
        "seat: int = 0",
        "oracles/test_behaviour.py::test_a_partners_table_is_by_where_the_partner_is",
    ),
    Mutation(
        "gamma draws are those of another concentration",
        "partners/dirichlet.py",
        "d = concentration + 2 / 3",
        "d = concentration + 5 / 3",
        "partners/test_dirichlet.py::test_gamma_draws_follow_their_distribution",
    ),
]

STORAGE = [
    Mutation(
        "a seal says nothing of how the file is written",
        "storage/sealed.py",
        "if written != json_text(sealed_again).encode():",
        "if data != sealed_again:",
        "storage/test_files.py::test_a_seal_breaks_at_any_change",
    ),
    Mutation(
        "weights for something else are taken",
        "storage/trees.py",
        "if found.get(name) != value:",
        "if found.get(name, value) != value:",
        "storage/test_trees.py::test_weights_for_something_else_are_refused",
    ),
]

EXPERIMENTS = [
    Mutation(
        "types are in another order",
        "experiments/salesman/task.py",
        'TYPES = ("novice", "intermediate", "skilled")',
        'TYPES = ("skilled", "intermediate", "novice")',
        "pipeline/test_seats.py::test_types_come_in_their_order",
    ),
    Mutation(
        "partners have the labels of others",
        "pipeline/partners.py",
        "labels = jnp.eye(len(study.task.types))[",
        "labels = jnp.eye(len(study.task.types))[::-1][",
        "pipeline/test_seats.py::test_types_come_in_their_order",
    ),
    Mutation(
        "agents are evaluated with their training partners",
        "pipeline/evaluation.py",
        "        partners = partners_of(study, study.held_out, inputs)\n",
        "        partners = partners_of(study, study.partners, inputs)\n",
        "pipeline/test_seats.py::test_agents_are_measured_with_partners_that_nobody_trained_with",
    ),
    Mutation(
        "an evaluation is given training partners",
        "pipeline/evaluation.py",
        "study.episodes // study.batch, Met(study.held_out), ",
        "study.episodes // study.batch, Met(study.partners), ",
        "pipeline/test_seats.py::test_what_a_stage_may_look_at",
    ),
    Mutation(
        "settings are chosen with held-out partners",
        "pipeline/evaluation.py",
        "partners = partners_of(study, study.partners, inputs, seed)",
        "partners = partners_of(study, study.held_out, inputs)",
        "pipeline/test_seats.py::test_what_is_chosen_is_chosen_with_training_partners_alone",
    ),
    Mutation(
        "the worse mode is chosen",
        "pipeline/results.py",
        "return max(MODES, key=mean)",
        "return min(MODES, key=mean)",
        "pipeline/test_seats.py::test_the_mode_that_earns_more_is_chosen",
    ),
    Mutation(
        "sampling is greedy, and being greedy is to sample",
        "pipeline/seats.py",
        'MODES = {"sample": False, "argmax": True}',
        'MODES = {"sample": True, "argmax": False}',
        "pipeline/test_seats.py::test_only_one_mode_is_greedy",
    ),
    Mutation(
        "the predictor's agent is told nothing",
        "pipeline/co_op.py",
        "acting_on(belief, beginning.networks, study.conditioning)",
        "acting_on(ConstantBelief(jnp.zeros(len(task.types))), beginning.networks, study.conditioning)",
        "pipeline/test_seats.py::test_the_predictor_learns_from_an_agent_that_acts_on_its_prediction",
    ),
    Mutation(
        "the conditioned policy is told nothing in training",
        "pipeline/co_op.py",
        "return BehaviourConditioned(ConstantBelief(label), policy)",
        "return BehaviourConditioned(ConstantBelief(0 * label), policy)",
        "pipeline/test_seats.py::test_the_policy_is_told_the_type_and_the_control_is_not",
    ),
    Mutation(
        "the label-blind control is told the type",
        "pipeline/self_play.py",
        "return BehaviourConditioned(ConstantBelief(jnp.zeros_like(label)), policy)",
        "return BehaviourConditioned(ConstantBelief(label), policy)",
        "pipeline/test_seats.py::test_the_policy_is_told_the_type_and_the_control_is_not",
    ),
    Mutation(
        "training goes on from a novice",
        "pipeline/self_play.py",
        "return jax.tree.map(lambda leaf: leaf[-1], self.snapshots)",
        "return jax.tree.map(lambda leaf: leaf[0], self.snapshots)",
        "pipeline/test_seats.py::test_a_policy_goes_on_from_the_skilled_clone_of_its_own_seed",
    ),
    Mutation(
        "shuffled labels are the true ones",
        "pipeline/seats.py",
        '"shuffled_label": jax.random.permutation(key, labels)',
        '"shuffled_label": labels',
        "pipeline/test_seats.py::test_what_else_a_policy_is_told",
    ),
    Mutation(
        "what is lost by the predictor is all that is lost",
        "pipeline/regret_tables.py",
        "(predicted - inferred, inferred - told, *last)",
        "(predicted, inferred - told, *last)",
        "pipeline/test_stages.py::test_losses_are_told_apart_by_who_knows_more",
    ),
    Mutation(
        "regret has the wrong sign",
        "pipeline/regret.py",
        "((most, total), (length, fewest))",
        "((total, most), (length, fewest))",
        "pipeline/test_regret.py::test_layouts_partners_and_starts_are_held_against_their_own_best_response",
    ),
    Mutation(
        "whoever plays from starts is told what the other partner is",
        "evaluation/starts.py",
        "jax.lax.map(with_one, (partners.players, told))",
        "jax.lax.map(with_one, (partners.players, told[::-1]))",
        "evaluation/test_starts.py::test_every_partner_is_met_from_every_start_by_who_is_told_its_label",
    ),
    Mutation(
        "a type of many partners counts for more",
        "experiments/salesman/oracle.py",
        "shares = labels / jnp.sum(labels, axis=0, keepdims=True)",
        "shares = labels / jnp.sum(labels)",
        "experiments/test_salesman_oracle.py::test_partners_of_a_type_are_averaged_over_populations",
    ),
    Mutation(
        "the first networks of a training are evaluated, not the finished ones",
        "experiments/matrix_game/scores.py",
        "lambda batch: (-1, batch)",
        "lambda batch: (0, batch)",
        "pipeline/test_stages.py::test_the_finished_networks_are_evaluated",
    ),
    Mutation(
        "luck is counted twice",
        "experiments/matrix_game/scores.py",
        'last[method] - (last["bayes"] - exact)',
        'last[method] + (last["bayes"] - exact)',
        "pipeline/test_stages.py::test_the_luck_of_the_bayes_player_is_taken_off",
    ),
    Mutation(
        "the shuffled label is one's own",
        "experiments/matrix_game/scores.py",
        'jnp.roll(predicted.infos[MAIN]["belief"], 1, axis=0)',
        'jnp.roll(predicted.infos[MAIN]["belief"], 0, axis=0)',
        "experiments/test_matrix_game.py::test_no_label_reaches_an_agent_in_execution",
    ),
    Mutation(
        "a learning curve adds up what it should average",
        "pipeline/stages.py",
        "curve.at[point].add(i / chunks_a_point)",
        "curve.at[point].add(i)",
        "pipeline/test_stages.py::test_a_learning_curve_counted_by_hand",
    ),
    Mutation(
        "training and evaluation share their chances",
        "pipeline/stages.py",
        "return jax.random.fold_in(key, zlib.crc32(purpose.encode()))",
        "return jax.random.fold_in(key, len(purpose) * 0)",
        "pipeline/test_stages.py::test_every_seed_and_every_purpose_has_chances_of_its_own",
    ),
]

MUTATIONS = [*GAMES, *ENCOUNTERS, *LEARNING, *AGENTS, *EVALUATION, *ORACLES, *PARTNERS, *STORAGE, *EXPERIMENTS]
