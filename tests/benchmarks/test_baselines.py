"""The earlier recorders: what they wrote is what was fed to them, whichever threads did so."""

from __future__ import annotations

import importlib.util
import shutil
import struct
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines import traces
from baselines.build import build

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")

Event = tuple[int, int, int]
READ, WRITE, ACQUIRE = 0, 1, 2


@pytest.fixture(scope="module")
def baselines(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The module, compiled for this interpreter."""
    path = build(tmp_path_factory.mktemp("baselines"))
    spec = importlib.util.spec_from_file_location("_baselines", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def record(baselines: ModuleType, tmp_path: Path) -> Callable[[str, list[Event]], traces.Trace]:
    """Feeds events, which are a thread, a location or an object, and a kind."""

    def run(name: str, events: list[Event]) -> traces.Trace:
        path = tmp_path / "trace"
        baselines.begin(name, str(path))
        for thread, what, kind in events:
            if kind == ACQUIRE:
                baselines.sync(thread, what, 0)
            else:
                baselines.access(thread, what, kind == WRITE)
        baselines.end()
        trace = traces.read_trace(path)
        assert trace.name == name
        return trace

    return run


def location(thing: int, field: int) -> int:
    return thing << traces.FIELD_BITS | field


LOCATIONS = st.builds(location, st.integers(0, 4), st.integers(0, 3))
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.integers(0, 3), LOCATIONS, st.sampled_from((READ, WRITE))),
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.just(ACQUIRE)),
    ),
    max_size=300,
)
several = settings(max_examples=60, deadline=None)


def field_of(event: Event) -> int:
    """What LEAP and Stride take an event to be about."""
    _, what, kind = event
    if kind == ACQUIRE:
        return traces.SYNC | what
    return traces.FIELD | what & ((1 << traces.FIELD_BITS) - 1)


def test_dejavu_has_one_order(record: Any) -> None:
    @several
    @given(EVENTS)
    def check(events: list[Event]) -> None:
        assert traces.global_order(record("dejavu", events)) == [event[0] for event in events]

    check()


def test_jarec_has_lamport_clocks(record: Any) -> None:
    @several
    @given(EVENTS)
    def check(events: list[Event]) -> None:
        assert traces.clocks(record("jarec", events)) == lamport(events)

    check()


def lamport(events: list[Event]) -> dict[int, list[int]]:
    clocks: dict[int, list[int]] = {}
    objects: dict[int, int] = {}
    for thread, what, kind in events:
        key = traces.SYNC | what if kind == ACQUIRE else what >> traces.FIELD_BITS
        own = clocks.setdefault(thread, [])
        own.append(max(own[-1] if own else 0, objects.get(key, 0)) + 1)
        objects[key] = own[-1]
    return clocks


def test_leap_has_the_threads_of_each_field(record: Any) -> None:
    @several
    @given(EVENTS)
    def check(events: list[Event]) -> None:
        expected: dict[int, list[int]] = {}
        for event in events:
            expected.setdefault(field_of(event), []).append(event[0])
        assert traces.vectors(record("leap", events)) == expected

    check()


def test_stride_has_the_writes_of_each_field_and_what_each_read_saw(record: Any) -> None:
    @several
    @given(EVENTS)
    def check(events: list[Event]) -> None:
        writes: dict[int, list[int]] = {}
        reads: dict[tuple[int, int], list[int]] = {}
        for event in events:
            thread, what, kind = event
            if kind == READ:
                seen = reads.setdefault((thread, what & ((1 << traces.FIELD_BITS) - 1)), [])
                seen.append(len(writes.get(field_of(event), [])))
            else:
                writes.setdefault(field_of(event), []).append(thread)
        trace = record("stride", events)
        assert traces.vectors(trace) == writes
        assert traces.versions(trace) == reads

    check()


def test_long_streams_are_written_in_pieces(record: Any) -> None:
    events = [(number % 2, location(0, 0), WRITE) for number in range(100_000)]
    trace = record("leap", events)
    assert traces.vectors(trace) == {traces.FIELD: [thread for thread, _, _ in events]}


THREADS = 4


def plan(thread: int) -> list[tuple[int, int]]:
    """Much of the same for all, some of it the thread's own."""
    things = [(turn * 7 + thread * turn * turn) % 40 for turn in range(20_000)]
    return [
        (thing % 5, ACQUIRE) if thing % 8 == 0 else (location(thing, thing % 3), thing % 2)
        for thing in things
    ]


@pytest.fixture
def together(baselines: ModuleType, tmp_path: Path) -> Callable[[str], traces.Trace]:
    """Threads that record at the same time, with the GIL released."""

    def run(name: str) -> traces.Trace:
        path = tmp_path / "trace"
        baselines.begin(name, str(path))
        threads = [
            threading.Thread(
                target=baselines.drive,
                args=(thread, b"".join(struct.pack("=QQ", *event) for event in plan(thread))),
            )
            for thread in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        baselines.end()
        return traces.read_trace(path)

    return run


def all_events() -> list[Event]:
    return [(thread, *event) for thread in range(THREADS) for event in plan(thread)]


def test_dejavu_loses_nothing(together: Any) -> None:
    order = Counter(traces.global_order(together("dejavu")))
    assert order == Counter(event[0] for event in all_events())


def test_jarec_orders_the_events_of_each_object(together: Any) -> None:
    clocks = traces.clocks(together("jarec"))
    seen: dict[int, list[int]] = {}
    for thread in range(THREADS):
        assert clocks[thread] == sorted(set(clocks[thread]))
        for (what, kind), clock in zip(plan(thread), clocks[thread], strict=True):
            key = traces.SYNC | what if kind == ACQUIRE else what >> traces.FIELD_BITS
            seen.setdefault(key, []).append(clock)
    assert all(len(set(ticks)) == len(ticks) for ticks in seen.values())


def test_leap_counts_all(together: Any) -> None:
    found = {about: Counter(order) for about, order in traces.vectors(together("leap")).items()}
    expected: dict[int, Counter[int]] = {}
    for event in all_events():
        expected.setdefault(field_of(event), Counter())[event[0]] += 1
    assert found == expected


def test_stride_reads_versions_that_rise(together: Any) -> None:
    trace = together("stride")
    writes = traces.vectors(trace)
    for (_, field), seen in traces.versions(trace).items():
        assert seen == sorted(seen)
        assert seen[-1] <= len(writes[traces.FIELD | field])
    reads = Counter(event[0] for event in all_events() if event[2] == READ)
    found: Counter[int] = Counter()
    for (thread, _), seen in traces.versions(trace).items():
        found[thread] += len(seen)
    assert found == reads


def test_misuse_is_refused(baselines: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(LookupError):
        baselines.begin("nothing", str(tmp_path / "trace"))
    with pytest.raises(RuntimeError):
        baselines.access(0, 0, False)
    baselines.begin("leap", str(tmp_path / "trace"))
    with pytest.raises(ValueError, match="4096"):
        baselines.access(4096, 0, False)
    with pytest.raises(RuntimeError):
        baselines.begin("leap", str(tmp_path / "other"))
    baselines.end()


def test_a_trace_that_cannot_be_written_is_told(baselines: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(OSError):
        baselines.begin("leap", str(tmp_path / "none" / "trace"))
    with pytest.raises(OSError):
        baselines.end()
