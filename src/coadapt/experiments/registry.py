"""All experiments by name, so that a run can go on by what its folder says it is."""

from coadapt.experiments import matrix_game, salesman

EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (matrix_game.EXPERIMENT, matrix_game.TUNING, salesman.EXPERIMENT, salesman.SHIPPED)
}
