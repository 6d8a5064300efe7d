# make demo | make check: each sets up .venv first and is fast when nothing changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
CORE := build/core
SEED ?= 0

DOCS := $(VENV)/.docs
RELEASE := $(VENV)/.release

.PHONY: demo check style types test wheel test-slow docs notebooks dist clean-installs install clean

demo: $(INSTALLED)
	@rm -rf runs/demo
	$(BIN)/icct train inverted-pendulum --seeds $(SEED), --out runs/demo
	@echo
	$(BIN)/icct show runs/demo/policies/seed-$(SEED).json
	@echo
	$(BIN)/icct evaluate runs/demo/policies/seed-$(SEED).json --task inverted-pendulum \
		--episodes 20 --seed 1

# Everything that must pass; what takes long runs side by side.
check: $(INSTALLED)
	+@$(MAKE) --no-print-directory -j 4 --output-sync=target style types wheel test

style: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(INSTALLED)
	$(BIN)/mypy

# One process for each core; each computes with one thread, and they share nothing but the disk.
test: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not slow" -n auto --dist loadfile

test-slow: $(INSTALLED)
	$(BIN)/python -m pytest -m slow

# The wheel, installed with numpy alone in an environment of its own and tried outside the checkout.
wheel: $(INSTALLED)
	@rm -rf build dist
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps -w dist .
	$(PYTHON) -m venv --without-pip $(CORE)
	$(BIN)/python -m pip --python $(CORE)/bin/python install --quiet --disable-pip-version-check \
		-c constraints.txt dist/*.whl
	$(CORE)/bin/python -I tests/core_only.py

# The site, into site/: strict, so that a dead link or an undocumented page fails. About 40 s.
docs: $(DOCS)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

# Execute the tutorials and keep their output. About 6 minutes on two cores.
notebooks: $(DOCS)
	$(BIN)/python docs/site/notebooks.py

# What would be published, checked as the index checks it.
dist: $(RELEASE)
	@rm -rf build dist
	$(BIN)/python -m build --quiet
	$(BIN)/python -m twine check --strict dist/*

# The wheel in clean environments of every Python: core, each extra alone, all. An hour.
clean-installs: dist
	$(BIN)/python tests/clean_installs.py dist/*.whl

install: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@

$(DOCS): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[docs]"
	@touch $@

$(RELEASE): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[release]"
	@touch $@

clean:
	rm -rf $(VENV) build dist site *.egg-info
