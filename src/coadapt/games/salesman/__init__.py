"""The travelling-salesman gridworld: its rules, its layouts, how networks see it, and its symmetries."""
