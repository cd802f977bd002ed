"""The pytest plugin: `pytest --reenact` runs each test under many schedules.

Owns the options and who does what in which process. Without the options it does nothing, and
imports nothing of reenact. `explorer.py` runs tests, `summary.py` tells of it in the terminal; with
xdist the first is in the workers, and the second in the process that started them. `journey.py` has
the debugger opened at a saved failure, by `travel.py` in a process of its own, which records the
session of `recorded.py`.
"""

from __future__ import annotations

import _thread
import os

import pytest

STRATEGIES = ("auto", "random", "pct", "pos", "delay", "dfs", "dpor", "queue")
_MARKER = (
    "reenact(runs=, seconds=, strategy=, seed=, patience=, races=, skip=): how `pytest --reenact` "
    "explores this test; races=True looks for races, too; skip=True runs it once, as plain pytest "
    "does"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("reenact", "exploring schedules")
    add = group.addoption
    add("--reenact", action="store_true", help="run each test under many schedules")
    add("--reenact-runs", type=int, default=200, metavar="N", help="schedules per test (200)")
    add(
        "--reenact-seconds",
        type=float,
        default=30.0,
        metavar="S",
        help="begin no more schedules of a test after so long (30; 0 for no limit)",
    )
    add("--reenact-strategy", choices=STRATEGIES, default="auto", help="who chooses (auto)")
    add("--reenact-seed", type=int, default=0, metavar="N", help="for strategies that draw (0)")
    add(
        "--reenact-patience",
        type=float,
        default=1.0,
        metavar="S",
        help="sleeps and time-outs of S seconds and more end when nothing else can happen, shorter "
        "ones at any time (1; 0 takes all at their word)",
    )
    add(
        "--reenact-points",
        choices=("sync", "ticks", "accesses"),
        default="accesses",
        help="where threads may be switched: at synchronisation alone, also in loops and calls, "
        "or at shared reads and writes (accesses)",
    )
    add(
        "--reenact-instrument",
        action="append",
        default=[],
        metavar="PACKAGE",
        help="an installed package whose code gets points, too; can be repeated",
    )
    add(
        "--reenact-races",
        action="store_true",
        help="explore, and look for races, too: a test whose schedules have one fails",
    )
    add(
        "--reenact-lenient",
        action="store_true",
        help="inconclusive tests do not change the exit code",
    )
    add("--reenact-replay", metavar="PATH", help="run the test of a saved failure once, like then")


def is_wanted(options: object) -> bool:
    names = ("reenact", "reenact_races", "reenact_replay")
    return any(getattr(options, name, None) for name in names)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """As early as can be: what is imported from now on shall have points."""
    options = early_config.known_args_namespace
    if is_wanted(options) and (_is_worker() or not getattr(options, "numprocesses", None)):
        from reenact_pytest import explorer

        explorer.prepare(early_config, options)


def _is_worker() -> bool:
    """Of xdist. The variable may come from one who runs us; a worker itself has a thread that
    listens."""
    return "PYTEST_XDIST_WORKER" in os.environ and _thread._count() > 0


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    if not is_wanted(config.option) or config.pluginmanager.hasplugin("reenact-explorer"):
        return  # the second in a session that is recorded
    from reenact_pytest import summary

    config.pluginmanager.register(summary.Summary(config), "reenact-summary")
    if config.pluginmanager.hasplugin("dsession"):  # xdist's workers do the work
        return
    from reenact_pytest import explorer

    explorer.prepare(config, config.option)
    explorer.refuse_recording(config)
    config.pluginmanager.register(explorer.Explorer(config), "reenact-explorer")
