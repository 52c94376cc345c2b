# SPDX-License-Identifier: Apache-2.0
# `make` prints the targets. Each makes .venv first if need be (tools/bootstrap.sh).

.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint format types sizes docs coverage fuzz cube language mutants bench update-golden clean

BIN := .venv/bin
SEED ?= 0
COUNT ?= 5000
export PYTHONUNBUFFERED := 1

help:  ## print the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup:  ## make .venv with the development tools, and find or install a C++ compiler
	@sh tools/bootstrap.sh

demo: setup  ## compile and run the main examples, and show what was done
	@$(BIN)/python examples/demo.py

test: lint types  ## lint, check types, run every test
	$(BIN)/python -m pytest

check: lint types sizes  ## lint and types in under a minute, with a report of sizes

lint: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check

format: setup  ## format the code and fix what ruff can fix
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

types: setup
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright

sizes: setup
	@$(BIN)/python tools/sizes.py

docs: setup  ## rewrite the generated pages of docs/ and the stub
	@$(BIN)/python tools/gendocs.py

coverage: setup  ## which lines of frontend and passes the suite runs; fails below 95 %
	$(BIN)/python -m coverage run --source=pyasc/frontend,pyasc/passes -m pytest -q
	$(BIN)/python -m coverage report --skip-covered --show-missing --fail-under=95

fuzz: setup  ## long random campaigns: COUNT programs of each kind, from seed SEED
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest -m "fuzz or not fuzz" tests/property
	for kind in scalars kernels tensors model model-tensors; do \
	    $(BIN)/python -m tests.property.campaign $$kind --from $(SEED) --count $(COUNT) --jobs 2 || exit 1; done

cube: setup  ## products on the model at every M, N and K
	$(BIN)/python -m pytest -m fuzz tests/kernels/test_cube.py

language: setup  ## every row of the language page on the cpu and on the model; takes long
	$(BIN)/python -m pytest -m "fuzz or not fuzz" tests/kernels/test_language_tensors.py tests/kernels/test_language_programs.py tests/kernels/test_language_functions.py

mutants: setup  ## put faults into emitted kernels, and see how many the model tells
	$(BIN)/python -m tests.mutation.campaign --write

bench: setup  ## the benchmarks, against C++, NumPy, Numba and pure Python
	@$(BIN)/python -m pip install -q -e '.[bench]'
	$(BIN)/python -m benchmarks.run

update-golden: setup  ## rewrite the golden files of tests/lit; read the diff before committing it
	$(BIN)/python -m pytest -q tests/lit --update-golden
	@git --no-pager diff --stat -- tests/lit

clean:  ## remove .venv and what tests and builds leave
	rm -rf .venv build dist .pytest_cache .ruff_cache .hypothesis
