# make demo | make test | make check: each sets up .venv first and is fast when nothing changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
SEED ?= 0

.PHONY: demo test test-slow check install clean

demo: $(INSTALLED)
	@rm -rf runs/demo
	$(BIN)/icct train inverted-pendulum --seeds $(SEED), --out runs/demo
	@echo
	$(BIN)/icct show runs/demo/policies/seed-$(SEED).json
	@echo
	$(BIN)/icct evaluate runs/demo/policies/seed-$(SEED).json --task inverted-pendulum \
		--episodes 20 --seed 1

test: $(INSTALLED)
	$(BIN)/python -m pytest -m "not slow"

test-slow: $(INSTALLED)
	$(BIN)/python -m pytest -m slow

check: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -m "not slow"

install: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info
