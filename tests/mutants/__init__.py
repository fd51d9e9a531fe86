"""Mistakes on purpose, one line each, and the test that notices it: `make mutants`."""
