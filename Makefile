PYTHON   ?= python3
VENV     ?= .venv
BIN      := $(VENV)/bin
READY    := $(VENV)/.ready
DOCS     := $(VENV)/.docs
# versions that are installed: those of a file, or with CONSTRAINTS= the newest ones
CONSTRAINTS ?= constraints.txt
# a home folder that cannot be written holds neither compiled functions nor pip's cache
ifneq ($(shell test -w "$$HOME" && echo writable),writable)
export NUMBA_CACHE_DIR ?= $(CURDIR)/build/functions
export PIP_NO_CACHE_DIR ?= 1
endif
INSTALL  := -m pip install --disable-pip-version-check $(or $(addprefix --constraint ,$(CONSTRAINTS)),--upgrade --upgrade-strategy eager)
# what a target needs beside the tests
ADD      = @echo "Installing what $@ needs beside the tests: seconds, the first time up to some minutes."; \
           $(BIN)/python $(INSTALL) --quiet --editable
# neighbours in the list of tests share fixtures and kernels: each process begins with a part of it, and takes from another when it is done
PYTEST   := $(BIN)/python -m pytest -n logical --dist worksteal
# what is tried with the oldest versions that pyproject.toml allows: the command line, solvers, backends, estimators, certificates
OLDEST   := tests/house/test_light_core.py tests/solvers/test_registry.py tests/solvers/test_solution.py tests/door/estimators/test_estimators.py tests/door/cli/test_cli.py tests/proofs/certificates/test_certificate.py
SEED     ?= $(shell date +%Y%m%d)
EXAMPLES ?= 1000
MUTATIONS ?= 500
SECONDS  ?= 600
# npm's package pyodide, with which the documentation's page on certificates checks them in the browser; without it that page says what it lacks
PYODIDE  ?= $(wildcard .pytest_cache/pyodide/node_modules/pyodide)

# what benchmarks compare with has an environment of its own, because tests are to run as they do without it
PEERS    := build/peers

.PHONY: help demo docs \
	check check-all check-newest check-oldest check-device lint faults mutants misprints mutation fuzz killed-studies \
	nightly nightly-exact nightly-programs nightly-families nightly-degenerate nightly-stability nightly-equivalence nightly-path nightly-map nightly-bounds nightly-explain \
	check-claims proofs proof-mutants verified-checker two-checkers three-checkers proved-data mutated-certificates third-party test-set \
	bench bench-each bench-against bench-device leaderboard scaling experiments \
	metadata dist release clean

##@ Use

help:  ## this list
	@awk -F ':.*## ' '/^##@ / {print "\n" substr($$0, 5)} /^[a-z-]+:.*## / {printf "  %-21s %s\n", $$1, $$2}' Makefile

demo: $(READY)  ## three comparisons: classification, regression, ranking
	$(BIN)/equimargin warm-up
	$(BIN)/equimargin compare breast_cancer --scale
	$(BIN)/equimargin compare diabetes
	$(BIN)/equimargin compare diabetes_ranking

docs: $(DOCS)  ## the documentation, in build/docs; every example runs, every link is followed
	rm -rf build/docs docs/gallery docs/atlas docs/reference/api
	$(BIN)/python -m sphinx -q -W --keep-going -E -b html -d build/doctrees -D pyodide=$(PYODIDE) docs build/docs
	$(BIN)/python docs/_extensions/check_links.py build/docs
	@echo "built: build/docs/index.html"

##@ Check; ARGS="..." are options, SEED=1 EXAMPLES=1000 those of the nightly targets

check: $(READY)  ## the tests, on all processors; ARGS goes to pytest
	@echo "The tests are collected in each process; then a dot is a test."
	$(PYTEST) $(ARGS)

check-all: $(READY)  ## the slow tests, too, and more generated examples
	EQUIMARGIN_PROFILE=ci $(PYTEST) -m "not mutants and not benchmark and not device" $(ARGS)

check-newest:  ## the tests with the newest version of every package
	rm -f build/newest/.ready
	$(MAKE) check VENV=build/newest CONSTRAINTS=

check-oldest: build/oldest.txt  ## some tests with the oldest versions that pyproject.toml allows
	$(MAKE) check VENV=build/oldest CONSTRAINTS=$< ARGS="$(OLDEST) -W ignore::DeprecationWarning $(ARGS)"

check-device: $(READY)  ## the tests of a graphics card, where there is one: about a minute
	$(ADD) '.[test,gpu]'
	$(PYTEST) -n0 -m device tests/solvers/device $(ARGS)

lint: $(READY)  ## style, types, direction of the imports
	$(BIN)/ruff check .
	$(BIN)/mypy --strict
	$(BIN)/mypy --strict --platform win32 --cache-dir .mypy_cache/win32 src/equimargin
	$(BIN)/lint-imports

faults: $(READY)  ## seeded faults, which the tests must detect; ARGS are parts of their names
	PYTHONPATH=tests $(BIN)/python -m campaigns.faults $(ARGS)

mutants: $(READY)  ## wrong formulations, solvers and programs, which the referee must detect
	$(BIN)/python -m pytest -m mutants -s tests/proofs/test_mutants.py tests/proofs/test_mutants_of_families.py

misprints: $(READY)  ## printed problems with one change each: detected, or known to be equal
	PYTHONPATH=tests $(BIN)/python -m campaigns misprints $(ARGS)

mutation: $(READY)  ## a sample of all mutants: make mutation ARGS="--sample 100 checker"
	$(ADD) '.[test,mutation]'
	PYTHONPATH=tests $(BIN)/python -m campaigns mutation --seed 1 $(ARGS)

fuzz: $(READY)  ## damaged files, for SECONDS a reader: make fuzz SECONDS=600 ARGS="csv npz"
	$(ADD) '.[test,fuzz]'
	PYTHONPATH=tests $(BIN)/python -m campaigns fuzz.every --seconds $(SECONDS) $(ARGS)

killed-studies: $(READY)  ## studies that are killed at random moments and resumed
	PYTHONPATH=tests $(BIN)/python -m campaigns killed_studies --seed $(SEED) $(ARGS)

nightly: $(READY)  ## every formulation, backend and solver on new instances
	PYTHONPATH=tests $(BIN)/python -m campaigns nightly --seed $(SEED) --examples $(EXAMPLES) $(ARGS)

nightly-exact: $(READY)  ## exact optima of degenerate problems, exact paths, surrogate regrets
	PYTHONPATH=tests $(BIN)/python -m campaigns exact.nightly --seed $(SEED) --examples $(EXAMPLES) $(ARGS)
	PYTHONPATH=tests $(BIN)/python -m campaigns exact.nightly_exact_path --seed $(SEED) --examples $$(( ($(EXAMPLES) + 4) / 5 ))

nightly-programs: $(READY)  ## exact optima and intervals of programs of every kind
	PYTHONPATH=tests $(BIN)/python -m campaigns exact.nightly_programs --seed $(SEED) --examples $(EXAMPLES) $(ARGS)

nightly-families: $(READY)  ## exact optima of the families of the field
	PYTHONPATH=tests $(BIN)/python -m campaigns nightly_families --seed $(SEED) --examples $(EXAMPLES) $(ARGS)

nightly-degenerate: $(READY)  ## degenerate machines, couplings, sigmoids, least numbers
	PYTHONPATH=tests:examples $(BIN)/python -m campaigns exact.nightly_degenerate --seed $(SEED) --examples $(EXAMPLES) $(ARGS)

nightly-stability: $(READY)  ## derivatives of exact optima, kinks among them
	PYTHONPATH=tests $(BIN)/python -m campaigns exact.nightly_stability --seed $(SEED) --examples $(EXAMPLES) $(ARGS)

nightly-equivalence: $(READY)  ## all pairs of formulations of a family; ARGS="svm.l2" for some
	PYTHONPATH=tests $(BIN)/python -m campaigns equivalence --seed $(SEED) $(ARGS)

nightly-path: $(READY)  ## regularisation paths, judged in extended precision
	PYTHONPATH=tests $(BIN)/python -m campaigns nightly_path --seed $(SEED) --examples $(EXAMPLES) $(ARGS)
	PYTHONPATH=tests $(BIN)/python -m campaigns exact.nightly_linear_path --seed $(SEED) --examples $$(( ($(EXAMPLES) + 4) / 5 ))

nightly-map: $(READY)  ## certified maps of lambda and gamma; EXAMPLES=100 suffices
	PYTHONPATH=tests $(BIN)/python -m campaigns nightly_map --seed $(SEED) --examples $(EXAMPLES) $(ARGS)

nightly-bounds: $(READY)  ## tiny problems at every scale, and paths; EXAMPLES=20000 in a night
	PYTHONPATH=tests $(BIN)/python -m campaigns nightly_bounds --seed $(SEED) --examples $(EXAMPLES) $(ARGS)
	PYTHONPATH=tests $(BIN)/python -m campaigns nightly_bounds_path --seed $(SEED) --examples $$(( $(EXAMPLES) / 10 ))

nightly-explain: $(READY)  ## infeasible, unbounded and bounded models, explained
	PYTHONPATH=tests $(BIN)/python -m campaigns nightly_explain --seed $(SEED) --examples $(EXAMPLES) $(ARGS)

##@ Prove

check-claims: $(READY)  ## every claim of the documents, tried again
	PYTHONPATH=examples $(BIN)/python -m ledger check
	PYTHONPATH=tests:examples $(BIN)/python -m campaigns.claims

proofs: $(READY)  ## the theorems of proofs/rocq, built and checked by Coq
	PYTHONPATH=tests $(BIN)/python -m campaigns.rocq

proof-mutants: $(READY)  ## the theorems with wrong definitions, each of which must be noticed
	PYTHONPATH=tests $(BIN)/python -m campaigns.rocq --mutants

verified-checker: $(READY)  ## the checker that is proved in Coq, compiled for equimargin verify
	$(BIN)/python -m equimargin.proofs.coq

two-checkers: $(READY)  ## the proved checker and checker.py on MUTATIONS changed certificates
	PYTHONPATH=tests $(BIN)/python -m campaigns two_checkers --seed $(SEED) --examples $(MUTATIONS)

three-checkers: $(READY)  ## both and Coq, which computes each verdict, on small certificates
	PYTHONPATH=tests $(BIN)/python -m campaigns three_checkers --seed 1 $(ARGS)

proved-data: $(READY)  ## all three on certificates of whole data sets
	PYTHONPATH=tests $(BIN)/python -m campaigns proved_data $(ARGS)

mutated-certificates: $(READY)  ## MUTATIONS changed certificates; ARGS are parts of their names
	PYTHONPATH=tests $(BIN)/python -m campaigns certificate_mutations --seed $(SEED) --examples $(MUTATIONS) $(ARGS)

third-party: $(READY)  ## certificates of VIPR and POUNCE, valid and forged
	PYTHONPATH=tests $(BIN)/python -m campaigns third_party --seed $(SEED) --examples $(EXAMPLES) $(ARGS)

test-set: $(READY)  ## programs with certificates of their exact optima, in build/test_set
	PYTHONPATH=tests $(BIN)/python -m campaigns.optima_set build/test_set

##@ Measure; all benchmarks: python benchmarks/run.py

bench: $(PEERS)/.ready  ## every kind of work with every peer that can be installed: about an hour
	$(PEERS)/bin/python benchmarks/run.py side_by_side $(ARGS)

bench-each: $(READY)  ## the benchmarks of each kind of work, and the errors of maps
	@set -e; for each in svm linear one_norm hard ranking exact programs bounds; do \
	    echo "== $$each"; $(BIN)/python benchmarks/run.py kinds.$$each; \
	done
	$(BIN)/python -m pytest -m benchmark -s tests/formulations/test_links.py

bench-against: $(READY)  ## another checkout and this one: make bench-against OTHER=../before
	$(BIN)/python benchmarks/run.py between_versions --other $(OTHER) $(ARGS)

bench-device: $(READY)  ## kernel machines on a graphics card: below eight minutes
	$(ADD) '.[test,gpu]'
	$(BIN)/python benchmarks/run.py card $(ARGS)

leaderboard: $(PEERS)/.ready  ## packages for SVMs, and their distances above the proven optimum
	$(PEERS)/bin/python benchmarks/run.py leaderboard $(ARGS)

scaling: $(PEERS)/.ready  ## growth of CPU time with the number of points
	$(PEERS)/bin/python benchmarks/run.py scaling $(ARGS)

experiments: $(READY)  ## what the documents measured, measured again; ARGS=--full takes hours
	@set -e; for each in examples/documents/*_*.py; do \
	    echo "== $$each"; MPLBACKEND=Agg $(BIN)/python $$each --save build/experiments $(ARGS); \
	done

##@ Release

metadata: $(READY)  ## CITATION.cff and codemeta.json, written from pyproject.toml
	$(BIN)/python tests/metadata.py

dist: $(READY)  ## the sdist, and the wheel built from it, checked; same bytes from a commit
	$(ADD) '.[test,release]'
	rm -rf dist equimargin.egg-info
	epoch=$$(git log -1 --format=%ct) && SOURCE_DATE_EPOCH=$$epoch $(BIN)/python -m build --no-isolation
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl

release: $(READY)  ## what a version must pass, in a night; then the commands to publish it
	PYTHONPATH=tests $(BIN)/python -m campaigns.release

clean:  ## delete environments, builds and caches
	rm -rf $(VENV) build dist *.egg-info .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(DOCS): $(READY)
	$(ADD) '.[test,docs]'
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
	@echo "Installing what benchmarks compare with into $(PEERS): a few minutes."
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[compare]'
	@for peer in $$(sed -n 's/^peers = \[\(.*\)\]/\1/p' pyproject.toml | tr -d '",'); do \
	    $(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt $$peer \
	        || echo "$$peer cannot be installed here: benchmarks go on without it"; \
	done
	@touch $@
