# The two commands: `make demo` and `make test`. Each makes .venv if there is none, installs, and runs.
#   make demo PYTHON=python3.12    another interpreter (3.11 or newer)
#   make test CONSTRAINTS=         the newest versions instead of those that the suite is known to pass with
#   make test TESTS=tests/test_cli.py JOBS=1

PYTHON ?= python3
VENV ?= .venv
CONSTRAINTS ?= constraints.txt
JOBS ?= 2
TESTS ?= tests

# One thread for BLAS and OpenMP: the suite runs in $(JOBS) processes already, and labels do not depend on it.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

PIP := $(VENV)/bin/python -m pip --disable-pip-version-check install --quiet $(if $(CONSTRAINTS),--constraint $(CONSTRAINTS))
PYTEST := $(VENV)/bin/python -m pytest -rs

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-oldest lint docs format clean

help:
	@echo 'make demo       cluster the digits that come with the package, half of them incomplete; files in demo/'
	@echo 'make test       the tests, but those marked slow'
	@echo 'make test-slow  the tests marked slow, and the properties on 10,000 examples each'
	@echo 'make test-oldest  data, loop, APMC and command line on the oldest versions that are allowed'
	@echo 'make lint       ruff and mypy'
	@echo 'make docs       the documentation, in docs/_build'
	@echo 'make format     let ruff put the code in order'
	@echo 'make clean      remove .venv and what the tools left'

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Conspectus needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + ": make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

# The stamps keep a second run from installing again. Who has the development tools has what the demo needs.
$(VENV)/.installed: pyproject.toml $(CONSTRAINTS) | $(VENV)/bin/python
	$(PIP) --editable '.[plot]'
	@touch $@

$(VENV)/.installed-dev: pyproject.toml $(CONSTRAINTS) | $(VENV)/bin/python
	$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed
	$(VENV)/bin/conspectus demo --out demo

test: $(VENV)/.installed-dev
	$(PYTEST) -n $(JOBS) $(TESTS)

# "deep" marks the properties that are cheap enough to be asked of 10,000 examples.
test-slow: $(VENV)/.installed-dev
	HYPOTHESIS_PROFILE=slow $(PYTEST) -n $(JOBS) -m 'slow or deep' $(TESTS)

# As users run it: without the array API switch of SciPy, which only scikit-learn's own battery needs.
OLDEST := $(VENV)-oldest
OLDEST_TESTS := tests/test_views.py tests/test_loop.py tests/test_files.py tests/test_cli.py \
	tests/methods/test_apmc.py tests/methods/test_fimvc_via.py

$(OLDEST)/.installed: oldest.txt pyproject.toml
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip --disable-pip-version-check install --quiet --requirement oldest.txt
	$(OLDEST)/bin/python -m pip --disable-pip-version-check install --quiet --no-deps --editable .
	@touch $@

test-oldest: $(OLDEST)/.installed
	SCIPY_ARRAY_API=0 $(OLDEST)/bin/python -m pytest -n $(JOBS) --durations=0 --durations-min=30 $(OLDEST_TESTS)

$(VENV)/.installed-docs: pyproject.toml $(CONSTRAINTS) | $(VENV)/bin/python
	$(PIP) --editable '.[docs]'
	@touch $@

docs: $(VENV)/.installed-docs
	$(VENV)/bin/python -m sphinx --fail-on-warning --keep-going --quiet docs docs/_build
	@echo 'open docs/_build/index.html'

lint: $(VENV)/.installed-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

format: $(VENV)/.installed-dev
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

clean:
	rm -rf $(VENV) $(OLDEST) docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist demo
