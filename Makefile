# Two commands do everything: `make book` and `make test`. `make help` lists the rest.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
LOCKED := $(VENV)/.locked
BOOK   := _build/html/index.html
JOBS   ?= 2
UNIT   := tests/committees tests/beyond tests/companion tests/organiser tests/pages tests/tools lib organiser _ext/pages
CHROMIUM ?= $(firstword $(shell command -v chromium chromium-browser google-chrome) chromium)

# Kernels start five times faster with bytecode; hashes must not depend on the process;
# and one thread per process, since the simulations already use every core.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONHASHSEED := 0
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export PYDEVD_DISABLE_FILE_VALIDATION := 1
export JUPYTER_PLATFORM_DIRS := 1

.DEFAULT_GOAL := help
.PHONY: help env book page test check lab screenshots notebooks lint hooks lock pdf bench clean

# Tests run one per core: what they simulate takes no second one.
test check: export LOKY_MAX_CPU_COUNT := 1
# Files are the units that are shared out, in the order of tests/conftest.py: the longest first.
PYTEST := $(BIN)/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

env: $(READY) ## the environment alone: enough for papermill, sweeps and the desk

book: $(READY) ## re-execute every chapter and render the book
	rm -rf _build
	$(BIN)/python tools/execute.py --jobs $(JOBS) --into _build/source
	$(BIN)/python tools/pdf.py _build/source . _build/source/book.pdf "$(CHROMIUM)" || echo "The site will have no PDF."
	$(BIN)/jupyter-book build _build/source --path-output . -W -n --keep-going
	@echo "The book is at $(CURDIR)/$(BOOK)"

page: $(READY) ## a chapter with parameters of your own: make page NOTEBOOK=chapters/x.ipynb WITH="{runs: 50}"
	@$(BIN)/python tools/page.py "$$NOTEBOOK" "$$WITH"

test: $(READY) lint ## library, every notebook against its stored output, rendered book: 6 to 12 minutes on two cores
	$(PYTEST) -m "not slow and not browser" --nbval --nbval-sanitize-with tests/sanitize.cfg tests lib organiser _ext/pages chapters

check: $(READY) ## what takes longer: coverage, fresh seeds, every set of parameters, kills, a cluster, the browser
	HYPOTHESIS_PROFILE=thorough $(PYTEST) -m "not browser" $(UNIT) --cov
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m "slow and not browser" tests/book
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m browser tests

lab: $(READY) ## open the chapters in JupyterLab, with theorem boxes and formulas
	$(BIN)/jupyter trust chapters/*.ipynb chapters/*/*.ipynb  # or pictures are not shown
	$(BIN)/jupyter lab $(LAB) chapters

screenshots: $(READY) ## pictures of every page of the rendered book, wide and narrow, light and dark
	$(BIN)/python tests/helpers/browser.py

notebooks: $(READY) ## re-execute the committed notebooks in place, and redraw the README's picture
	$(BIN)/python tools/execute.py --jobs $(JOBS)
	$(BIN)/python tools/cover.py

lint: $(READY) ## style, types, and which room may import which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PYTHONPATH=_ext $(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/mypy

hooks: $(READY) ## check every commit before it is made
	$(BIN)/pre-commit install

lock: $(READY) ## resolve the dependencies of pyproject.toml anew into requirements.lock
	$(BIN)/uv pip compile pyproject.toml --output-file requirements.lock --quiet --all-extras --universal \
	  --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --custom-compile-command "make lock"

pdf: $(READY) ## the book as _build/pdf/book.pdf, from the stored outputs; needs Chromium
	@command -v "$(CHROMIUM)" > /dev/null \
	  || { echo "make pdf needs Chromium: install it, or name a browser like it: make pdf CHROMIUM=google-chrome"; exit 1; }
	rm -rf _build/pdf && mkdir -p _build/pdf
	$(BIN)/python tools/pdf.py . _build/pdf _build/pdf/book.pdf "$(CHROMIUM)"
	@echo "The book is at $(CURDIR)/_build/pdf/book.pdf"

bench: $(READY) ## measure how fast all is, side by side, for the page on speed
	$(BIN)/python tools/bench.py

clean: ## remove the rendered book and the caches, keep the environment
	rm -rf _build .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis

# The environment: made once, and again only when the lock changes; the project in it, when what it declares changes.
$(READY): $(LOCKED) pyproject.toml setup.py
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index --editable .
	@touch $@

# uv installs it in seconds; where uv does not run, pip installs the same hashed lock.
$(LOCKED): requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, $(PYTHON) is " + sys.version.split()[0] + ": run make with PYTHON=python3.12, say")'
	$(PYTHON) -m venv --clear $(VENV)
	awk '/^[a-z]/ {keep = /^uv==/} keep' requirements.lock > $(VENV)/uv.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(VENV)/uv.lock \
	  && $(BIN)/uv pip install --no-config --quiet --python $(BIN)/python --compile-bytecode --require-hashes -r requirements.lock \
	  || $(BIN)/python -m pip install --no-deps --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@
