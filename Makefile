# Everything a fresh Debian or Ubuntu machine needs is behind `make run` and `make test`.
SHELL := /bin/bash
PYTHON := .venv/bin/python
SUDO := $(if $(filter 0,$(shell id -u)),env,sudo)
PACKAGES := gcc iproute2 iputils-ping libc6-dev mininet python3-venv tcpdump
SOURCES := p4 testbed traffic analysis experiments benchmarks tests
OPTIONS ?=

.DEFAULT_GOAL := help
.PHONY: help setup run quick test test-user test-root lint format golden golden-diff clean

help:  ## Say what the targets do
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 14

setup: .venv/installed  ## Install what is missing: Debian packages, then the locked Python packages

.venv/installed: requirements.lock
	@command -v apt-get >/dev/null || { echo 'set-up needs apt-get (Debian, Ubuntu)' >&2; exit 2; }
	@missing=; for package in $(PACKAGES); do \
	    dpkg -s $$package 2>/dev/null | grep -q '^Status:.* installed$$' || missing+=" $$package"; \
	done; \
	if [ -n "$$missing" ]; then \
	    echo "Installing$$missing"; \
	    $(SUDO) apt-get -qq update && \
	    $(SUDO) DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $$missing >/dev/null; \
	fi
	/usr/bin/python3 -m venv --system-site-packages .venv
	$(PYTHON) -m pip --quiet --disable-pip-version-check install --require-hashes -r requirements.lock
	@touch $@

run: setup  ## Run the main job: six schemes on a k = 4 fat tree, to a table and figures
	$(SUDO) $(PYTHON) experiments/run.py $(OPTIONS)

QUICK := tests/test_*.py tests/testbed/scenario tests/testbed/test_*.py tests/traffic tests/p4/console \
    tests/experiments/test_options.py tests/experiments/test_out.py tests/analysis/test_bounds.py

quick: setup  ## Run the tests that are done in a minute
	$(PYTHON) -m pytest -q -n auto -m 'not (root or mininet or bmv2 or p4c or slow)' $(QUICK) $(OPTIONS)

test: test-user test-root  ## Run the whole test suite

test-user: setup
	$(PYTHON) -m pytest -q -n auto -m 'not root and not mininet' $(OPTIONS)

test-root: setup  # real-time tests run one after the other
	$(SUDO) PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -q -p no:cacheprovider -m 'root or mininet' $(OPTIONS)

lint: setup  ## Check style and types
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy

format: setup  ## Put the Python files into the project's format
	$(PYTHON) -m ruff format .

golden: setup  ## Accept the C that is generated now as the golden copies
	$(PYTHON) -m tests.p4.codegen.golden write

golden-diff: setup  ## Show what differs in generated C since the last commit (OPTIONS=ofan: of one program)
	@$(PYTHON) -m tests.p4.codegen.golden diff $(OPTIONS)

clean:  ## Remove the environment and what was built; results stay
	rm -rf .venv build .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
