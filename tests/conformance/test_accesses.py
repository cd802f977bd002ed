"""CPython's own tests of the language, its containers and library, with sites at all accesses.

The tests have them, and of the library the modules under test that are written in Python. What
passes under stock Python must pass so too. No gate is active: this is about the rewriting.
With REENACT_FULL=1 more modules run.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.conformance.test_cpython import HERE, IS_FULL, run

CONTAINERS = ["dict", "list", "deque", "ordered_dict", "defaultdict", "dictviews", "iter"]
LANGUAGE = ["scope", "augassign", "unpack", "with", "class", "patma", "fstring", "generators"]
LIBRARY = ["dataclasses", "functools", "collections", "contextlib", "copy"]
TRACERS = ["sys_settrace", "sys_setprofile", "bdb", "trace"]
# Tested by modules of the same name, and imported by nothing that runs before.
MODULES = ["queue", "sched", "configparser", "textwrap", "shlex", "graphlib", "csv", "colorsys"]
MODULES += ["fileinput", "cmd", "quopri"]
if IS_FULL:
    MODULES += ["difflib", "statistics", "fractions", "calendar"]
GROUPS = {"containers": CONTAINERS, "language": LANGUAGE, "library": LIBRARY, "tracers": TRACERS}
GROUPS |= {"modules": MODULES}
if IS_FULL:
    GROUPS |= {
        "more": ["set", "descr", "bytes", "itertools", "enum", "typing", "weakref", "userdict"],
        "grammar": ["grammar", "coroutines", "asyncgen", "named_expressions", "listcomps", "super"],
        "errors": ["exceptions", "traceback", "raise", "exception_group", "pdb", "frame"],
    }

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("test.test_dict") is None,
    reason="THE STANDARD LIBRARY'S TESTS ARE NOT INSTALLED: nothing of CPython's own was run",
)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("group", GROUPS)
def test_cpython_with_accesses(tmp_path: Path, group: str) -> None:
    names = [f"test.test_{name}" for name in GROUPS[group]]
    manner = "unwatched" if group in ("tracers", "errors") else "watched"
    stock = run(tmp_path, "stock", [], names)
    modules = ",".join(MODULES if group == "modules" else ["test"])
    sites = run(tmp_path, "sites", [str(HERE / "with_accesses.py"), manner, modules], names)
    passed = [test for test, (outcome, _) in stock.items() if outcome == "passed"]
    assert len(passed) > 5 * len(names), "stock Python ran hardly any test"
    assert {
        test: sites.get(test) for test in passed if sites.get(test, "")[:1] != ("passed",)
    } == {}
    told = (tmp_path / "sites.log").read_text("utf-8", "replace").splitlines()[-1]
    assert told.endswith("accesses")
    assert (int(told.split()[0]) > 1000) == (manner == "watched")
