# Two commands do everything: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
UV := $(BIN)/uv
export UV_PYTHON := $(abspath $(BIN)/python)
# The authorities that the system trusts, as pip does: a company may have its own.
export UV_SYSTEM_CERTS := true

.PHONY: help setup demo test test-long check format pictures bench compiled test-compiled proto clean
help: ## This list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: .venv/.ready ## Virtual environment with everything in it
.venv/.ready: pyproject.toml clients/python/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Arena needs Python 3.11 or newer, not " + sys.version.split()[0] + "; name one with make PYTHON=…" if sys.version_info < (3, 11) else 0)'
	@echo "Setting up the virtual environment in .venv …"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@test -x $(UV) || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(UV) pip install --quiet -e . -e clients/python --group dev
	@touch $@

demo: .venv/.ready ## A server, three bots, a ladder and a replay in under a minute
	@$(BIN)/arena demo

# Two at a time: many tests wait for real servers and bots. A file's tests stay together and in their order.
PARALLEL := --numprocesses=2 --max-worker-restart=0 --dist=loadfile --no-loadscope-reorder

test: .venv/.ready ## Every test, with coverage
	@$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(PARALLEL)
	@$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --fail-under=95
	$(BIN)/coverage report --include='engine/*,arena/match/*' --fail-under=100

test-long: .venv/.ready ## The tests that take minutes, too
	$(BIN)/pytest --long

check: .venv/.ready .venv-proto/.ready ## Format, lint, types, layers, protocol lint and drift
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/buf lint
	.venv-proto/bin/python proto/generate.py --check

format: .venv/.ready ## Put the code in shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

pictures: .venv/.ready ## The README's pictures, from a real demo
	$(BIN)/arena demo --seconds 20 --data build/pictures
	$(BIN)/python docs/pictures.py build/pictures

compiled: build/compiled/.ready ## The sources of engine, matches and house bots, compiled with mypyc into build/compiled
build/compiled/.ready: .venv/.compile compiled/build.py $(shell find engine arena -name '*.py')
	@echo "Compiling engine, matches and house bots …"
	@$(BIN)/python compiled/build.py $(@D)
	@touch $@
.venv/.compile: .venv/.ready
	@$(UV) pip install --quiet --group compile
	@touch $@

test-compiled: compiled ## The tests of rules, matches, replays, house bots and whole servers, with these compiled
	$(BIN)/pytest --compiled $(PARALLEL) tests/test_compiled.py tests/engine tests/conformance tests/match tests/replay tests/house \
		$(addprefix tests/end_to_end/test_e2e_,games.py limits.py misbehaviour.py restart.py tls.py)

bench: .venv/.bench compiled ## Every figure the README quotes
	$(BIN)/python -m bench
.venv/.bench: .venv/.ready
	@$(UV) pip install --quiet --group bench
	@touch $@

proto: .venv-proto/.ready ## Generate the protocol's code
	.venv-proto/bin/python proto/generate.py
.venv-proto/.ready: proto/requirements.txt .venv/.ready
	@test -x .venv-proto/bin/python || $(PYTHON) -m venv .venv-proto
	@UV_PYTHON=$(abspath .venv-proto/bin/python) $(UV) pip install --quiet -r proto/requirements.txt
	@touch $@

clean: ## Remove what was built
	rm -rf .venv .venv-proto build demo-data .coverage* .mypy_cache .ruff_cache .pytest_cache
