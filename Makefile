# make lab    opens the course        make test   checks all of it
# Both make .venv on their first run and are quick afterwards.

PYTHON ?= python3
NOTEBOOK ?= $(firstword $(wildcard notebooks/00_start_here.ipynb notebooks) .)
PARTS ?=

VENV := .venv
BIN := $(VENV)/bin
# a module is compiled when it is first imported, which most never are
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check --quiet --no-compile
OLDEST := $(VENV)/jupyterlab-4.3
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

# what was compiled is kept, whatever the environment asks for: else each Python that starts compiles torch anew
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help lab test test-gpu clean
.NOTPARALLEL:

help:
	@echo "make lab                      open the course in JupyterLab (NOTEBOOK=… for another notebook)"
	@echo "make test                     check everything (PARTS=\"lint types\" for some of: lint types units notebooks browser bundled)"
	@echo "make test-gpu                 check what a GPU computes, and that each notebook runs with one"
	@echo "make clean                    remove .venv, .venv-lowest and what tools left behind"
	@echo "make lab PYTHON=python3.12    with another Python, 3.11 or newer"

lab: $(VENV)/course.stamp
	$(BIN)/jupyter lab --ServerApp.ip=127.0.0.1 $(AS_ROOT) $(NOTEBOOK)

test: $(VENV)/tests.stamp
	$(BIN)/python tests/run.py $(PARTS)

test-gpu: $(VENV)/tests.stamp
	$(BIN)/python tests/on_gpu.py

$(VENV)/course.stamp: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing the course into $(VENV): some minutes the first time …"
	$(INSTALL) -c constraints.txt -e .
	@touch $@

$(VENV)/tests.stamp: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing the course and what its tests need into $(VENV): some minutes the first time …"
	$(INSTALL) -c constraints.txt -e '.[test]'
	@rm -rf $(OLDEST)
	$(INSTALL) --no-deps --target $(OLDEST) jupyterlab==4.3.8
	@touch $(VENV)/course.stamp $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "plmlab needs Python 3.11 or newer; '$(PYTHON)' is: $$($(PYTHON) --version 2>&1)."; \
	  echo "Name another one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "'$(PYTHON) -m venv' failed. On Debian and Ubuntu: sudo apt install python3-venv; then again."; exit 1; }

clean:
	rm -rf $(VENV) $(VENV)-lowest build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +
