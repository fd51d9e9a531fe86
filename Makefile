# The two commands: `make reproduce` and `make test`. Each sets up what it needs in .venv, on any machine with
# Python 3.11+ and make. `make PYTHON=python3.12 test` takes another Python.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

# As a variable, for it then holds for what builds the package, too.
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt

.PHONY: help reproduce reproduce-full test fast lint types pytest clean-tree results results-matrix-game results-salesman tuning clean

help:
	@echo "make reproduce        the matrix game, and the published agents of the salesman: tables and figures (in runs/)"
	@echo "make reproduce-full   the same, with the agents of the salesman trained from nothing (an afternoon)"
	@echo "make test             format, lint, types and all tests"
	@echo "make fast             the quick tests only"
	@echo "make results          remake the committed results/ from a clean tree"
	@echo "make tuning           search the training settings again, from a clean tree (about an hour)"
	@echo "make clean            remove the virtual environment and runs/"

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "coadapt needs Python 3.11 or newer; say which one with: make PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(READY)

reproduce: $(READY)
	$(BIN)/coadapt reproduce matrix-game
	$(BIN)/coadapt reproduce salesman --shipped
	$(BIN)/coadapt report matrix_game salesman_shipped --to runs

reproduce-full: $(READY)
	$(BIN)/coadapt reproduce matrix-game
	$(BIN)/coadapt reproduce salesman
	$(BIN)/coadapt report matrix_game salesman --to runs

test: lint types pytest

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/pyright

# Most of the time goes into compiling, which takes one core: so several files at a time.
SIDE_BY_SIDE := --numprocesses auto --maxprocesses 4 --dist loadfile

pytest: $(READY)
	$(BIN)/pytest $(SIDE_BY_SIDE)

fast: $(READY)
	$(BIN)/pytest $(SIDE_BY_SIDE) -m 'not slow'

clean-tree:
	@git rev-parse HEAD > /dev/null && test -z "$$(git status --porcelain)" || \
		{ echo "The tree has uncommitted changes; commit or stash them, so that results name the code that made them."; exit 1; }

results: results-matrix-game results-salesman

results-matrix-game: clean-tree $(READY)
	$(BIN)/coadapt reproduce matrix-game --preset fast --run results_matrix_game --publish results/matrix_game

# The weights that come with the package are those of the results.
results-salesman: clean-tree $(READY)
	$(BIN)/coadapt reproduce salesman --preset fast --run results_salesman --publish results/salesman
	for agents in README.md behaviour-conditioned label-blind lstm partners; do \
		rm -rf src/coadapt/weights/salesman/$$agents; \
		cp -r runs/results_salesman/results/agents/$$agents src/coadapt/weights/salesman/; \
	done

tuning: clean-tree $(READY)
	$(BIN)/coadapt tune matrix-game --publish results/matrix_game_tuning

clean:
	rm -rf .venv runs
