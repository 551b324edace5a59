# Works from a fresh clone with Python 3.11+ and make; everything lives in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# pins what CI uses, torch above all: an unpinned torch may pull gigabytes of GPU libraries
export PIP_CONSTRAINT := $(CURDIR)/constraints/ci.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
unexport PYTHONDONTWRITEBYTECODE # without byte code every import is two to three times slower
WORKERS ?= 2
SECONDS ?= 600
SEED ?= 0

.PHONY: help install demo test quick everything lint types imports browser tests fuzz docs dist changelog benchmark clean

help: ## show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(BIN)/python pyproject.toml constraints/ci.txt
	$(BIN)/python -m pip install --quiet -e .
	touch $@

$(VENV)/.test: $(VENV)/.core
	$(BIN)/python -m pip install --quiet -e ".[bench,data,docs,excel,plot,ray,skops,sql,test,torch]"
	touch $@

install: $(VENV)/.test ## make .venv with every extra

demo: $(VENV)/.core ## train and evaluate on PU labels alone, with the truth beside it
	$(BIN)/pulens demo

test: lint types imports tests ## everything that must hold

quick: lint ## the first plain tests of every file, in less than two minutes
	$(PYTEST) --tier quick

everything: lint types imports $(VENV)/.test browser ## at full size: more examples, more simulated sets, every learner
	$(PYTEST) --tier everything

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test
	$(BIN)/mypy

imports: $(VENV)/.test
	$(BIN)/lint-imports --no-cache

browser: ## find a browser for the tests of the report's pages, or install Debian's
	@for name in chromium chromium-browser google-chrome google-chrome-stable; do \
	  if command -v $$name > /dev/null; then exit 0; fi; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get update -qq \
	  && apt-get install -y -qq --no-install-recommends chromium > /dev/null; then exit 0; fi; \
	if [ "$$PULENS_BROWSER" = required ]; then echo "no browser found, and none could be installed" >&2; exit 1; fi; \
	echo "SKIPPED: pages are not tested in a browser here; install chromium (apt-get install chromium) to test them"

# a file belongs to one worker, so that what its tests share is made once; in their order, the long ones are not last.
# Workers share the cores: threads of one that wait for those of another turned a second into half a minute
PYTEST = $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder
tests quick everything: export OMP_NUM_THREADS ?= 1
tests quick everything: export OPENBLAS_NUM_THREADS ?= 1
tests: $(VENV)/.test browser
	$(PYTEST)

fuzz: $(VENV)/.test ## hostile calls of the command line and from Python: make fuzz SECONDS=3600 SEED=1
	PULENS_FUZZ_SECONDS=$(SECONDS) PULENS_FUZZ_SEED=$(SEED) $(BIN)/python -m pytest -q -n 0 -s tests/fuzz

docs: $(VENV)/.test ## the site, in docs/_build/html
	$(BIN)/python -m sphinx --fail-on-warning --nitpicky --quiet -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

dist: $(VENV)/.test ## wheel and source distribution, in dist/
	rm -rf dist
	$(BIN)/python -m hatchling build
	$(BIN)/python -m twine check --strict dist/*

changelog: ## gather changes/ into CHANGELOG.md: make changelog VERSION=0.2.0
	@test -n "$(VERSION)" || { echo "say which version: make changelog VERSION=0.2.0" >&2; exit 2; }
	$(PYTHON) changes/gather.py $(VERSION)

benchmark: $(VENV)/.test ## speed beside the peers
	$(BIN)/python benchmarks/speed.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .hypothesis
