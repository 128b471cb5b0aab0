# make demo, make test, make fmus, make bench: each installs what it needs into .venv first. A second run is quick.
PYTHON ?= python3
BIN := .venv/bin
LOCK ?= requirements-dev.lock
PIP := $(BIN)/pip install --quiet --disable-pip-version-check $(LOCK:%=--constraint %)
EDITABLE := $(PIP) --no-build-isolation --editable
CORE := $(wildcard fmumbs/core/* fmumbs/core/*/*) $(wildcard cmake/*) CMakeLists.txt
MODELS := $(filter-out models/__init__.py,$(wildcard models/*.py))

.PHONY: help demo test test-all platforms wheels lint format docs fmus bench sanitize sanitize-all sanitize-python fuzz fuzz-briefly faults dev lock minimum clean
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

help:
	@echo "make demo      exports a mechanism, runs it in FMPy, prints a table, writes a plot and a page to move it in"
	@echo "make test      linters, type checker, sanitized C tests, some fuzzing, every other test"
	@echo "make test-all  make platforms, then the same, then the tests marked slow: more random cases, and larger ones"
	@echo "make platforms builds the FMU binaries of the other platforms with zig; minutes when nothing is cached"
	@echo "make wheels    wheels for Linux, Windows and macOS that a package index accepts, into dist/"
	@echo "make lint      linters and type checker"
	@echo "make sanitize  the core's C tests under the address and undefined-behaviour sanitizers"
	@echo "make sanitize-all  the same, every case on every image"
	@echo "make sanitize-python  some Python tests and random models under the address sanitizer"
	@echo "make fuzz      a million damaged images, states and sequences of calls, under the same sanitizers"
	@echo "make faults    plants faults in a copy of the code and tells which no test sees; takes hours"
	@echo "make docs      builds the site of documentation into build/site"
	@echo "make fmus      exports every mechanism in models/ to fmus/"
	@echo "make bench     times the core beside other engines"
	@echo "make dev       makes .venv with all that the above need"
	@echo "make lock      writes requirements-dev.lock, the versions that the above install; LOCK= takes the newest instead"
	@echo "make minimum   runs a part of the tests with the least versions that pyproject.toml allows"
	@echo "make clean     removes .venv and everything built"

demo: .venv/.plot .venv/.core
	@$(MAKE) --no-print-directory .venv/.browser || echo "without zig the page of the demo only plays"
	$(BIN)/fmumbs demo

test: .venv/.test .venv/.core # then the rest is independent and runs side by side
	$(MAKE) --jobs=$$(nproc) --output-sync=target lint sanitize sanitize-python fuzz-briefly .venv/.counting
	$(BIN)/pytest -n auto --dist worksteal

test-all: platforms
	$(MAKE) test
	$(MAKE) --jobs=$$(nproc) sanitize-all
	$(BIN)/pytest -n auto --dist worksteal -m slow
	$(MAKE) sanitize-python SANITIZED_TESTS="$(RANDOM_MODELS) tests/core/assembly/test_nearest.py tests/relations" SANITIZED_OPTIONS="-n auto -m slow"

platforms: .venv/.platforms

wheels: platforms # with the binaries that are in build/platforms then
	rm -rf build/wheels dist/*.whl
	$(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation -w build/wheels .
	$(BIN)/python cmake/wheels.py build/wheels/*.whl dist

C_FILES = $(filter-out fmumbs/core/fmi/fmi2Function% fmumbs/core/fmi/fmi2Types% fmumbs/core/fmi/fmi3Function% fmumbs/core/fmi/fmi3Platform%,$(wildcard \
    fmumbs/core/*.h fmumbs/core/*/*.[ch] fmumbs/core/*/*.inc fmumbs/export/*.inc tests/core/*.h tests/core/*/*.c tests/*/*.c tests/faults/site/*.c fuzz/*.[ch] \
    tests/oracle/quadruple/*.[ch] \
    benchmarks/*.c benchmarks/peers/*.c benchmarks/peers/*.h))

lint: .venv/.test .venv/.core
	$(BIN)/ruff check .
	@echo clang-format && $(BIN)/clang-format --dry-run -Werror $(C_FILES)
	$(BIN)/mypy

format: .venv/.test
	$(BIN)/clang-format -i $(C_FILES)

docs: .venv/.docs .venv/.core
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo "build/site/index.html"

fmus: .venv/.plot .venv/.core
	cd fmus && ../$(BIN)/fmumbs export $(addprefix ../,$(MODELS))

bench: .venv/.bench .venv/.core
	$(BIN)/python benchmarks/open_chains.py
	$(BIN)/python benchmarks/closed_loops.py
	$(BIN)/python benchmarks/compilers.py
	$(BIN)/python benchmarks/constraint_violation.py
	$(BIN)/python benchmarks/stiff.py
	$(BIN)/python benchmarks/waiting.py

dev: .venv/.plot .venv/.test .venv/.docs .venv/.bench .venv/.browser .venv/.counting

# --- versions ------------------------------------------------------------------------------------------
TOOLS := "scikit-build-core>=1.0" "cffi>=2.1" "cmake>=3.26" ninja

lock: .venv/.tools
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/pip install --quiet --disable-pip-version-check $(TOOLS) '.[plot,test,docs,bench,zig]'
	grep '^#' requirements-dev.lock > build/lock/new
	build/lock/bin/pip freeze --disable-pip-version-check --exclude fmumbs >> build/lock/new
	mv build/lock/new requirements-dev.lock

LEAST := build/least/bin
LEAST_TESTS := tests/cli tests/run tests/compiler tests/mechanism tests/export/test_fmu.py

minimum:
	rm -rf build/least && $(PYTHON) -m venv build/least
	$(LEAST)/python tests/support/least_versions.py > build/least/constraints
	FMUMBS_HOST_ONLY=1 $(LEAST)/pip install --quiet --disable-pip-version-check --constraint build/least/constraints '.[plot,test]'
	$(LEAST)/pytest -W ignore::DeprecationWarning $(LEAST_TESTS) # of old packages among themselves

clean:
	rm -rf .venv build fmumbs/_core*.so fmumbs/_fmu fmumbs/_models

# --- the virtual environment: a stamp file says what is in it ------------------------------------------
.venv/.tools:
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || \
	  { echo "fmumbs needs Python 3.11 or newer; say which: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(PIP) $(TOOLS)
	@touch $@

.venv/.plot .venv/.test .venv/.docs .venv/.bench .venv/.zig: .venv/.%: .venv/.tools pyproject.toml
	$(EDITABLE) ".[$*]"
	@touch $@

.venv/.core: .venv/.tools pyproject.toml $(CORE)
	$(EDITABLE) . --no-deps
	@touch $@

.venv/.browser: .venv/.zig .venv/.core # the core for browsers, one of the platforms
	$(BIN)/python cmake/platforms.py fmumbs wasm32-wasi
	@touch $@

.venv/.counting: .venv/.core fmumbs/export/counting.py fmumbs/export/counting.inc # with g++; a minute
	$(BIN)/python -m fmumbs.export.counting || ! command -v g++ # without it operations are not counted
	@touch $@

.venv/.platforms: .venv/.zig .venv/.core # whose install removes binaries made from other sources
	$(BIN)/python cmake/platforms.py fmumbs
	@touch $@

# --- the core under the sanitizers, compiled once: for the C tests, the fuzz targets and a Python package --------
SANITIZED := build/sanitized
SANITIZE := -g1 -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer
TRACE := -fsanitize-coverage=trace-pc# for fuzz/driver.c; the others link what does nothing
CMAKE := MAKEFLAGS= PATH="$(abspath $(BIN)):$$PATH" cmake# ninja cannot use make's jobserver

$(SANITIZED)/libfmumbs.a: .venv/.tools $(CORE) Makefile
	@mkdir -p $(@D)
	echo 'void __sanitizer_cov_trace_pc(void); void __sanitizer_cov_trace_pc(void) {}' | $(CC) -O2 -fPIC -x c -c - -o $(@D)/untraced.o
	CFLAGS="$(SANITIZE) $(TRACE)" LDFLAGS="$(SANITIZE) $(abspath $(@D)/untraced.o)" $(CMAKE) -G Ninja -S . -B $(@D) -DCMAKE_BUILD_TYPE=None \
	  -DFMUMBS_OPTIMIZATION=-O1 -DPython_EXECUTABLE="$(abspath $(BIN))/python" -DCMAKE_INSTALL_PREFIX="$(abspath $(@D))/site" >/dev/null
	$(CMAKE) --build $(@D) --target archive
	@touch $@

C_TESTS := $(patsubst tests/core/%.c,build/sanitize/%.passed,$(wildcard tests/core/*/*.c))

sanitize: $(C_TESTS)

sanitize-all: $(C_TESTS:passed=all_passed)

build/sanitize/%.passed: build/sanitize/% build/images/list.txt
	./$<
	@touch $@

build/sanitize/%.all_passed: build/sanitize/% build/images/list.txt
	EVERY_CASE=1 ./$<
	@touch $@

build/sanitize/%: tests/core/%.c tests/core/images.h $(SANITIZED)/libfmumbs.a
	@mkdir -p $(@D)
	$(CC) -std=c99 -O1 $(SANITIZE) -Wall -Wextra -Ifmumbs/core -Itests/core $< $(SANITIZED)/libfmumbs.a $(SANITIZED)/untraced.o -lm -o $@

# some Python tests and random models on a package of its own
RANDOM_MODELS := tests/core/kernels/test_planar_beside.py
SANITIZED_TESTS := tests/run/test_result.py tests/run/test_solver.py tests/core/fmi/test_fmi2_state.py \
  tests/core/instance/test_foreign_memory.py tests/core/statics/test_stability.py::test_only_the_last_assembly_counts \
  tests/core/motion/test_reactions_at_folds.py::test_what_stays_finite_is_the_limit $(RANDOM_MODELS)
SANITIZED_OPTIONS :=

sanitize-python: .venv/.test .venv/.core $(SANITIZED)/libfmumbs.a
	$(CMAKE) --build $(SANITIZED)
	rm -rf $(SANITIZED)/site
	mkdir -p $(SANITIZED)/site/fmumbs
	cd fmumbs && tar -cf - --exclude='_core*' --exclude=_fmu --exclude=_models --exclude=__pycache__ . | \
	  tar -xf - -C ../$(SANITIZED)/site/fmumbs
	$(CMAKE) --install $(SANITIZED) >/dev/null
	LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libstdc++.so)" PYTHONMALLOC=malloc \
	  ASAN_OPTIONS=detect_leaks=0:log_path=$(SANITIZED)/report \
	  PYTHONPATH="$(CURDIR)/tests/faults/site:$(CURDIR)/$(SANITIZED)/site" $(BIN)/pytest -q -p no:cacheprovider $(SANITIZED_OPTIONS) $(SANITIZED_TESTS) \
	  || { cat $(SANITIZED)/report.* 2>/dev/null; false; }

fuzz: build/images/list.txt $(SANITIZED)/libfmumbs.a
	MAKEFLAGS= fuzz/run

fuzz-briefly: build/images/list.txt $(SANITIZED)/libfmumbs.a
	MAKEFLAGS= CASES=10000 CORPUS=none fuzz/run

faults: .venv/.test .venv/.core
	$(BIN)/python tests/faults/run.py --collect --jobs 2
	$(BIN)/python tests/faults/run.py --jobs 2

build/images/list.txt: tests/core/write_images.py $(wildcard tests/support/*.py) $(MODELS) .venv/.test .venv/.core
	$(BIN)/python $< $(@D)

.PRECIOUS: build/sanitize/%
