# The working commands of this repository; each target says what it does in its `##` note.
# Settings pass through the environment: `DEERFLOW_LITE_PORT=8080 make run`, or shorter `make run PORT=8080 INSTANCE=/data`.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
CLIENTS := tests/clients/node_modules
SERVE_OPTIONS := $(if $(INSTANCE),--instance $(INSTANCE)) $(if $(PORT),--port $(PORT))

.DEFAULT_GOAL := help
.PHONY: help run test lint bench soak clean

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' Makefile

run: .venv/installed ## install what is missing and serve at http://127.0.0.1:2026
	@exec $(BIN)/python -m deerflow_lite serve $(SERVE_OPTIONS)

test: .venv/installed-test $(CLIENTS)/.package-lock.json ## run the tests
	@$(BIN)/python -m pytest -n 2

lint: .venv/installed-test ## check style and types
	@$(BIN)/ruff check deerflow_lite tests
	@$(BIN)/mypy

bench: .venv/installed-test ## measure this machine
	@$(BIN)/python -m tests.bench

soak: .venv/installed-test ## kill the service 200 times, then use it for 20 minutes
	@$(BIN)/python -m tests.soak $(if $(KILLS),--kills $(KILLS)) $(if $(MINUTES),--minutes $(MINUTES))

clean: ## remove what was installed and built; the conversations stay
	rm -rf .venv .venv-peer $(CLIENTS) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find deerflow_lite tests -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/installed: .venv/made setup.cfg pyproject.toml
	@echo "Installing into .venv ..."
	@$(PIP) --editable .
	@touch $@

.venv/installed-test: .venv/installed
	@echo "Installing what the tests need ..."
	@$(PIP) --editable '.[test]'
	@touch $@

# Without them their tests are skipped, and say so.
$(CLIENTS)/.package-lock.json: tests/clients/package-lock.json | .venv/installed-test
	@echo "Installing LangGraph's JavaScript clients ..."
	-@PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --silent --prefix tests/clients
