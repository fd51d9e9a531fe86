# The two commands: `make reproduce` and `make test`. Each sets up what it needs in .venv, on any machine with
# Python 3.11+ and make. `make PYTHON=/path/to/python3 test` takes another Python than the newest that is found.

# A command that is there need not run: version managers leave stand-ins for every Python that they know of.
PYTHONS := python3.13 python3.12 python3.11 python3
VERSION := import sys; print(sys.version_info[:2])
RUNS := import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))
ifndef PYTHON
PYTHON := $(shell for each in $(PYTHONS); do if $$each -c '$(RUNS)' > /dev/null 2>&1; then echo $$each; break; fi; done)
endif
BIN := .venv/bin
READY := .venv/.ready

# As a variable, for it then holds for what builds the package, too.
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt

.PHONY: help reproduce quick-matrix-game quick-salesman reproduce-full test fast mutants lint types pytest clean-tree results results-matrix-game results-salesman weights tuning bench probe clean

help:
	@echo "make reproduce        trains both of the paper's experiments from nothing: tables and figures (a quarter of an hour)"
	@echo "make reproduce-full   the same at full length, with all seeds and baselines (an afternoon)"
	@echo "make test             format, lint, types and all tests"
	@echo "make fast             the quick tests only"
	@echo "make mutants          mistakes on purpose, and which test notices each; ONLY=word for some of them"
	@echo "make results          remake the committed results/ from a clean tree"
	@echo "make weights          train the pretrained agents and partners of the salesman again (an afternoon)"
	@echo "make tuning           search the training settings again, from a clean tree (about an hour)"
	@echo "make bench            measure how fast it is beside its peers, in environments of their own (about an hour)"
	@echo "make probe            whether the compiler under JAX computes what was written, in every Python there is"
	@echo "make clean            remove the virtual environments and runs/"

$(READY): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" && $(PYTHON) -c '$(RUNS)' || { echo "coadapt needs Python 3.11 or newer, with venv and pip;" \
		"say which one with: make PYTHON=/path/to/python3"; exit 1; }
	@echo "Setting up .venv with $$($(PYTHON) --version): about a minute and a half."
	@if [ -x $(BIN)/python ] && [ "$$($(BIN)/python -c '$(VERSION)')" != "$$($(PYTHON) -c '$(VERSION)')" ]; then \
		echo "The .venv that is there is of another Python, and made anew."; rm -rf .venv; fi
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off --editable '.[dev]'
	@touch $(READY)

# Both experiments at a time: neither of them alone keeps two cores busy. Two cannot draw bars on one terminal, so they
# are told that it is a dumb one and write lines.
reproduce: $(READY)
	@TERM=dumb $(MAKE) --no-print-directory --jobs 2 quick-matrix-game quick-salesman
	$(BIN)/coadapt report quick_matrix_game quick_salesman quick_salesman_pretrained --to runs

quick-matrix-game: $(READY)
	$(BIN)/coadapt reproduce matrix-game --preset quick --run quick_matrix_game

quick-salesman: $(READY)
	$(BIN)/coadapt reproduce salesman --preset quick --run quick_salesman
	$(BIN)/coadapt reproduce salesman --pretrained --preset quick --run quick_salesman_pretrained

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
	@PATH="$(CURDIR)/$(BIN):$$PATH" pyright --verifytypes coadapt --ignoreexternal > .venv/typed.log \
		&& grep "completeness" .venv/typed.log || { grep "error" .venv/typed.log; exit 1; }

# Most of the time goes into compiling, which takes one core: so several files at a time.
SIDE_BY_SIDE := --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder --durations 12

pytest: $(READY)
	$(BIN)/pytest $(SIDE_BY_SIDE)

fast: $(READY)
	$(BIN)/pytest $(SIDE_BY_SIDE) -m 'not slow'

mutants: $(READY)
	$(BIN)/python -m tests.mutants $(ONLY)

clean-tree:
	@git rev-parse HEAD > /dev/null && test -z "$$(git status --porcelain -- . ':!results')" || \
		{ echo "The tree has uncommitted changes; commit or stash them, so that results name the code that made them."; exit 1; }

results: results-matrix-game results-salesman

results-matrix-game: clean-tree $(READY)
	$(BIN)/coadapt reproduce matrix-game --preset fast --run results_matrix_game --publish results/matrix_game

# The results are those of the weights that come with the package, so whoever has the package can measure them again.
results-salesman: clean-tree $(READY)
	$(BIN)/coadapt reproduce salesman --pretrained --run results_salesman --publish results/salesman \
		--set episodes=20000 batch=1000 measures.layouts=200 measures.joint_layouts=1000 measures.episodes=1000

weights: clean-tree $(READY)
	$(BIN)/coadapt reproduce salesman --preset fast --run weights_salesman
	set -e; for agents in README.md training.json behaviour-conditioned label-blind lstm lstm-matched partners; do \
		test -e runs/weights_salesman/results/agents/$$agents; \
		rm -rf src/coadapt/weights/salesman/$$agents; \
		cp -r runs/weights_salesman/results/agents/$$agents src/coadapt/weights/salesman/; \
	done
	set -e; for about in provenance.json times.md; do \
		cp runs/weights_salesman/results/$$about src/coadapt/weights/salesman/training-$$about; \
	done

tuning: clean-tree $(READY)
	$(BIN)/python -m tuning --publish results/matrix_game_tuning

# Each peer has an environment of its own, so that none of them disturbs ours; their versions are theirs, too.
PEERS := torch numpy jaxmarl jumanji
PEERS_READY := $(PEERS:%=.venv-peers/%/.ready)
PEER_PIP = PIP_CONSTRAINT= .venv-peers/$*/bin/python -m pip install --quiet --disable-pip-version-check

.venv-peers/%/.ready: benchmarks/peers/requirements-%.txt
	$(PYTHON) -m venv .venv-peers/$*
	if [ $* = torch ]; then $(PEER_PIP) torch==2.13.0; fi
	$(PEER_PIP) --requirement $<
	@touch $@

bench: clean-tree $(READY) $(PEERS_READY)
	$(BIN)/python -m benchmarks --peers .venv-peers --to results/bench

# Our own functions, compiled, beside NumPy in double precision: in the newest and in every other Python there is.
PROBED := $(PYTHONS:%=probe-%)
.PHONY: $(PROBED)

$(PROBED): probe-%:
	@if $* -c '$(RUNS)' > /dev/null 2>&1; then \
		$* -m venv .venv-probe/$* && \
		.venv-probe/$*/bin/python -m pip install --quiet --disable-pip-version-check --editable . && \
		.venv-probe/$*/bin/python -m tests.compiler.probe; \
	else echo "$* does not run here"; fi

probe: $(PROBED)

clean:
	rm -rf .venv .venv-peers .venv-probe runs
