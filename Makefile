# Everything from a fresh clone: make demo, make test. Virtual environments are made as needed.

VERSIONS := 3.11 3.12 3.13 3.13t
VENV := .venv
PYTHON := $(VENV)/bin/python
SOURCES := pyproject.toml setup.py $(wildcard src/reenact/_core/*.c src/reenact/_core/*.h)

.PHONY: demo test check bench fidelity clean
.PRECIOUS: .venv-%/.installed

demo: $(VENV)/.installed
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" sh examples/demo.sh

# The tests on every Python we support that is installed; a missing one is said, loudly. 3.13t is
# free-threaded: tools/free-threaded-python makes one.
test:
	@sh tools/install-servers
	@set -e; tested=; for version in $(VERSIONS); do \
	    if [ -n "$$(tools/find-python $$version)" ]; then \
	        echo "== tests on Python $$version"; $(MAKE) --no-print-directory test-$$version; \
	        tested="$$tested $$version"; \
	    else \
	        echo "== SKIPPED: Python $$version is not installed, nothing was tested on it" >&2; \
	    fi; \
	done; \
	[ -n "$$tested" ] || { echo "no supported Python found: install one of $(VERSIONS)" >&2; exit 1; }; \
	echo "== tested on Python$$tested"

# Two at a time: three are no faster on two processors.
PYTEST := -n 2 --dist worksteal

# Most tests start processes: where Python is told to write no bytecode, each would compile it all.
# Not quietly: the header says what is not run.
test-%: .venv-%/.installed
	.venv-$*/bin/python -m compileall -q src
	.venv-$*/bin/python -m pytest $(PYTEST)

check: .venv-3.11/.installed
	.venv-3.11/bin/ruff check .
	.venv-3.11/bin/ruff format --check .
	.venv-3.11/bin/mypy
	.venv-3.11/bin/clang-format --dry-run --Werror src/reenact/_core/*.[ch] benchmarks/baselines/*.[ch]
	.venv-3.11/bin/python tools/compile_strictly.py

bench: $(VENV)/.installed .venv-3.11/.installed
	$(PYTHON) -m compileall -q src/reenact
	$(PYTHON) benchmarks/record.py
	.venv-3.11/bin/python benchmarks/servers.py
	$(PYTHON) benchmarks/detection.py
	$(PYTHON) benchmarks/explore.py

# Every program recorded 40 times and replayed 120 times, on every Python: over an hour.
fidelity:
	@set -e; for version in $(VERSIONS); do \
	    $(MAKE) --no-print-directory .venv-$$version/.installed; \
	    .venv-$$version/bin/python -m tests.fidelity.full --workers 2; \
	done

# The first supported Python, and nothing but reenact.
$(VENV)/.installed: $(SOURCES)
	@sh tools/make-venv $(VENV) . 3.11 3.12 3.13

# One Python, with what tests, checks and scenarios need.
.venv-%/.installed: $(SOURCES)
	@sh tools/make-venv .venv-$* '.[dev,scenarios]' $*

# Free-threaded: without the packages that are not released for it.
.venv-3.13t/.installed: $(SOURCES)
	@sh tools/make-venv .venv-3.13t '.[tests,scenarios-free-threaded]' 3.13t

clean:
	rm -rf build .venv .venv-* src/*.egg-info src/reenact/*.so
