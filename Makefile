# Needs GNU make and a POSIX shell. `make` alone lists the targets.

SHELL := /bin/sh
# Keep compiled tests: compiling all of them takes longer than running most of them.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BENCH_VENV := .venv-bench
BIN := $(VENV)/bin
RUN_READY := $(VENV)/.ready-to-run
DEV_READY := $(VENV)/.ready-to-develop
PIP := -m pip --quiet --disable-pip-version-check install
# More arguments for the tool behind a target: make test ARGS='-k markdown'
ARGS :=
# One process per core; idle ones take tests from busy ones. For a single process: make test PARALLEL=
PARALLEL := -n auto --dist worksteal

# A name on PATH proves little: version managers install stubs, and Debian splits off venv. So try each Python.
define make_venv
usable='import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11) or sys.version_info.releaselevel != "final")'; \
minor=40; found='$(PYTHON)'; \
while [ -z "$$found" ] && [ $$minor -ge 11 ]; do \
	if python3.$$minor -c "$$usable" >/dev/null 2>&1; then found=python3.$$minor; fi; \
	minor=$$((minor - 1)); \
done; \
if [ -z "$$found" ] && python3 -c "$$usable" >/dev/null 2>&1; then found=python3; fi; \
if [ -z "$$found" ]; then \
	echo "make: no Python 3.11 or newer with venv on PATH" >&2; \
	echo "make: on Debian, run 'apt install python3 python3-venv'; elsewhere name one: make PYTHON=/path/to/python3" >&2; \
	exit 1; \
fi; \
echo "$$found -m venv $(1)"; "$$found" -m venv $(1)
endef

.DELETE_ON_ERROR:

.PHONY: help
help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

.PHONY: report
report: $(RUN_READY) ## Trace this repository
	$(BIN)/duvet report $(ARGS)

.PHONY: test
test: $(DEV_READY) ## Run the unit and command tests
	$(BIN)/pytest $(PARALLEL) $(ARGS)

.PHONY: test-slow
test-slow: $(DEV_READY) ## Run the slow tests: browser, kill -9, load, real projects
	$(BIN)/pytest $(PARALLEL) tests/slow $(ARGS)
	DUVET_SEEDS=$${DUVET_SEEDS:-3} $(BIN)/pytest $(PARALLEL) -m "hypothesis or seeded" --hypothesis-profile thorough $(ARGS)

.PHONY: test-all
test-all: test test-slow ## Run all tests

.PHONY: check
check: lint types layers pages traced ## Run all checks that are not tests

.PHONY: lint
lint: $(DEV_READY) ## Check the code with ruff
	$(BIN)/ruff check
	$(BIN)/ruff format --check

.PHONY: house
house: ## Print the layers and every module
	@python3 man/house.py 2>/dev/null || $(BIN)/python man/house.py

.PHONY: types
types: $(DEV_READY) ## Check types with mypy
	$(BIN)/mypy

.PHONY: layers
layers: $(DEV_READY) ## Check that imports follow the layers
	$(BIN)/lint-imports

.PHONY: pages
pages: $(DEV_READY) ## Check that the man pages are current
	$(BIN)/pytest --quiet tests/cli/test_man.py

.PHONY: traced
traced: $(RUN_READY) ## Check duvet's own requirements with duvet
	$(BIN)/duvet report --ci

.PHONY: format
format: $(DEV_READY) ## Format the code and fix what ruff can fix
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# pytest fails a run that rewrites a page, so the second run decides.
.PHONY: man
man: $(DEV_READY) ## Regenerate the man pages
	@$(BIN)/pytest --quiet --snapshot-update tests/cli/test_man.py >/dev/null || $(BIN)/pytest --quiet tests/cli/test_man.py
	@ls man/*.[157]

.PHONY: docs
docs: $(RUN_READY) ## Build the documentation site in build/docs/site
	$(BIN)/python $(PIP) --editable '.[docs]'
	rm -rf build/docs
	$(BIN)/python -m man.site build/docs
	$(BIN)/zensical build --strict --config-file build/docs/zensical.toml

.PHONY: script
script: $(DEV_READY) ## Regenerate the script of the HTML report
	@$(BIN)/pytest --quiet --snapshot-update tests/unit/templates/test_script.py >/dev/null || $(BIN)/pytest --quiet tests/unit/templates/test_script.py

.PHONY: bench
bench: $(BENCH_VENV)/bin/python ## Measure speed and memory against the budgets
	rm -rf build
	$(BENCH_VENV)/bin/python $(PIP) '.[semantic]' playwright
	$(BENCH_VENV)/bin/python -m tests.bench --duvet $(BENCH_VENV)/bin/duvet $(ARGS)

.PHONY: soak
soak: $(DEV_READY) ## Load a server for ten minutes and check its memory
	$(BIN)/python -m tests.soak --duvet $(BIN)/duvet --seconds 600 $(ARGS)

.PHONY: clean
clean: ## Remove everything that these targets created
	rm -rf $(VENV) $(BENCH_VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(RUN_READY): pyproject.toml | $(BIN)/python
	$(BIN)/python $(PIP) --editable .
	@touch $@

$(DEV_READY): pyproject.toml | $(BIN)/python
	$(BIN)/python $(PIP) --editable '.[dev]'
	@touch $(RUN_READY) $@

$(VENV)/bin/python $(BENCH_VENV)/bin/python: %/bin/python:
	@rm -rf $*; $(call make_venv,$*)
