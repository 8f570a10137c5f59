PYTHON   ?= python3
VENV     ?= .venv
BIN      := $(VENV)/bin
READY    := $(VENV)/.ready
SEED     ?= $(shell date +%Y%m%d)
EXAMPLES ?= 1000
MUTATIONS ?= 500

.PHONY: demo check lint mutants faults mutated-certificates proofs proof-mutants nightly nightly-exact nightly-path nightly-bounds bench clean

demo: $(READY)  ## three comparisons: classification, regression, ranking
	$(BIN)/equimargin compare breast_cancer --scale
	$(BIN)/equimargin compare diabetes
	$(BIN)/equimargin compare diabetes_ranking

check: $(READY)  ## the tests; ARGS goes to pytest
	$(BIN)/python -m pytest $(ARGS)

lint: $(READY)  ## style, types, direction of the imports
	$(BIN)/ruff check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports

mutants: $(READY)  ## the referee against formulations that are wrong on purpose
	$(BIN)/python -m pytest -m mutants -s tests/test_mutants.py

faults: $(READY)  ## the tests against sources that are wrong on purpose; ARGS picks faults by parts of their names
	$(BIN)/python tests/faults.py $(ARGS)

mutated-certificates: $(READY)  ## certificates that are changed on purpose; ARGS are data sets
	$(BIN)/python tests/certificate_mutations.py --seed $(SEED) --examples $(MUTATIONS) $(ARGS)

nightly: $(READY)  ## every formulation, backend and solver on new instances: make nightly SEED=1 EXAMPLES=1000
	$(BIN)/python tests/nightly.py --seed $(SEED) --examples $(EXAMPLES) $(ARGS)

nightly-exact: $(READY)  ## exact optima of degenerate integer problems, checked from the definitions: make nightly-exact SEED=1 EXAMPLES=1000
	$(BIN)/python tests/nightly_exact.py --seed $(SEED) --examples $(EXAMPLES) $(ARGS)

nightly-path: $(READY)  ## regularisation paths of new instances, judged in extended precision: make nightly-path SEED=1 EXAMPLES=10000
	$(BIN)/python tests/nightly_path.py --seed $(SEED) --examples $(EXAMPLES) $(ARGS)

nightly-bounds: $(READY)  ## tiny problems at every scale, and a tenth as many paths, against their optima: make nightly-bounds SEED=1 EXAMPLES=20000
	$(BIN)/python tests/nightly_bounds.py --seed $(SEED) --examples $(EXAMPLES) $(ARGS)
	$(BIN)/python tests/nightly_bounds_path.py --seed $(SEED) --examples $$(( $(EXAMPLES) / 10 ))

bench: $(READY)  ## CPU times, and the error of every map between formulations
	$(BIN)/python benchmarks/svm.py
	$(BIN)/python benchmarks/linear.py
	$(BIN)/python benchmarks/one_norm.py
	$(BIN)/python benchmarks/ranking.py
	$(BIN)/python benchmarks/exact.py
	$(BIN)/python -m pytest -m benchmark -s benchmarks tests/test_links.py

proofs: $(READY)  ## the theorems of proofs/rocq, built and checked by Coq: nothing assumed, and the values of the printed formulas
	$(BIN)/python tests/rocq.py

proof-mutants: $(READY)  ## the same with definitions that are wrong on purpose: each must be noticed
	$(BIN)/python tests/rocq.py --mutants

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test]'
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
