# GNU make and a POSIX shell; `make` alone lists what there is.

SHELL := /bin/sh
# Compiled tests are kept: compiling all of them takes longer than most of them.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BENCH_VENV := .venv-bench
BIN := $(VENV)/bin
RUN_READY := $(VENV)/.ready-to-run
DEV_READY := $(VENV)/.ready-to-develop
PIP := -m pip --quiet --disable-pip-version-check install
# More for the tool behind a target: make test ARGS='-k markdown'
ARGS :=
# A process for each core; idle ones take tests from busy ones. In one process: make test PARALLEL=
PARALLEL := -n auto --dist worksteal

# A name on PATH proves little: version managers answer with stubs, and Debian splits venv off. So each is asked.
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
	echo "make: on Debian, 'apt install python3 python3-venv' brings it; elsewhere name one: make PYTHON=/path/to/python3" >&2; \
	exit 1; \
fi; \
echo "$$found -m venv $(1)"; "$$found" -m venv $(1)
endef

.DELETE_ON_ERROR:

.PHONY: help
help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

.PHONY: report
report: $(RUN_READY) ## Report on this very repository, and list what was made
	$(BIN)/duvet report $(ARGS)
	@echo; echo 'Made:'; for made in .duvet/reports/* .duvet/snapshot.txt; do \
		if [ -f "$$made" ]; then printf '  %8d bytes  %s\n' "$$(wc -c <"$$made")" "$$made"; fi; \
	done

.PHONY: test
test: $(DEV_READY) ## Run the unit tests and those of the commands
	$(BIN)/pytest $(PARALLEL) $(ARGS)

.PHONY: test-slow
test-slow: $(DEV_READY) ## Run the slow tests: a browser, kill -9, load, real projects, many examples
	$(BIN)/pytest $(PARALLEL) tests/slow $(ARGS)
	DUVET_SEEDS=$${DUVET_SEEDS:-3} $(BIN)/pytest $(PARALLEL) -m "hypothesis or seeded" --hypothesis-profile thorough $(ARGS)

.PHONY: test-all
test-all: test test-slow ## Run all tests

.PHONY: check
check: lint types layers pages traced ## Check everything that is not a test

.PHONY: lint
lint: $(DEV_READY) ## Look for mistakes and untidy layout
	$(BIN)/ruff check
	$(BIN)/ruff format --check

.PHONY: house
house: ## Draw the layers, and list every module
	@python3 man/house.py 2>/dev/null || $(BIN)/python man/house.py

.PHONY: types
types: $(DEV_READY) ## Check the types
	$(BIN)/mypy

.PHONY: layers
layers: $(DEV_READY) ## Check that imports point one way
	$(BIN)/lint-imports

.PHONY: pages
pages: $(DEV_READY) ## Check that the man pages say what the commands say
	$(BIN)/pytest --quiet tests/cli/test_man.py

.PHONY: traced
traced: $(RUN_READY) ## Check the requirements of duvet with duvet
	$(BIN)/duvet report --ci

.PHONY: format
format: $(DEV_READY) ## Lay the code out and mend what can be mended
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# pytest fails a run that rewrites a page, so the second run has the last word.
.PHONY: man
man: $(DEV_READY) ## Write the man pages again
	@$(BIN)/pytest --quiet --snapshot-update tests/cli/test_man.py >/dev/null || $(BIN)/pytest --quiet tests/cli/test_man.py
	@ls man/*.[157]

.PHONY: script
script: $(DEV_READY) ## Write the script of the page again
	@$(BIN)/pytest --quiet --snapshot-update tests/unit/templates/test_script.py >/dev/null || $(BIN)/pytest --quiet tests/unit/templates/test_script.py

.PHONY: bench
bench: $(BENCH_VENV)/bin/python ## Measure speed and memory against the budgets
	rm -rf build
	$(BENCH_VENV)/bin/python $(PIP) '.[semantic]' playwright
	$(BENCH_VENV)/bin/python -m tests.bench --duvet $(BENCH_VENV)/bin/duvet $(ARGS)

.PHONY: soak
soak: $(DEV_READY) ## Load a server for ten minutes, and look at its memory
	$(BIN)/python -m tests.soak --duvet $(BIN)/duvet --seconds 600 $(ARGS)

.PHONY: clean
clean: ## Remove everything that these targets made
	rm -rf $(VENV) $(BENCH_VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(RUN_READY): pyproject.toml | $(BIN)/python
	$(BIN)/python $(PIP) --editable .
	@touch $@

$(DEV_READY): pyproject.toml | $(BIN)/python
	$(BIN)/python $(PIP) --editable '.[dev]'
	@touch $(RUN_READY) $@

$(VENV)/bin/python $(BENCH_VENV)/bin/python: %/bin/python:
	@rm -rf $*; $(call make_venv,$*)
