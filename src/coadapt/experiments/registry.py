"""All experiments and tasks by name: a run goes on, and a saved agent is read, by what its file says it is of."""

from coadapt.experiments import matrix_game, salesman

EXPERIMENTS = {
    experiment.name: experiment for experiment in (matrix_game.EXPERIMENT, salesman.EXPERIMENT, salesman.PRETRAINED)
}
SUITES = {suite.package.game: suite for suite in (salesman.SUITE,)}
