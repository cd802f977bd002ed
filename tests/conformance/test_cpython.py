"""CPython's own tests of threads, from the installed interpreter, under the engine.

Each module is run by stock Python first: what passes there must pass under the engine, and what is
skipped there must be skipped. `cpython_exceptions.toml` lists what cannot, with the reason.
With REENACT_FULL=1 more modules run, and with the random strategy too.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

HERE = Path(__file__).parent
EXCEPTIONS = tomllib.loads((HERE / "cpython_exceptions.toml").read_text("utf-8"))["exception"]
LISTED = {each["test"] for each in EXCEPTIONS}
NEVER = {each["test"] for each in EXCEPTIONS if not each.get("sometimes")}
SEVERITY = ("started", "passed", "skipped", "failed")
IS_FULL = os.environ.get("REENACT_FULL") == "1"

_FUTURES = ("thread_pool", "future", "wait", "as_completed", "init", "shutdown")
_PARTS = [f"test.test_concurrent_futures.test_{part}@ThreadPool" for part in _FUTURES]
_SPEC = importlib.util.find_spec("test.test_concurrent_futures")
IS_PACKAGE = _SPEC is not None and _SPEC.submodule_search_locations is not None
POOLS = _PARTS if IS_PACKAGE else ["test.test_concurrent_futures@ThreadPool"]

MODULES = {
    "threading": ["test.test_threading"],
    "thread": ["test.test_thread"],
    "queue": ["test.test_queue"],
    "local": ["test.test_threading_local"],
    "sched": ["test.test_sched"],
    "futures": POOLS,
}
MORE = {
    "logging": ["test.test_logging"],
    "functools": ["test.test_functools"],
    "signals": ["test.test_threadsignals"],
    "weakref": ["test.test_weakref"],
    "gc": ["test.test_gc"],
    "import locks": ["test.test_importlib.test_locks"],
    "threaded import": ["test.test_importlib.test_threaded_import"],
}
STRATEGIES = [["--strategy", "queue"]]
if IS_FULL:
    MODULES |= MORE
    STRATEGIES += [["--strategy", "random", "--seed", str(seed)] for seed in (1, 2)]

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("test.test_threading") is None,
    reason="THE STANDARD LIBRARY'S TESTS ARE NOT INSTALLED: nothing of CPython's own was run",
)


def run(place: Path, name: str, prefix: list[str], names: list[str]) -> dict[str, tuple[str, str]]:
    """The worst outcome of each test, by id."""
    place.joinpath(name).mkdir()
    results = place / f"{name}.jsonl"
    command = [sys.executable, *prefix, str(HERE / "run_unittests.py"), str(results), *names]
    with open(place / f"{name}.log", "wb") as log:
        subprocess.run(
            command,
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            cwd=place / name,
            timeout=280,
            start_new_session=True,
        )
    outcomes: dict[str, tuple[str, str]] = {}
    for line in results.read_text("utf-8").splitlines():
        test, outcome, text = json.loads(line)
        before = outcomes.get(test, ("started", ""))[0]
        if SEVERITY.index(outcome) >= SEVERITY.index(before):
            outcomes[test] = (outcome, text)
    return outcomes


def is_listed(test: str, names: set[str] = LISTED) -> bool:
    return any(test.endswith("." + name) for name in names)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda words: "-".join(words[1::2]))
@pytest.mark.parametrize("names", MODULES.values(), ids=MODULES.keys())
def test_cpython(tmp_path: Path, names: list[str], strategy: list[str]) -> None:
    for name in names:
        if importlib.util.find_spec(name.partition("@")[0]) is None:
            pytest.skip(f"{name} IS NOT INSTALLED with this Python: none of its tests was run")
    record = ["-m", "reenact", "record", "-o", str(tmp_path / "run.reenact"), *strategy]
    record += ["--instrument", "test"]  # some tests count on switches inside their own loops
    with ThreadPoolExecutor(2) as pool:  # side by side: most of the time these tests sleep
        runs = [
            pool.submit(run, tmp_path, "stock", [], names),
            pool.submit(run, tmp_path, "engine", record, names),
        ]
        stock, engine = (each.result() for each in runs)
    passed = [test for test, (outcome, _) in stock.items() if outcome == "passed"]
    assert len(passed) > 5, "stock Python ran hardly any test: nothing would be shown"
    wrong = {
        test: engine.get(test, ("not run", ""))
        for test in passed
        if engine.get(test, ("not run", ""))[0] != "passed" and not is_listed(test)
    }
    assert wrong == {}
    stale = [test for test in passed if is_listed(test, NEVER) and engine[test][0] == "passed"]
    assert stale == [], "these pass now: remove them from cpython_exceptions.toml"
