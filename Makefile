# make run    fresh machine -> the demo corpus fully materialized, answers shown
# make test   fresh machine -> the tests pass
# make test-whole    the rounds of kills, damage and odd input that `make test` tries once each
# make serve  ask the papers in a browser or through the HTTP API (PORT=8001 for another port)
# make ui     the Dagster UI over the same data and the same run history (PORT=3001 for another port)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest --numprocesses auto --dist worksteal
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps

.PHONY: run test test-whole serve ui check lock clean

run: $(VENV)/installed
	@$(BIN)/rag-assets run --show-answers

test: $(VENV)/installed-dev
	@$(PYTEST)

test-whole: $(VENV)/installed-dev
	@$(PYTEST) -m whole

serve: $(VENV)/installed
	@$(BIN)/rag-assets serve $(if $(PORT),--port $(PORT))

ui: $(VENV)/installed
	@$(BIN)/rag-assets ui $(if $(PORT),--port $(PORT))

check: $(VENV)/installed-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/dg check defs --use-active-venv
	@$(BIN)/python -m benchmarks.package_size

$(VENV)/installed: requirements.lock pyproject.toml hatch_build.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rag_assets needs Python 3.11 or newer: make PYTHON=python3.12 run")'
	@echo "Installing into $(VENV) (once; a minute or two) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP_INSTALL) --require-hashes --requirement requirements.lock
	@$(PIP_INSTALL) --no-build-isolation --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed requirements-dev.lock
	@$(PIP_INSTALL) --require-hashes --requirement requirements-dev.lock
	@touch $@

# Maintainers only: pins every version with its hashes, and no addresses. Needs uv.
lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	    --no-emit-index-url --extra build --extra dg --output-file requirements.lock pyproject.toml
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	    --no-emit-index-url --constraints requirements.lock --extra build --extra dask --extra postgres \
	    --extra qdrant --extra telemetry --output-file requirements-image.lock pyproject.toml
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	    --no-emit-index-url --extra build --extra dev --extra dg --output-file requirements-dev.lock pyproject.toml

clean:
	rm -rf $(VENV) data/.dagster data/cache data/index data/output data/logs
