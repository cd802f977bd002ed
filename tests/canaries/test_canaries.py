"""Damage that an extension does is found, with the line that did it; and none where none is."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .finding import build, marked

HERE = Path(__file__).parent
PROGRAMS = HERE.parents[1] / "benchmarks" / "programs"
SCENARIOS_FILE = HERE / "scenarios.py"
NAMES = [
    line.removeprefix("def ").split("(")[0]
    for before, line in zip(
        SCENARIOS_FILE.read_text("utf-8").splitlines(),
        SCENARIOS_FILE.read_text("utf-8").splitlines()[1:],
        strict=False,
    )
    if before.startswith("@scenario")
]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the misbehaving extension."""
    return build(tmp_path_factory.mktemp("misbehaving"))


@pytest.fixture
def run(extension: Path) -> Run:
    def start(*words: object, **settings: str) -> subprocess.CompletedProcess[str]:
        paths = [*os.environ.get("PYTHONPATH", "").split(":"), str(extension)]
        return subprocess.run(
            [sys.executable, *map(str, words)],
            env={**os.environ, "PYTHONPATH": ":".join(filter(None, paths)), **settings},
            capture_output=True,
            text=True,
            check=False,
        )

    return start


@pytest.fixture(scope="session")
def scenarios(extension: Path) -> dict[str, Any]:
    sys.path[:0] = [str(extension), str(HERE)]
    import scenarios as module

    del sys.path[:2]
    return module.SCENARIOS


def judge(result: subprocess.CompletedProcess[str], scenario: Any) -> None:
    """Was just this found, and just there?"""
    function, expected = scenario
    assert result.returncode == 0, result.stderr
    told = json.loads(result.stdout)
    [[kind, _, size, offset, serial]] = told["found"]
    assert (kind, size) == (expected.kind, expected.size)
    assert expected.offset <= offset <= expected.offset + expected.slack
    [[watched, kind, offset, _, allocated, freed, written, callee]] = told["watched"]
    assert (watched, kind) == (serial, expected.kind)
    assert expected.offset <= offset <= expected.offset + expected.slack
    here = inspect.getsourcefile(function)
    assert written[0] == [here, marked(function, "write"), function.__qualname__]
    assert allocated[0] == [here, marked(function, "allocation"), function.__qualname__]
    if (line := marked(function, "free")) is not None:
        assert freed[0] == [here, line, function.__qualname__]
    assert callee == expected.callee


@pytest.mark.parametrize("name", NAMES)
def test_the_line_is_found(name: str, run: Run, scenarios: dict[str, Any]) -> None:
    judge(run(HERE / "driver.py", name), scenarios[name])


def test_no_scenario_is_forgotten(scenarios: dict[str, Any]) -> None:
    assert list(scenarios) == NAMES


def test_it_is_found_in_every_one_of_100_runs(run: Run, scenarios: dict[str, Any]) -> None:
    for number in range(100):
        name = NAMES[number % len(NAMES)]
        judge(run(HERE / "driver.py", name), scenarios[name])


@pytest.mark.parametrize("allocator", ["malloc", "debug", "malloc_debug", "pymalloc_debug"])
def test_other_allocators_below(allocator: str, run: Run, scenarios: dict[str, Any]) -> None:
    for name in ("by_one", "before_it", "freed", "freed_object", "bytes_of"):
        judge(run(HERE / "driver.py", name, PYTHONMALLOC=allocator), scenarios[name])


def quiet(result: subprocess.CompletedProcess[str]) -> None:
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "damaged 0 []"


@pytest.mark.parametrize("everything", ["no", "yes"])
@pytest.mark.parametrize("program", ["library", "raw", "arrays"])
def test_correct_programs(program: str, everything: str, run: Run) -> None:
    if program == "arrays":
        pytest.importorskip("numpy")
    quiet(run(HERE / "quiet.py", everything, HERE / "correct" / f"{program}.py"))


@pytest.mark.parametrize(
    "program", ["fannkuch", "json_parser", "nbody", "nested_loops", "task_simulation", "tree"]
)
def test_benchmarks(program: str, run: Run) -> None:
    path = PROGRAMS / f"{program}.py"
    quiet(run(HERE / "quiet.py", "no", path, 2, 0.05))


@pytest.mark.parametrize("allocator", ["malloc", "debug"])
def test_correct_programs_on_other_allocators(allocator: str, run: Run) -> None:
    program = HERE / "correct" / "library.py"
    quiet(run(HERE / "quiet.py", "no", program, PYTHONMALLOC=allocator))


def test_tracemalloc_begins_later_or_not_at_all(run: Run) -> None:
    code = (
        "import tracemalloc\n"
        "from reenact import _core\n"
        "_core.canaries_begin(True, True)\n"
        "tracemalloc.start()\n"
        "texts = [str(n) * 9 for n in range(10_000)]\n"
        "del texts[::2]\n"
        "tracemalloc.stop()\n"
        "del texts\n"
        "assert _core.canaries_check() == []\n"
        "tracemalloc.start()\n"
    )
    result = run("-c", code)
    assert result.returncode == 0, result.stderr
    refused = run("-c", code, PYTHONTRACEMALLOC="1")
    assert "RuntimeError: canaries must begin before tracemalloc does" in refused.stderr


def test_blocks_outlive_the_end(run: Run) -> None:
    code = (
        "from reenact import _core\n"
        "_core.canaries_begin(True, True)\n"
        "kept = [[n, str(n) * 9, {n: n}, bytearray(n)] for n in range(5_000)]\n"
        "_core.canaries_end()\n"
        "for each in kept:\n"
        "    each.append(each[3] + b'more')\n"
        "    each[3].extend(b'more')\n"
        "del kept\n"
        "assert _core.canaries_check() == []\n"
        "_core.canaries_begin(True, True)\n"
        "kept = [str(n) * 9 for n in range(5_000)]\n"
        "assert _core.canaries_check() == []\n"
    )
    result = run("-c", code)
    assert result.returncode == 0, result.stderr


def test_only_what_is_asked_for(run: Run) -> None:
    code = (
        "import misbehaving\n"
        "from reenact import _core\n"
        "_core.canaries_begin({overflow}, {freed})\n"
        "misbehaving.hold(10)\n"
        "misbehaving.write(10, 1, 0)\n"
        "held = misbehaving.Small()\n"
        "misbehaving.remember(held)\n"
        "del held\n"
        "if {freed}: misbehaving.use_remembered()\n"
        "print([each[0] for each in _core.canaries_check()])\n"
    )
    only_overflows = run("-c", code.format(overflow=True, freed=False))
    assert only_overflows.stdout == "['overflow']\n", only_overflows.stderr
    only_freed = run("-c", code.format(overflow=False, freed=True))
    assert only_freed.stdout == "['use after free']\n", only_freed.stderr


def test_damage_is_told_once(run: Run) -> None:
    code = (
        "import misbehaving\n"
        "from reenact import _core\n"
        "_core.canaries_begin(True, True)\n"
        "misbehaving.hold(10)\n"
        "misbehaving.write(10, 1, 0)\n"
        "print(len(_core.canaries_check()))\n"
        "print(len(_core.canaries_check()))\n"
        "misbehaving.let_go()\n"
        "print(len(_core.canaries_check()))\n"
    )
    result = run("-c", code)
    assert result.stdout.split() == ["1", "0", "0"], result.stderr


def test_a_forked_child_goes_on(run: Run) -> None:
    code = (
        "import os, misbehaving\n"
        "from reenact import _core\n"
        "_core.canaries_begin(True, True)\n"
        "misbehaving.hold(10)\n"
        "if os.fork() == 0:\n"
        "    misbehaving.write(10, 1, 0)\n"
        "    os._exit(len(_core.canaries_check()))\n"
        "print(os.waitstatus_to_exitcode(os.wait()[1]), _core.canaries_check())\n"
    )
    result = run("-c", code)
    assert result.stdout == "1 []\n", result.stderr


@pytest.mark.parametrize("canaries_first", [True, False])
def test_races_are_looked_for_on_top_of_canaries(
    canaries_first: bool, run: Run, tmp_path: Path
) -> None:
    begins = ["_core.canaries_begin(True, True)\n", "_core.races_begin(1.0, 0)\n"]
    code = (
        "import misbehaving\n"
        "from reenact import _core\n"
        + "".join(begins if canaries_first else reversed(begins))
        + "kept = [[n, str(n) * 9, {n: n}, bytearray(n)] for n in range(5_000)]\n"
        "misbehaving.hold_object_memory(20)\n"
        "misbehaving.write(20, 1, 0)\n"
        "_core.races_end()\n"
        "del kept\n"
        "print([each[0] for each in _core.canaries_check()])\n"
    )
    program = tmp_path / "both.py"
    program.write_text(code, "utf-8")
    result = run("-m", "reenact", "record", "-o", tmp_path / "both.reenact", program)
    if canaries_first:
        assert result.stdout == "['overflow']\n", result.stderr
    else:
        assert "RuntimeError: canaries must begin before races are looked for" in result.stderr


def test_a_watch_in_another_thread(run: Run, tmp_path: Path) -> None:
    """Under the gate, and in a thread that was started after the watch began."""
    code = (
        "import threading, misbehaving\n"
        "from reenact import _core\n"
        "def damage():\n"
        "    misbehaving.write(10, 1, 0)\n"
        "def work():\n"
        "    done.wait()\n"
        "    damage()\n"
        "_core.canaries_begin(True, True)\n"
        "misbehaving.hold(10)\n"
        "misbehaving.write(10, 1, 0)\n"
        "[[*_, serial]] = _core.canaries_check()\n"
        "misbehaving.hold(10)\n"
        "_core.canaries_watch([serial + (1 << 25)])\n"  # the next one of its size
        "done = threading.Event()\n"
        "thread = threading.Thread(target=work)\n"
        "thread.start()\n"
        "done.set()\n"
        "thread.join()\n"
        "[[_, kind, _, thread, _, _, stack, callee]] = _core.canaries_watched()\n"
        "print(kind, thread, stack[0][1], stack[1][1], callee.__name__)\n"
    )
    program = tmp_path / "threads.py"
    program.write_text(code, "utf-8")
    result = run("-m", "reenact", "record", "-o", tmp_path / "threads.reenact", program)
    assert result.stdout == "overflow 1 4 7 write\n", result.stderr
