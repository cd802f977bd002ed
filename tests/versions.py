"""What is run on which Python: all of it on the default version, on the others what may differ.

On the others, tests are left out whose outcome cannot depend on the version, and those that do the
same thing again with other words are fewer: each family of tests is there on every version. Reasons
stand beside what is left out. What takes longest, or needs packages from the network, is run only
if asked for. REENACT_ALL_TESTS=1 runs everything, in the sizes of the default version.
"""

from __future__ import annotations

import os
import sys

DEFAULT = (3, 11)
RUNS_ALL = bool(os.environ.get("REENACT_ALL_TESTS"))
IS_DEFAULT = RUNS_ALL or sys.version_info[:2] == DEFAULT

ONCE = (
    # what is built upon recording, replaying and searching, and adds nothing that knows the version
    "tests/debug/",
    "tests/plugin/",
    "tests/traps/",
    "tests/docs/",
    "tests/races/test_later",
    # the text of our sources, of our tables and of settings
    "tests/unit/test_architecture",
    "tests/unit/test_config",
    "tests/races/test_table.py::test_the_lines_that_are_named_are_those_that_race",
    # packing and reading, in Python that is the same everywhere; what is read is made by each
    # version in all tests that replay
    "tests/unit/engine/test_linear",
    "tests/unit/recordings/test_header",
    "tests/unit/recordings/test_lanes",
    "tests/unit/recordings/test_members",
    "tests/unit/recordings/test_pack",
    "tests/unit/recordings/test_reader",
    # what another system or a full disk refuses, and what is said then
    "tests/checkpoints/test_elsewhere",
    "tests/crash/test_disk",
    # each program of inputs once more, cut off from the outside; the scenarios always are
    "tests/fidelity/test_surroundings.py::test_without_the_outside",
    # libraries with sites: all kinds of instructions are in the other groups
    "tests/conformance/test_accesses.py::test_cpython_with_accesses[library]",
    "tests/conformance/test_accesses.py::test_cpython_with_accesses[modules]",
    # the tracer that it is compared with is not told of what a module's body writes, from 3.12 on
    "tests/checkpoints/test_moves.py::test_the_last_write_is_the_one_that_a_trace_of_all_writes_has",
    # words, files and options around a search; the searches are also in unit/explore
    "tests/unit/cli/test_explore",
    "tests/unit/explore/test_regression",
    "tests/unit/explore/test_looking",
    "tests/unit/explore/test_schedule",
    # that nothing is found where nothing is: the bugs themselves are found on every version
    "tests/unit/explore/test_loops.py::test_the_twin_without_the_bug_passes",
    "tests/detection/test_search.py::test_no_twin_is_reported",
    "tests/detection/test_search.py::test_reduction_counts_the_classes_that_brute_force_counts",
    # what the readers make of bad files, which knows nothing of the interpreter
    "tests/unit/recordings/test_fuzz",
    "tests/crash/test_mutated",
    # who is interrupted, launcher or program; that the program alone is, is tested everywhere
    "tests/crash/test_interrupted.py::test_launcher_alone",
    "tests/crash/test_interrupted.py::test_terminal",
)
IF_ASKED = (
    "tests/detection/test_real.py",
    "tests/races/test_real.py",
    "tests/plugin/test_truth.py::test_a_livelock",
    "tests/plugin/test_truth.py::test_a_failure_weighs_more_than_an_inconclusive_test",
    "tests/plugin/test_truth.py::test_a_daemon_thread_that_runs_on",
    "tests/plugin/test_beside.py::test_xdist",
    "tests/traps/test_traps.py::test_a_bug_is_found[socket_for_ever]",
)


def left_out() -> tuple[str, ...]:
    """How the ids of the tests begin that are not run here."""
    if RUNS_ALL:
        return ()
    return IF_ASKED if IS_DEFAULT else (*ONCE, *IF_ASKED)
