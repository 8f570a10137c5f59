PYTHON   ?= python3
VENV     ?= .venv
BIN      := $(VENV)/bin
READY    := $(VENV)/.ready
DOCS     := $(VENV)/.docs
# versions that are installed: those of a file, or with CONSTRAINTS= the newest ones
CONSTRAINTS ?= constraints.txt
INSTALL  := -m pip install --disable-pip-version-check $(or $(addprefix --constraint ,$(CONSTRAINTS)),--upgrade --upgrade-strategy eager)
# neighbours in the list of tests share fixtures and kernels: each process begins with a part of it, and takes from another when it is done
PYTEST   := $(BIN)/python -m pytest -n logical --dist worksteal
# what is tried with the oldest versions that pyproject.toml allows: the command line, solvers, backends, estimators, certificates
OLDEST   := tests/solvers/test_registry.py tests/solvers/test_solution.py tests/door/estimators/test_estimators.py tests/door/cli/test_cli.py tests/proofs/certificates/test_certificate.py
SEED     ?= $(shell date +%Y%m%d)
EXAMPLES ?= 1000
MUTATIONS ?= 500
SECONDS  ?= 600
# npm's package pyodide, with which the documentation's page on certificates checks them in the browser; without it that page says what it lacks
PYODIDE  ?= $(wildcard .pytest_cache/pyodide/node_modules/pyodide)

# what benchmarks compare with has an environment of its own, because tests are to run as they do without it
PEERS    := build/peers

.PHONY: help demo check check-all check-newest check-oldest check-claims experiments lint mutants misprints faults mutated-certificates mutation proofs verified-checker two-checkers three-checkers proved-data proof-mutants nightly nightly-exact nightly-programs nightly-families nightly-degenerate nightly-stability nightly-equivalence nightly-path nightly-map nightly-bounds nightly-explain third-party test-set killed-studies fuzz bench check-device bench-device bench-each bench-against leaderboard scaling docs dist release clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 22

demo: $(READY)  ## three comparisons: classification, regression, ranking
	$(BIN)/equimargin warm-up
	$(BIN)/equimargin compare breast_cancer --scale
	$(BIN)/equimargin compare diabetes
	$(BIN)/equimargin compare diabetes_ranking

check: $(READY)  ## the tests, on all processors; ARGS goes to pytest
	@echo "The tests are collected in each process; then a dot is a test."
	$(PYTEST) $(ARGS)

check-all: $(READY)  ## all tests: the slow ones, too, and more drawn examples
	EQUIMARGIN_PROFILE=ci $(PYTEST) -m "not mutants and not benchmark and not device" $(ARGS)

check-newest:  ## make check in an environment of its own, with the newest version of everything
	rm -f build/newest/.ready
	$(MAKE) check VENV=build/newest CONSTRAINTS=

check-oldest: build/oldest.txt  ## some tests with the oldest versions that pyproject.toml allows
	$(MAKE) check VENV=build/oldest CONSTRAINTS=$< ARGS="$(OLDEST) -W ignore::DeprecationWarning $(ARGS)"

experiments: $(READY)  ## what the documents measured, measured again, in build/experiments; make experiments ARGS=--full as printed, which takes hours
	@set -e; for each in examples/documents/*_*.py; do \
	    echo "== $$each"; MPLBACKEND=Agg $(BIN)/python $$each --save build/experiments $(ARGS); \
	done

lint: $(READY)  ## style, types, direction of the imports
	$(BIN)/ruff check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports

check-claims: $(READY)  ## every claim of the documents tried again: statements, theorems, formulations, and the tests that the ledger names
	PYTHONPATH=examples $(BIN)/python -m ledger check
	PYTHONPATH=tests:examples $(BIN)/python -m campaigns.claims

mutants: $(READY)  ## the referee and the checker against formulations, solvers and programs that are wrong on purpose
	$(BIN)/python -m pytest -m mutants -s tests/proofs/test_mutants.py tests/proofs/test_mutants_of_families.py

misprints: $(READY)  ## signs, factors, symbols, functions and constraints of printed problems, changed one at a time: each misprint must be detected, or be known to leave the problem equal; ARGS are parts of ids
	PYTHONPATH=tests $(BIN)/python -m campaigns misprints $(ARGS)

faults: $(READY)  ## the tests against sources that are wrong on purpose; ARGS picks faults by parts of their names
	PYTHONPATH=tests $(BIN)/python -m campaigns.faults $(ARGS)

mutation: $(READY)  ## a sample of all mutants of the checker, the referee, bounds and rows: make mutation ARGS="--sample 100 checker"
	$(BIN)/python $(INSTALL) --quiet --editable '.[test,mutation]'
	PYTHONPATH=tests $(BIN)/python -m campaigns mutation --seed 1 $(ARGS)

mutated-certificates: $(READY)  ## certificates that are changed on purpose; ARGS are parts of their names
	PYTHONPATH=tests $(BIN)/python -m campaigns certificate_mutations --seed $(SEED) --examples $(MUTATIONS) $(ARGS)

nightly: $(READY)  ## every formulation, backend and solver on new instances: make nightly SEED=1 EXAMPLES=1000
	PYTHONPATH=tests $(BIN)/python -m campaigns nightly --seed $(SEED) --examples $(EXAMPLES) $(ARGS)

nightly-exact: $(READY)  ## exact optima of degenerate integer problems, checked from the definitions, and a fifth as many exact paths, leave-one-out errors and surrogate regrets: make nightly-exact SEED=1 EXAMPLES=1000
	PYTHONPATH=tests $(BIN)/python -m campaigns exact.nightly --seed $(SEED) --examples $(EXAMPLES) $(ARGS)
	PYTHONPATH=tests $(BIN)/python -m campaigns exact.nightly_exact_path --seed $(SEED) --examples $$(( ($(EXAMPLES) + 4) / 5 ))

nightly-programs: $(READY)  ## exact optima and intervals of programs of every kind: make nightly-programs SEED=1 EXAMPLES=2000
	PYTHONPATH=tests $(BIN)/python -m campaigns exact.nightly_programs --seed $(SEED) --examples $(EXAMPLES) $(ARGS)

nightly-families: $(READY)  ## exact optima of new instances of the families of the field: make nightly-families SEED=1 EXAMPLES=1000
	PYTHONPATH=tests $(BIN)/python -m campaigns nightly_families --seed $(SEED) --examples $(EXAMPLES) $(ARGS)

nightly-degenerate: $(READY)  ## degenerate machines of W, couplings, sigmoids and least numbers, against other ways to them: make nightly-degenerate SEED=1 EXAMPLES=200
	PYTHONPATH=tests:examples $(BIN)/python -m campaigns exact.nightly_degenerate --seed $(SEED) --examples $(EXAMPLES) $(ARGS)

nightly-stability: $(READY)  ## derivatives of exact optima, kinks among them, against differences of exact optima: make nightly-stability SEED=1 EXAMPLES=1000
	PYTHONPATH=tests $(BIN)/python -m campaigns exact.nightly_stability --seed $(SEED) --examples $(EXAMPLES) $(ARGS)

nightly-equivalence: $(READY)  ## the verdicts on all pairs of formulations within every family: make nightly-equivalence SEED=1, ARGS="svm.l2" for some
	PYTHONPATH=tests $(BIN)/python -m campaigns equivalence --seed $(SEED) $(ARGS)

killed-studies: $(READY)  ## studies that are killed at random moments and resumed: make killed-studies SEED=1, ARGS=process for some
	PYTHONPATH=tests $(BIN)/python -m campaigns killed_studies --seed $(SEED) $(ARGS)

third-party: $(READY)  ## certificates in the formats of VIPR and POUNCE, valid and forged: make third-party SEED=1 EXAMPLES=1000
	PYTHONPATH=tests $(BIN)/python -m campaigns third_party --seed $(SEED) --examples $(EXAMPLES) $(ARGS)

test-set: $(READY)  ## programs with certificates of their exact optima, in build/test_set: ours, and those of Maros-Meszaros and netlib where their files are
	PYTHONPATH=tests $(BIN)/python -m campaigns.optima_set build/test_set

fuzz: $(READY)  ## damaged files for everything that reads files, SECONDS a reader: make fuzz SECONDS=600, ARGS="csv npz" for some
	$(BIN)/python $(INSTALL) --quiet --editable '.[test,fuzz]'
	PYTHONPATH=tests $(BIN)/python -m campaigns fuzz.every --seconds $(SECONDS) $(ARGS)

nightly-path: $(READY)  ## regularisation paths of new instances, judged in extended precision, and a fifth as many of each 1-norm family: make nightly-path SEED=1 EXAMPLES=10000
	PYTHONPATH=tests $(BIN)/python -m campaigns nightly_path --seed $(SEED) --examples $(EXAMPLES) $(ARGS)
	PYTHONPATH=tests $(BIN)/python -m campaigns exact.nightly_linear_path --seed $(SEED) --examples $$(( ($(EXAMPLES) + 4) / 5 ))

nightly-map: $(READY)  ## certified maps of lambda and gamma, against solutions and exact optima: make nightly-map SEED=1 EXAMPLES=100
	PYTHONPATH=tests $(BIN)/python -m campaigns nightly_map --seed $(SEED) --examples $(EXAMPLES) $(ARGS)

nightly-bounds: $(READY)  ## tiny problems at every scale, and a tenth as many paths, against their optima: make nightly-bounds SEED=1 EXAMPLES=20000
	PYTHONPATH=tests $(BIN)/python -m campaigns nightly_bounds --seed $(SEED) --examples $(EXAMPLES) $(ARGS)
	PYTHONPATH=tests $(BIN)/python -m campaigns nightly_bounds_path --seed $(SEED) --examples $$(( $(EXAMPLES) / 10 ))

nightly-explain: $(READY)  ## infeasible, unbounded and bounded models, explained, with the proofs repeated in fractions: make nightly-explain SEED=1 EXAMPLES=1000
	PYTHONPATH=tests $(BIN)/python -m campaigns nightly_explain --seed $(SEED) --examples $(EXAMPLES) $(ARGS)

bench: $(PEERS)/.ready  ## every kind of work beside every peer that can be installed: CPU seconds and ratios, about forty minutes
	$(PEERS)/bin/python benchmarks/run.py side_by_side $(ARGS)

check-device: $(READY)  ## the tests of a graphics card, where there is one: about a minute
	$(BIN)/python $(INSTALL) --quiet --editable '.[test,gpu]'
	$(PYTEST) -n0 -m device tests/solvers/device $(ARGS)

bench-device: $(READY)  ## kernel machines on a graphics card: parts, seconds to a gap, proven intervals, grids; below eight minutes
	$(BIN)/python $(INSTALL) --quiet --editable '.[test,gpu]'
	$(BIN)/python benchmarks/run.py card $(ARGS)

bench-each: $(READY)  ## the benchmarks of each kind of work, and the error of every map between formulations
	@set -e; for each in svm linear one_norm hard ranking exact programs bounds; do \
	    echo "== $$each"; $(BIN)/python benchmarks/run.py kinds.$$each; \
	done
	$(BIN)/python -m pytest -m benchmark -s tests/formulations/test_links.py

bench-against: $(READY)  ## CPU times of another checkout and of this one, row by row: make bench-against OTHER=../before
	$(BIN)/python benchmarks/run.py between_versions --other $(OTHER) $(ARGS)

leaderboard: $(PEERS)/.ready  ## packages for SVMs: CPU time, and how far their models are above the proven optimum; docs/leaderboard.md
	$(PEERS)/bin/python benchmarks/run.py leaderboard $(ARGS)

scaling: $(PEERS)/.ready  ## how CPU time grows with the number of points, beside other packages: docs/scaling.md
	$(PEERS)/bin/python benchmarks/run.py scaling $(ARGS)

proofs: $(READY)  ## the theorems of proofs/rocq, built and checked by Coq: nothing assumed, and the values of the printed formulas
	PYTHONPATH=tests $(BIN)/python -m campaigns.rocq

verified-checker: $(READY)  ## the checker that is proved in Coq, extracted to OCaml and compiled; equimargin verify asks it then
	$(BIN)/python -m equimargin.proofs.coq

two-checkers: $(READY)  ## the proved program and checker.py on certificates that are changed on purpose: make two-checkers SEED=1 MUTATIONS=420
	PYTHONPATH=tests $(BIN)/python -m campaigns two_checkers --seed $(SEED) --examples $(MUTATIONS)

three-checkers: $(READY)  ## the same with Coq beside them, which computes each verdict, on certificates of 8 to 32 points a family
	PYTHONPATH=tests $(BIN)/python -m campaigns three_checkers --seed 1 $(ARGS)

proved-data: $(READY)  ## certificates of whole data sets, of all families by three kernels, put to all three checkers
	PYTHONPATH=tests $(BIN)/python -m campaigns proved_data $(ARGS)

proof-mutants: $(READY)  ## make proofs with definitions that are wrong on purpose: each must be noticed
	PYTHONPATH=tests $(BIN)/python -m campaigns.rocq --mutants

docs: $(DOCS)  ## the documentation, in build/docs: every example is run, a warning is an error, and every link inside is followed
	rm -rf build/docs docs/gallery docs/atlas docs/reference/api
	$(BIN)/python -m sphinx -q -W --keep-going -E -b html -d build/doctrees -D pyodide=$(PYODIDE) docs build/docs
	$(BIN)/python docs/_extensions/check_links.py build/docs
	@echo "built: build/docs/index.html"

dist: $(READY)  ## the sdist, and the wheel built from it, checked; a commit gives the same bytes
	$(BIN)/python $(INSTALL) --quiet --editable '.[test,release]'
	rm -rf dist equimargin.egg-info
	epoch=$$(git log -1 --format=%ct) && SOURCE_DATE_EPOCH=$$epoch $(BIN)/python -m build --no-isolation
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl

release: $(READY)  ## all that a version must pass, in a night; then the commands to publish it
	PYTHONPATH=tests $(BIN)/python -m campaigns.release

$(DOCS): $(READY)
	$(BIN)/python $(INSTALL) --quiet --editable '.[test,docs]'
	@touch $@

$(READY): pyproject.toml $(CONSTRAINTS)
	@echo "Installing into $(VENV): about 120 packages, a minute or two."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(INSTALL) --editable '.[test]'
	@touch $@

build/oldest.txt: pyproject.toml
	@mkdir -p build
	sed -En '/^(dependencies|compare) = \[/,/^\]/s/^ *"([A-Za-z0-9-]*)>=([0-9.]*)".*/\1==\2/p' pyproject.toml > $@

$(PEERS)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[compare]'
	@for peer in $$(sed -n 's/^peers = \[\(.*\)\]/\1/p' pyproject.toml | tr -d '",'); do \
	    $(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt $$peer \
	        || echo "$$peer cannot be installed here: benchmarks go on without it"; \
	done
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
