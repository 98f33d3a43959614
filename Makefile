# `make reproduce` and `make test` work on a fresh machine with Python 3.11 or newer.
PYTHON ?= python3
SCALE ?= standard
CORES ?= all
VENV := .venv
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
# Jobs set their own number of threads; the libraries' pools must not multiply it.
READY := $(VENV)/.ready

.PHONY: reproduce test test-fast test-cluster lint bench clean
.DEFAULT_GOAL := reproduce

$(READY): envs/requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: $(PYTHON) is older than Python 3.11. Name a newer one: make PYTHON=python3.11"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet -r envs/requirements.txt
	$(VENV)/bin/python -m pip install --quiet --no-deps -e .
	@touch $@

reproduce: $(READY)
	@status=0; snakemake --cores $(CORES) --config scale=$(SCALE) || status=$$?; \
	  python -m sgdclaims verdicts --scale $(SCALE); exit $$status

test: $(READY)
	pytest

test-fast: $(READY)
	pytest -m 'not slow'

# On a SLURM that answers, or that the script SLURM=<path> starts.
test-cluster: $(READY)
	$(if $(SLURM),SGDCLAIMS_TEST_SLURM=$(abspath $(SLURM))) pytest tests/cluster

lint: $(READY)
	ruff check .
	ruff format --check .
	mypy
	lint-imports
	snakefmt --check Snakefile rules
	snakemake --lint
	python -m sgdclaims config --check

bench: $(READY)
	python benchmarks/engine.py

clean:
	rm -rf results/quick results/standard results/paper figures/*.pdf figures/*.png logs .snakemake
