# Two commands do everything: `make demo` and `make test`.
PYTHON ?= python3
# The protocol's tools, the oldest that serve, are there ready-made up to Python 3.13.
PROTO_PYTHON ?= $(PYTHON)
BIN := .venv/bin
UV := $(BIN)/uv
export UV_PYTHON := $(abspath $(BIN)/python)
# The authorities that the system trusts, as pip does: a company may have its own.
export UV_SYSTEM_CERTS := true
# The lock always names the public index; packages come from the index that this machine is configured with.
PUBLIC := --default-index https://pypi.org/simple
EXPORT := $(UV) export --quiet --locked $(PUBLIC)
# Many containers forbid Python to keep what it compiled; the tests start a thousand programs, each three times as long.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup lock demo test coverage test-rest coverage-all test-quick test-failures test-nodes test-long test-postgresql check check-types check-rest format pictures docs bench bench-clients compiled test-compiled bundle image test-languages client-typescript client-go client-cpp client-rust client-java proto promise clean
help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: .venv/.ready ## Virtual environment with everything in it, in the versions of uv.lock
.venv/.ready: uv.lock pyproject.toml clients/python/pyproject.toml engine/pyproject.toml trio_grpc/pyproject.toml | $(UV)
	@echo "Setting up the virtual environment in .venv …"
	@$(EXPORT) --output-file .venv/dev.txt
	@$(UV) pip sync --quiet .venv/dev.txt
	@touch $@
$(UV):
	@$(PYTHON) -c 'import sys; sys.exit("Arena needs Python 3.11 or newer, not " + sys.version.split()[0] + "; name one with make PYTHON=…" if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv

lock: | $(UV) ## Bring uv.lock up to pyproject.toml; with UPGRADE=1 also to the newest versions
	@$(UV) lock $(PUBLIC) $(if $(UPGRADE),--upgrade)

demo: .venv/.ready ## A server, three bots, a ladder and a replay in under a minute
	@$(BIN)/arena demo

# A file's tests stay together and in their order.
SPREAD := --max-worker-restart=0 --dist=loadfile --no-loadscope-reorder
# Three at a time on two cores: many tests wait for real servers and bots.
PARALLEL := --numprocesses=3 $(SPREAD)

test: .venv/.ready ## Every test
	$(BIN)/pytest $(PARALLEL)

# The code that defines the games. Its own tests run every line of it.
RULES := engine,arena/match
UNCOVERED := engine/version.py,engine/adapters/*
MEASURED := tests/conformance tests/engine tests/match tests/test_library.py
coverage: .venv/.ready ## The tests of rules and matches, and that they run every line and branch of them
	@$(BIN)/coverage erase
	$(BIN)/coverage run --source=$(RULES) -m pytest $(PARALLEL) $(MEASURED)
	@$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --show-missing --omit=$(UNCOVERED) --fail-under=100

test-rest: .venv/.ready ## Every test that make coverage does not run
	$(BIN)/pytest $(PARALLEL) $(MEASURED:%=--ignore=%)

coverage-all: .venv/.ready ## Every test, and how much of all the code they run: twice as long as make test
	@$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(PARALLEL)
	@$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --fail-under=95
	$(BIN)/coverage report --include='engine/*,arena/match/*' --omit='engine/adapters/*' --fail-under=100

test-quick: .venv/.ready ## The tests that need no process, no socket and little time: two to three minutes of processor time
	$(BIN)/pytest --numprocesses=auto --maxprocesses=3 $(SPREAD) --quick

E2E_POSTGRESQL := tests/end_to_end/test_e2e_postgresql.py tests/end_to_end/test_e2e_partitions.py
test-failures: .venv/.ready ## Kills and a stop of nodes that share PostgreSQL, one after the other: some 3 minutes
	$(BIN)/pytest --long $(E2E_POSTGRESQL) -k "kills and [5] or transaction-20"

test-nodes: .venv/.ready ## Several nodes: deaths, stops, events, few places, failures of PostgreSQL, pairings; hours
	$(BIN)/pytest --long tests/end_to_end/test_e2e_nodes.py tests/end_to_end/test_e2e_node_clients.py tests/end_to_end/test_e2e_machines.py $(E2E_POSTGRESQL) tests/end_to_end/test_e2e_pairs.py tests/server/test_server_nodes.py tests/store/test_store_nodes.py

test-long: .venv/.ready ## The tests that take minutes, too
	$(BIN)/pytest --long

test-postgresql: .venv/.ready ## The tests of the store and the crash tests on PostgreSQL
	$(BIN)/pytest tests/store tests/crash --postgresql --long

check: ## Lock, format, lint, types, layers, settings, prose, protocol lint and drift
	@$(MAKE) --jobs=2 check-rest check-types
check-types: .venv/.ready
	$(BIN)/mypy
check-rest: .venv/.ready .venv-proto/.ready
	$(UV) lock --check $(PUBLIC)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32 clients/python
	$(BIN)/lint-imports
	$(BIN)/python tools/structure.py
	$(BIN)/python tools/settings.py
	$(BIN)/python tools/prose.py
	$(BIN)/buf lint
	$(BIN)/buf breaking --against proto/promised.binpb
	.venv-proto/bin/python proto/generate.py --check

format: .venv/.ready ## Put the code in shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

pictures: .venv/.ready ## The README's pictures, from a real demo
	$(BIN)/arena demo --seconds 20 --data build/pictures
	$(BIN)/python docs/pictures.py build/pictures

docs: .venv/.docs ## The pages as a site, and its wheel, in dist/ and installed: arena web shows it at /docs
	@$(BIN)/python tools/documentation.py
	@$(UV) pip install --quiet --no-deps --reinstall dist/arena_docs-*.whl
.venv/.docs: .venv/.ready
	@$(EXPORT) --only-group docs --output-file .venv/docs.txt
	@$(UV) pip install --quiet --requirements .venv/docs.txt
	@touch $@

compiled: build/compiled/.ready ## The sources of engine, matches and house bots, compiled with mypyc into build/compiled
build/compiled/.ready: .venv/.compile tools/compile.py $(shell find engine trio_grpc arena clients/python/arena_client/v1 -name '*.py' -o -name '*.pyi')
	@echo "Compiling engine, matches and house bots …"
	@$(BIN)/python tools/compile.py $(@D)
	@touch $@
.venv/.compile: .venv/.ready
	@$(EXPORT) --only-group compile --output-file .venv/compile.txt
	@$(UV) pip install --quiet --requirements .venv/compile.txt
	@touch $@

test-compiled: compiled ## The tests of every room that has compiled modules, and of the whole, with these compiled
	$(BIN)/pytest --compiled $(PARALLEL)

bundle: docs ## One archive for this system and Python that installs without a network: dist/arena-*.tar.gz
	@$(BIN)/python tools/bundle.py $(if $(MINISIGN_KEY),--key $(MINISIGN_KEY)) dist/arena_docs-*.whl $(WHEELS)

# BASE has the Python of the archive. BUNDLE=FOLDER takes an archive that is unpacked already.
BASE ?= docker.io/library/debian:bookworm-slim
BUILDAH ?= buildah --storage-driver vfs
image: $(if $(BUNDLE),,bundle) ## An image of the server from this archive, in buildah's store: localhost/arena
	$(BUILDAH) bud --isolation chroot --format docker --build-arg BASE=$(BASE) --tag localhost/arena \
		--file contrib/container/Containerfile $(or $(BUNDLE),build/bundle/newest)

# What a language's SDK is made with may be missing on a user's machine, but not in CI.
TYPESCRIPT := clients/typescript
client-typescript: build/client-typescript/.ready ## The SDK for TypeScript, tested, as an npm package in build/client-typescript
build/client-typescript/.ready: $(shell find $(TYPESCRIPT) clients/conformance -type f -not -path '*/node_modules/*' -not -path '*/dist/*')
	@if command -v npm >/dev/null; then mkdir -p $(@D) && cd $(TYPESCRIPT) && \
		npm ci --ignore-scripts --no-audit --no-fund && rm -rf dist && npm test && \
		npm pack --ignore-scripts --pack-destination ../../$(@D) && touch ../../$@; \
	else echo "there is no npm here: the SDK for TypeScript is left out"; test "$(CI)" != true; fi

GO := clients/go
GO_TOOLS := $(abspath build/client-go/bin)
client-go: build/client-go/.ready ## The SDK for Go, vetted and tested, and its samples in build/client-go
build/client-go/.ready: $(shell find $(GO) clients/conformance -type f)
	@if command -v go >/dev/null; then mkdir -p $(@D) && cd $(GO) && \
		go vet ./... && go test ./... && go build -buildvcs=false -o ../../$(@D)/ ./samples/... && touch ../../$@; \
	else echo "there is no go here: the SDK for Go is left out"; test "$(CI)" != true; fi

CPP := clients/cpp
client-cpp: build/client-cpp/.ready ## The SDK for C++, tested, as a CMake package in build/client-cpp
build/client-cpp/.ready: $(shell find $(CPP) clients/conformance proto/arena -type f)
	@if command -v cmake >/dev/null && command -v grpc_cpp_plugin >/dev/null; then \
		cmake -S $(CPP) -B $(@D) && cmake --build $(@D) --parallel $(CPP_JOBS) && \
		ctest --test-dir $(@D) --output-on-failure --no-tests=error && touch $@; \
	else echo "there is no cmake or no gRPC for C++ here: the SDK for C++ is left out"; test "$(CI)" != true; fi
CPP_JOBS ?= 2

RUST := clients/rust
client-rust: build/client-rust/.ready ## The SDK for Rust, tested, and its samples in build/client-rust
build/client-rust/.ready: $(shell find $(RUST) clients/conformance -type f)
	@if command -v cargo >/dev/null; then mkdir -p $(@D) && cd $(RUST) && export CARGO_TARGET_DIR=$(abspath $(@D)) && \
		cargo test --locked && cd ../../$(@D) && cp debug/examples/random debug/examples/rules . && touch .ready; \
	else echo "there is no cargo here: the SDK for Rust is left out"; test "$(CI)" != true; fi

JAVA := clients/java
client-java: build/client-java/.ready ## The SDK for Java, tested, with its samples and libraries in build/client-java
build/client-java/.ready: $(shell find $(JAVA) clients/conformance proto/arena -type f)
	@if command -v mvn >/dev/null; then cd $(JAVA) && \
		mvn --quiet --batch-mode package dependency:copy-dependencies -DincludeScope=runtime \
			-DoutputDirectory=../../$(@D)/jars && touch ../../$@; \
	else echo "there is no mvn here: the SDK for Java is left out"; test "$(CI)" != true; fi

# The SDKs' own targets generate or compile the same code.
test-languages: .venv/.ready ## Code generated and compiled without an SDK, in Java, and a table at which every SDK plays
	$(BIN)/pytest --long $(PARALLEL) tests/interop/test_interop_java.py tests/clients/test_clients_mixed_table.py

# A debug build of Rust, as tests have it, takes three times as long for a decision.
bench-clients: client-typescript client-go client-cpp client-rust client-java ## The samples that python -m bench.sdks measures
	@if command -v cargo >/dev/null; then \
		cd $(RUST) && CARGO_TARGET_DIR=$(abspath build/client-rust) cargo build --quiet --locked --release --example random; fi

bench: .venv/.bench compiled ## Every figure the README quotes, and those each change is held to
	$(BIN)/python -m bench
.venv/.bench: .venv/.ready
	@$(EXPORT) --only-group bench --output-file .venv/bench.txt
	@$(UV) pip install --quiet --requirements .venv/bench.txt
	@touch $@

proto: .venv-proto/.ready ## Generate the protocol's code
	.venv-proto/bin/python proto/generate.py
	@if command -v npm >/dev/null; then cd $(TYPESCRIPT) && \
		{ test -x node_modules/.bin/protoc-gen-es || npm ci --ignore-scripts --no-audit --no-fund; } && \
		PATH="$(abspath $(BIN)):$$PATH" npm run --silent generate; \
	else echo "there is no npm here: $(TYPESCRIPT)/src/v1 stays as it is"; fi
	@if command -v go >/dev/null; then cd $(GO) && GOBIN=$(GO_TOOLS) go install tool && \
		PATH="$(GO_TOOLS):$(abspath $(BIN)):$$PATH" buf generate; \
	else echo "there is no go here: $(GO)/v1 stays as it is"; fi
	@if command -v cargo >/dev/null; then cd $(RUST) && export CARGO_TARGET_DIR=$(abspath build/client-rust) && \
		cargo run --locked --package generate -- ../../proto src/v1; \
	else echo "there is no cargo here: $(RUST)/src/v1 stays as it is"; fi
.venv-proto/.ready: proto/requirements.txt .venv/.ready
	@test -x .venv-proto/bin/python || $(PROTO_PYTHON) -m venv .venv-proto
	@UV_PYTHON=$(abspath .venv-proto/bin/python) $(UV) pip install --quiet -r proto/requirements.txt
	@touch $@

promise: .venv/.ready ## Promise today's protocol: `make check` refuses what breaks it from now on
	$(BIN)/buf build --exclude-source-info -o proto/promised.binpb

clean: ## Remove what was built
	rm -rf .venv .venv-proto build dist demo-data .coverage* .mypy_cache .ruff_cache .pytest_cache
