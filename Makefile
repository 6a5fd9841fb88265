# The paper
#   make reproduce   install what the paper needs (about 700 MB), then run the paper's sections and the audit
#   make <section>   run one section; ARGS="level=0.9" overrides its configuration, and writes to outputs/
#   make smoke       every section of the paper in minutes, and one page: outputs/smoke/index.html
#   make audit       give every printed number a verdict from the stored results
#   make stale       list what is stored that this code neither made nor was found to make again, beyond the paper
#                    too (ARGS=fail=true: exit code 1 if there is anything)
#   make verify      recompute the paper's stored results and compare them: every cell, picture and record of a run
#                    (ARGS=only=stale: what another code made; ARGS=sample=1: a sample)
#   make figures     redraw every figure from the stored tables, computing nothing
#   make tables      write every stored table in Markdown and LaTeX: outputs/tables/
#   make crate       describe what was made from what, for machines: ro-crate-metadata.json
# Beyond the paper
#   make beyond      run the sections beyond the paper, then the audit
#   make verify_beyond  as make verify, for the sections beyond the paper
#   make plan        how many comparisons and judges a wanted precision takes: conf/plan.yaml
#   make kernels     small sections and the numerical tests under several BLAS kernels (ARGS=short=true)
#   make torture     kills, maxima, certificates and damaged files at random, by the thousand, counted
#   make packages    install other packages in .venv-packages (600 MB) and compare them with this one: docs/beyond/packages.md
#   make bench       speed and memory as ratios, compared with the stored ones: ROWS=choix,commands measures some,
#                    ARGS=store=true stores them
# The tool
#   make rank        rank your own models: DATA=my.jsonl, as judgerank rank
#   make collect     ask LLM judges: ARGS="answers.jsonl --panel panel.yaml", as judgerank collect
# Tests and documentation
#   make test        install what most tests need, then lint and all but the slow tests: a few minutes
#   make test-all    install everything, then lint and all tests, as CI does
#   make lowest      the library's quick tests at the lowest versions that pyproject.toml allows (PYTHON=python3.13:
#                    on that Python)
#   make newest      the same at the newest versions
#   make licences    licence and known vulnerabilities of every package in the lock file
#   make docs        build the documentation as a site: site/
#   make screens     take the pictures of the example's page in docs/images (needs Chromium)
# Installation
#   make study       install what `make reproduce` needs in .venv: requirements-study.lock, a part of requirements.lock
#   make test-environment  install what `make test` needs in .venv: requirements-test.lock, a part of requirements.lock
#   make docs-environment  install what `make docs` needs in .venv: requirements-docs.lock, a part of requirements.lock
#   make environment install everything in .venv: requirements.lock
#   make lock        resolve the lock files again (needs uv)
# Any command: BIN=$CONDA_PREFIX/bin runs it in an environment of your own and installs nothing

# The longest first: two run at once, each with half of the processors
PAPER  := sparsity convergence_mse subsampling_efficiency ci_coverage mixed_judges unstated_settings judge_reliability \
          data_overview chatbot_arena benchmark_alignment complete_ranking tie_handling length_covariate
BEYOND := claims tastes contrary adaptive defaults plan graded human_scale gate trust scale people newcomers \
          few_answers self_preference rankings model_comparison uncertainty fitness panel method_comparison \
          small_samples validity soft slot_bias
SECTIONS := $(PAPER) $(BEYOND)
PYTHON   ?= python3
VENV     := .venv/bin
BIN      := $(VENV)
ARGS     ?=
UV       := uv==0.13.9
export OPENBLAS_NUM_THREADS ?= 1
HALF_EACH = LOKY_MAX_CPU_COUNT=$$($(BIN)/python -c 'import os; print(((os.cpu_count() or 1) + 1) // 2)')

.PHONY: help reproduce beyond stale tables test test-all lowest newest licences smoke figures audit crate verify verify_beyond kernels packages bench torture screens rank collect docs lock study \
        test-environment docs-environment environment \
        $(SECTIONS)

reproduce: study
	$(HALF_EACH) $(MAKE) -j2 $(PAPER)
	$(MAKE) audit

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

beyond: study
	$(HALF_EACH) $(MAKE) -j2 $(BEYOND)
	$(MAKE) audit crate

ifeq ($(BIN),$(VENV))
study: .venv/study
test-environment: .venv/test
docs-environment: .venv/docs
environment: .venv/installed
else
study test-environment docs-environment environment:
	@test -x '$(BIN)/python' || { echo 'BIN=$(BIN): no program named python in this folder' >&2; exit 1; }
endif

# One environment: what is installed in full has what the tests and the study need, at the same versions
.venv/study: requirements-study.lock pyproject.toml
	$(call install,$<)
	touch $@

.venv/test: requirements-test.lock pyproject.toml
	$(call install,$<)
	touch .venv/study $@

.venv/docs: requirements-docs.lock pyproject.toml
	$(call install,$<)
	touch $@

.venv/installed: requirements.lock pyproject.toml
	$(call install,$<)
	touch .venv/study .venv/test .venv/docs $@

define install
$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
$(PYTHON) -m venv .venv
$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r $(1)
$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
endef

$(SECTIONS): study
	$(BIN)/python $(wildcard experiments/$@.py experiments/beyond/$@.py) $(ARGS)

figures: study
	for section in $(SECTIONS); do $(BIN)/python $$(ls experiments/$$section.py experiments/beyond/$$section.py 2>/dev/null) draw_only=true || exit 1; done

audit: study
	$(BIN)/python experiments/audit.py $(ARGS)
	$(BIN)/python experiments/beyond/pages.py

smoke verify stale crate tables: study
	$(BIN)/python experiments/$@.py $(ARGS)
verify_beyond: study
	$(BIN)/python experiments/beyond/$@.py $(ARGS)
kernels torture licences screens: environment
	$(BIN)/python experiments/beyond/$@.py $(ARGS)

test: test-environment
test: SELECTED := -m "not slow"
test-all: environment
test test-all:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder $(SELECTED) $(ARGS)

# Not the slow tests, such as mypy, which has one answer at the versions of the lock file
# Inspect pins fsspec, by s3fs, to a version that the lowest datasets does not take
lowest: RESOLUTION := lowest-direct
lowest: WITH = $(filter-out inspect,$(shell sed -n '/optional-dependencies/,/^\[project.scripts/s/^\([a-z]*\) = \[$$/\1/p' pyproject.toml))
newest: RESOLUTION := highest
newest: WITH = $(shell sed -n '/optional-dependencies/,/^\[project.scripts/s/^\([a-z]*\) = \[$$/\1/p' pyproject.toml)
lowest newest:
	$(PYTHON) -m venv --clear .venv-$@
	.venv-$@/bin/pip install --quiet --disable-pip-version-check $(UV)
	.venv-$@/bin/uv pip install --quiet --python .venv-$@ --resolution $(RESOLUTION) $(WITH:%=--extra %) -r pyproject.toml
	.venv-$@/bin/uv pip install --quiet --python .venv-$@ --no-deps -e .
	JUDGERANK_RESOLUTION=$(RESOLUTION) .venv-$@/bin/python -m pytest -n auto --dist loadfile --no-loadscope-reorder \
	  -m "not slow or versions" tests/library tests/tool/test_versions.py $(ARGS)

# Not in the lock file, which cannot have them: arena-rank fixes the version of numpy
PACKAGES := arena-rank==0.1.1 choix==0.4.1 crowd-kit==1.4.2 evalica==0.4.2 evaluatorq==1.82.0 honestboard==0.6.1 statgate==0.1.1
packages:
	$(PYTHON) -m venv --clear .venv-packages
	.venv-packages/bin/pip install --quiet --disable-pip-version-check $(UV)
	.venv-packages/bin/uv pip install --quiet --python .venv-packages --extra study -r pyproject.toml $(PACKAGES)
	.venv-packages/bin/uv pip install --quiet --python .venv-packages --no-deps -e .
	.venv-packages/bin/python experiments/beyond/packages.py $(ARGS)

bench: environment
	$(BIN)/python experiments/beyond/bench.py $(if $(ROWS),'rows=[$(ROWS)]') $(ARGS)

collect: environment
	$(BIN)/judgerank collect $(ARGS)

DATA ?=
rank: environment
	$(BIN)/judgerank rank $(if $(DATA),'$(subst ','\'',$(DATA))') $(ARGS)

docs: docs-environment
	$(BIN)/zensical build --strict
	rm -rf site/figures
	cp -R figures site/

lock: TESTED := study test scale zstd excel mcp
lock:
	uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 \
	  --generate-hashes --no-header --quiet -o requirements.lock
	uv pip compile pyproject.toml --extra study --universal --python-version 3.11 -c requirements.lock \
	  --generate-hashes --no-header --quiet -o requirements-study.lock
	uv pip compile pyproject.toml $(TESTED:%=--extra %) --universal --python-version 3.11 -c requirements.lock \
	  --generate-hashes --no-header --quiet -o requirements-test.lock
	echo hatchling | uv pip compile pyproject.toml - --extra collect --universal --python-version 3.11 \
	  -c requirements.lock --generate-hashes --no-header --quiet -o requirements-gate.lock
	printf '%s\n' zensical 'mkdocstrings[python]' hatchling editables pip | uv pip compile - --universal \
	  --python-version 3.11 -c requirements.lock --generate-hashes --no-header --quiet -o requirements-docs.lock
