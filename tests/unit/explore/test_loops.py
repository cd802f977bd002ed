"""Event loops in a search: their orders, timers, waits and deadlocks, and what they leave."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from tests.detection.table import PROGRAMS

ROOT = Path(__file__).parents[3]
OURS = "tests.unit.explore.loop_programs"
ASYNCIO = [program for program in PROGRAMS if program.asyncio]


def search(
    name: str, strategy: str = "auto", runs: int = 200, module: str = OURS, **settings: Any
) -> dict[str, Any]:
    what = {"module": module, "name": name, "strategy": strategy, "runs": runs, **settings}
    child = subprocess.run(
        [sys.executable, "-m", "tests.unit.explore.searched", json.dumps(what)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert child.stderr == ""
    found: dict[str, Any] = json.loads(child.stdout)
    assert found["threads"] == 1
    return found


# ---- what is explored ----


def test_tasks_come_in_any_order() -> None:
    found = search("all_orders", "dfs")
    assert found["seen"] == sorted(map("".join, permutations("abc")))
    assert found["exhausted"] == "every execution"


def test_tasks_begin_in_order_if_waits_are_taken_at_their_word() -> None:
    every = ["".join(order) for order in permutations("aAbBm")]
    steps = [each for each in every if is_in_order(each, "aA") and is_in_order(each, "bB")]
    found = search("beginnings", "dfs")
    assert found["seen"] == sorted(steps)
    found = search("beginnings", "dfs", patience_s=0)
    assert found["seen"] == sorted(each for each in steps if is_in_order(each, "abm"))
    assert found["exhausted"] == "every execution"


def is_in_order(text: str, letters: str) -> bool:
    return [each for each in text if each in letters] == list(letters)


def test_plain_callbacks_keep_their_order() -> None:
    found = search("plain_callbacks", "dfs")
    assert found["seen"] == ["12t", "1t2", "t12"]


def test_timers_come_due_together_but_not_with_one_that_is_far() -> None:
    found = search("timers", "dfs")
    assert found["seen"] == ["abz", "baz"]


def test_a_timeout_strikes_between_wake_up_and_step() -> None:
    found = search("late_timeout", "random")
    assert found["seen"] == ["in time", "late, but there"]


def test_without_patience_time_passes_last() -> None:
    found = search("late_timeout", "random", patience_s=0.0)
    assert found["seen"] == ["in time"]


def test_descriptors_that_are_ready_together_come_in_any_order() -> None:
    found = search("ready_together", "random")
    assert found["seen"] == ["a.b.", "b.a."]


def test_a_search_of_two_tasks_comes_to_an_end() -> None:
    found = search("two_tasks", "auto", 1000)
    assert found["verdict"] == "passed"
    assert found["exhausted"] != ""


@pytest.mark.parametrize("strategy", ["auto", "pct", "dfs"])
def test_no_callback_is_put_off_for_ever(strategy: str) -> None:
    assert search("calls_itself_again", strategy)["verdict"] == "passed"


@pytest.mark.parametrize(
    "name", ["together_with_threads", "from_another_thread", "other_selectors", "current_loop"]
)
def test_works_with(name: str) -> None:
    found = search(name)
    assert (found["verdict"], found["reasons"]) == ("passed", [])


# ---- loops that wait for ever ----


def test_a_lost_wake_up_is_a_deadlock_of_tasks() -> None:
    found = search("lost_wake_up")
    assert (found["verdict"], found["kind"], found["reasons"]) == ("failed", "deadlock", [])
    assert found["summary"].startswith("deadlock: all 2 tasks wait for ever")
    waiter = found["waiting"]["task waiter"]
    assert waiter == ["Event.wait", "lost_wake_up.<locals>.main.<locals>.wait_for_it"]
    assert found["waiting"]["task 1 (lost_wake_up.<locals>.main)"] == ["lost_wake_up.<locals>.main"]
    assert "lost_wake_up" in found["waiting"]["0"]


@pytest.mark.parametrize("name", ["stubborn", "left_in_a_thread"])
def test_what_is_given_up_leaves_nothing_behind(name: str) -> None:
    """The failure is seen a second time in the same process; `search` sees to the rest."""
    found = search(name)
    assert (found["verdict"], found["kind"], found["reasons"]) == ("failed", "deadlock", [])


def test_a_loop_that_goes_round_for_ever_comes_to_the_limit() -> None:
    found = search("goes_round_for_ever", step_limit=500)
    assert found["reasons"] == ["no run came to its end within the step limit"]


@contextmanager
def server(greetings: int) -> Iterator[tuple[str, int]]:
    """In this process, which is not the one that searches."""
    listening = socket.create_server(("127.0.0.1", 0))

    def greet() -> None:
        for _ in range(greetings):
            connection, _ = listening.accept()
            with connection:
                connection.sendall(b"hello")

    thread = threading.Thread(target=greet, daemon=True)
    thread.start()
    with listening:
        yield listening.getsockname()
        thread.join()


def test_the_outside_is_waited_for() -> None:
    with server(10) as address:
        found = search("from_outside", "random", 10, address=address)
    assert (found["verdict"], found["runs"]) == ("passed", 10)


# ---- exceptions that nobody looks at ----


def test_an_exception_that_was_never_retrieved_leaves_doubt() -> None:
    found = search("never_retrieved")
    assert (found["verdict"], found["reasons"]) == (
        "inconclusive",
        ["an exception was never looked at: Task exception was never retrieved: ValueError: lost"],
    )


@pytest.mark.parametrize("name", ["cancelled_in_a_group", "cancels_itself_in_a_pool"])
def test_a_cancellation_that_nobody_looks_at_leaves_none(name: str) -> None:
    found = search(name)
    assert (found["verdict"], found["reasons"]) == ("passed", [])


def test_an_exception_in_a_callback_leaves_doubt() -> None:
    found = search("failing_callback")
    assert found["verdict"] == "inconclusive"
    assert "Exception in callback int: ValueError: invalid literal" in found["reasons"][0]


def test_an_exception_handler_of_the_program_is_somebody_who_looks() -> None:
    assert search("own_handler")["verdict"] == "passed"


# ---- the programs of the detection suite ----


@pytest.mark.parametrize("program", ASYNCIO, ids=lambda program: program.name)
def test_the_bug_is_found_and_comes_again(program: Any) -> None:
    found = search("buggy", "auto", 2000, f"tests.detection.programs.{program.name}")
    assert (found["verdict"], found["kind"]) == ("failed", program.kind)
    assert found["reasons"] == []


@pytest.mark.parametrize("strategy", ["auto", "pct", "pos", "random", "delay", "dfs"])
@pytest.mark.parametrize("program", ASYNCIO, ids=lambda program: program.name)
def test_the_twin_without_the_bug_passes(program: Any, strategy: str) -> None:
    found = search("safe", strategy, 60, f"tests.detection.programs.{program.name}")
    assert (found["verdict"], found["reasons"]) == ("passed", [])


LOOKS_TWICE = """
import asyncio, gc
from reenact.instrument import swap

async def main():
    await asyncio.gather(*(asyncio.sleep(0.001) for _ in range(20)))

asyncio.run(main())
for _ in range(2):
    assert main in swap._loaded_functions()
asyncio.run(main())
gc.collect()
"""


def test_looking_for_functions_does_no_harm_to_asyncio() -> None:
    """3.12's module keeps iterators for later use, and shows them to whoever asks what it has."""
    child = subprocess.run([sys.executable, "-c", LOOKS_TWICE], timeout=60, capture_output=True)
    assert (child.returncode, child.stderr) == (0, b"")
