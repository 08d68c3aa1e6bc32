# `make demo` and `make test` do all the set-up themselves; they need only Python >= 3.11 and make.
PYTHON ?= python3
JOBS ?= 2
THREADS ?= 1 2

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DOCS_STAMP := $(VENV)/.installed-docs
RIVALS_STAMP := $(VENV)/.installed-rivals
PIP := $(BIN)/python -m pip --disable-pip-version-check
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1

.PHONY: help install demo test test-slow test-all test-cpu lint types unit bench experiments experiments-full docs dist format constraints clean

help:
	@echo "make install     set up $(VENV): the package, editable, with every extra at the versions of constraints.txt"
	@echo "make demo        learn kernels on a bundled dataset, say what was learned and write a report"
	@echo "make test        lint, types and the fast tests"
	@echo "make test-all    the same and the slow tests"
	@echo "make test-cpu    the fast tests with the arithmetic of other processors; CPU=\"prescott haswell\" chooses, THREADS=1 too"
	@echo "make bench       the benchmarks and their page, with the rivals; BENCH=\"--quick finite_small\" chooses, --list lists"
	@echo "make experiments a quick form of the papers' experiments, into experiments/results/quick; EXPERIMENTS=\"names\""
	@echo "make experiments-full  all of it (many hours), from the data that MANYKERNELS_DATA names; both go on where they stopped"
	@echo "make docs        the documentation, with its examples run, into docs/_build/html"
	@echo "make dist        wheel and sdist of the last commit into dist, built twice and compared, installed in empty environments"
	@echo "make format      let ruff format and fix what it can"
	@echo "make constraints pin anew: install the newest of everything and rewrite constraints.txt"
	@echo "make clean       remove $(VENV) and caches"

install: $(STAMP)

# The build backend comes first, pinned, so that building the package downloads nothing of its own.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "manykernels needs Python >= 3.11, but PYTHON=$(PYTHON) is " + sys.version.split()[0])'
	test -x $(BIN)/pip || $(PYTHON) -m venv --clear $(VENV)
	$(PIP) install --quiet -c constraints.txt pip hatchling editables
	$(PIP) install --quiet -c constraints.txt --no-build-isolation -e ".[plots,cli,dask,dev]"
	$(PIP) check
	@touch $(STAMP)

# What builds the documentation is set up only where it is built.
$(DOCS_STAMP): $(STAMP)
	$(PIP) install --quiet -c constraints.txt --no-build-isolation -e ".[docs]"
	@touch $(DOCS_STAMP)

# The packages that the benchmarks compare with: nothing else needs them.
$(RIVALS_STAMP): $(STAMP)
	$(PIP) install --quiet -c constraints.txt --no-build-isolation -e ".[rivals]"
	@touch $(RIVALS_STAMP)

demo: install
	$(BIN)/python -m manykernels.demo

test: lint types unit

test-all: test test-slow

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

types: install
	$(BIN)/mypy

# Fast tests and drawn problems: one process per core, one thread each. Slow tests: one process, all threads.
unit: install
	$(ONE_THREAD) $(BIN)/python -m pytest -m "not slow" -n $(JOBS) --dist worksteal -q --durations=5

test-slow: install $(DOCS_STAMP)
	$(BIN)/python -m pytest -m slow -q --durations=5 --ignore=tests/properties
	$(ONE_THREAD) $(BIN)/python -m pytest -m slow -n $(JOBS) --dist worksteal -q --durations=5 tests/properties

# CPU: prescott, haswell, zen, skylakex or farthest (from this machine); TESTS: files or options for pytest.
test-cpu: install
	$(BIN)/python tests/processors.py $(CPU) --threads $(THREADS) --jobs $(JOBS) --tests $(TESTS)

# The page of the documentation is drawn anew from the JSON, whatever was run.
bench: install $(RIVALS_STAMP)
	$(BIN)/python -m benchmarks $(BENCH)
	$(BIN)/python -m benchmarks --render

# Both keep what is finished and go on with the rest; EXPERIMENTS="--fresh names" starts anew, "--list" lists.
experiments: install
	$(BIN)/python -m experiments --quick --output experiments/results/quick $(EXPERIMENTS)

experiments-full: install
	$(BIN)/python -m experiments $(EXPERIMENTS)

# The first pass runs the examples, the second one the code in the pages; any warning is an error.
docs: install $(DOCS_STAMP)
	rm -rf docs/api/generated
	$(ONE_THREAD) $(BIN)/python -m sphinx -q -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html
	$(ONE_THREAD) $(BIN)/python -m sphinx -q -W --keep-going -b doctest -d docs/_build/doctrees docs docs/_build/doctest
	@echo "docs/_build/html/index.html"

# Every Python at hand that is new enough gets an empty environment, and fits there.
dist: install
	$(BIN)/python tests/distributions.py

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

constraints:
	rm -rf $(VENV)/pins
	$(PYTHON) -m venv --clear $(VENV)/pins
	$(VENV)/pins/bin/python -m pip install --quiet --upgrade pip hatchling editables
	$(VENV)/pins/bin/python -m pip install --quiet --no-build-isolation -e ".[plots,cli,dask,docs,dev,rivals]"
	$(VENV)/pins/bin/python -m pip list --format=freeze --exclude manykernels --exclude setuptools > constraints.txt
	rm -rf $(VENV)/pins

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	rm -rf docs/_build docs/gallery docs/api/generated docs/sg_execution_times.rst manykernels-demo.html
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
