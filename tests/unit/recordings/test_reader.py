"""Recordings that are as they should be, and those of runs that were killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.errors import RecordingError, UsageError
from reenact.events import Event, Names, Note, ScheduleEntry
from reenact.recordings import operations
from reenact.recordings.reader import Recording
from reenact.recordings.streams import Streams

from .build import Builder, sample, stream, varints, write_directory


@pytest.fixture(params=["directory", "packed"])
def recording(request: pytest.FixtureRequest, tmp_path: Path, names: Names) -> Recording:
    return Recording.open(getattr(sample(), request.param)(tmp_path / "r"), names)


def open_sample(path: Path, names: Names, **changes: object) -> Recording:
    made = sample()
    for name, value in changes.items():
        setattr(made, name, value)
    return Recording.open(made.directory(path / "r.reenact.d"), names)


def short(event: Event) -> tuple[int, str, str, str]:
    return event.step, event.thread, f"{event.operation} {event.object.name}", str(event.site.line)


def test_events(recording: Recording) -> None:
    assert [short(event) for event in recording.events()] == [
        (1, "0", "start thread 0.1", "1"),
        (2, "0", "start thread 0.2", "1"),
        (3, "0.1", "begin thread 0.1", "2"),
        (4, "0.1", "acquire lock 1", "3"),
        (6, "0.2", "begin thread 0.2", "2"),
        (300, "0.1", "release lock 1", "4"),
        (311, "0.2", "acquire lock 1", "3"),
        (312, "0.2", "release lock 1", "4"),
        (314, "0", "join thread 0.1", "5"),
        (315, "0", "join thread 0.2", "5"),
    ]


def test_events_of_a_thread_and_a_range(recording: Recording) -> None:
    assert [event.step for event in recording.events(thread="0.1")] == [3, 4, 300]
    assert [event.step for event in recording.events(first=4, last=300)] == [4, 6, 300]
    assert [event.step for event in recording.events("0.2", 7, 311)] == [311]


def test_an_object_knows_where_it_was_first_used(recording: Recording) -> None:
    lock = next(recording.events(first=4)).object
    assert lock.site is not None and lock.site.operation == "acquire"
    assert lock.address == 0x7F0000001000


def test_schedule(recording: Recording) -> None:
    assert list(recording.schedule()) == [
        ScheduleEntry(2, "yield", 1),
        ScheduleEntry(5, "preempt", 2),
        ScheduleEntry(7, "yield", 1),
        ScheduleEntry(300, "collect", 2),
        ScheduleEntry(310, "yield", 2),
        ScheduleEntry(313, "yield", 0),
        ScheduleEntry(316, "signal", 15),
        ScheduleEntry(320, "end", 0),
    ]


def test_a_steal_says_how_many_operations_came_before(tmp_path: Path, names: Names) -> None:
    made = sample()
    made.entry(321, "steal", 2)
    made.entry(322, "preempt", 1)
    made.directory(tmp_path / "r")
    last = list(Recording.open(tmp_path / "r", names).schedule())[-2:]
    assert last == [ScheduleEntry(321, "steal", 2, 10), ScheduleEntry(322, "preempt", 1)]


def test_the_rest(recording: Recording) -> None:
    assert list(recording.clock_values()) == [(0, 10**18), (1, 500), (0, 10**18 - 3)]
    assert b"".join(recording.output(1)) == b"hello\nbye\n"
    assert list(recording.output_chunks())[1] == (2, b"oops\n")
    assert list(recording.notes()) == [
        Note("foreign thread", 12, "0", 4242, ""),
        Note("fork", 310, "0.1", 77, "from subprocess"),
    ]
    assert recording.outcome() is None
    assert recording.header.target == "app.py"
    assert recording.end is not None and recording.end.exit_code == 0
    assert recording.problems == ()


def test_threads_and_counts(recording: Recording) -> None:
    assert list(recording.thread_paths()) == ["0", "0.1", "0.2"]
    assert recording.thread_index("0.2") == 2
    assert recording.thread_path(2) == "0.2"
    assert (recording.thread_count, recording.last_step) == (3, 320)
    assert (recording.operation_count, recording.switch_count) == (10, 5)
    assert recording.collection_count == 1


def test_counts_without_a_state(tmp_path: Path, names: Names) -> None:
    members = sample().members()
    del members["state"]
    recording = Recording.open(write_directory(tmp_path / "r", members), names)
    assert (recording.operation_count, recording.switch_count) == (10, 5)
    assert (recording.collection_count, recording.last_step) == (1, 320)


def test_a_thread_that_is_not_there_is_a_usage_error(recording: Recording) -> None:
    with pytest.raises(UsageError, match=r"0\.9"):
        list(recording.events(thread="0.9"))


def test_sizes_count_what_is_in_use(tmp_path: Path, names: Names) -> None:
    tight = open_sample(tmp_path, names)
    (tmp_path / "wide").mkdir()
    wide = open_sample(tmp_path / "wide", names, spare=5000)
    assert wide.sizes["operations"].raw == tight.sizes["operations"].raw
    assert wide.sizes["operations"].stored == tight.sizes["operations"].stored + 5000


def test_without_the_core_kinds_are_numbers(tmp_path: Path) -> None:
    recording = Recording.open(sample().directory(tmp_path / "r"), Names())
    event = next(recording.events(first=4))
    assert (event.operation, event.object.name) == ("operation 6", "object 1")


def test_kinds_from_the_future_are_numbers(tmp_path: Path, names: Names) -> None:
    made = Builder()
    site = made.site(57, "app.py", 1)
    known = made.site("acquire", "app.py", 2)
    made.operation(1, 0, site, 99)
    made.operation(2, 0, known, made.object(9))
    made.note(12, 3, 0, 5)
    recording = Recording.open(made.packed(tmp_path / "r"), names)
    shown = [(event.operation, event.object.name) for event in recording.events()]
    assert shown == [("operation 57", "object 99"), ("acquire", "object kind 9 1")]
    assert next(recording.notes()).kind == "note 12"


def test_a_switch_between_two_points(tmp_path: Path, names: Names) -> None:
    made = Builder()
    made.entry(3, "between", 1)
    made.entry(5, "preempt", 0)
    between, preempt = Recording.open(made.packed(tmp_path / "r"), names).schedule()
    assert (between.step, between.kind, between.argument) == (3, "between", 1)
    assert between.is_switch and between.operations == 0
    assert (preempt.step, preempt.kind) == (5, "preempt")


def test_site_zero_is_nowhere(tmp_path: Path, names: Names) -> None:
    made = Builder()
    made.operation(1, 0, 0, 7)
    event = next(Recording.open(made.directory(tmp_path / "r"), names).events())
    assert (event.operation, event.site.file, event.object.number) == ("none", "", 7)


def test_a_killed_run_opens(tmp_path: Path, names: Names) -> None:
    recording = open_sample(tmp_path, names, end=None, ended=0, holder=1, spare=70_000)
    assert recording.end is None
    assert recording.state is not None and recording.state.holder == 1
    assert recording.last_step == 320
    assert len(list(recording.events())) == 10
    assert len(recording.problems) == 2


@pytest.mark.parametrize("name", ["schedule", "operations", "clock", "output", "notes", "inputs"])
def test_the_entry_a_killed_run_was_writing_is_passed_over(
    tmp_path: Path, names: Names, name: str
) -> None:
    made = sample()
    made.ended, made.end = 0, None
    made.payloads[name] += b"\x83"
    recording = Recording.open(made.directory(tmp_path / "r"), names)
    assert len(read(recording, name)) == len(read(open_sample(tmp_path, names), name))


@pytest.mark.parametrize("name", ["schedule", "operations", "clock", "output", "notes", "inputs"])
def test_an_entry_cut_off_in_a_closed_run_is_damage(
    tmp_path: Path, names: Names, name: str
) -> None:
    made = sample()
    made.payloads[name] += b"\x83"
    with pytest.raises(RecordingError, match=rf"{name}: .*cut off") as caught:
        read(Recording.open(made.directory(tmp_path / "r"), names), name)
    assert caught.value.fault == "damaged"


def test_a_definition_cut_off(tmp_path: Path, names: Names) -> None:
    made = sample()
    made.payloads["definitions"] += varints(1, 50) + b"short"
    with pytest.raises(RecordingError, match=r"definitions: .*cut off"):
        _ = Recording.open(made.directory(tmp_path / "r"), names).definitions
    made.ended = 0
    killed = Recording.open(made.directory(tmp_path / "killed"), names)
    assert len(killed.definitions.sites) == 6


@pytest.mark.parametrize("name", ["schedule", "operations", "clock", "output", "notes", "inputs"])
def test_a_stream_that_promises_more_than_the_file_has(
    tmp_path: Path, names: Names, name: str
) -> None:
    made = sample()
    members = made.members()
    members[name] = stream(name, made.payloads[name], used=1 << 40)
    recording = Recording.open(write_directory(tmp_path / "r", members), names)
    assert recording.problems == (f"{name} is shorter than its header says",)
    assert len(read(recording, name)) == len(read(open_sample(tmp_path, names), name))


def read(recording: Recording, name: str) -> list[object]:
    readers = {
        "schedule": recording.schedule,
        "operations": recording.operations,
        "clock": recording.clock_values,
        "output": recording.output_chunks,
        "notes": recording.notes,
        "inputs": recording.inputs,
    }
    return list(readers[name]())


@pytest.mark.parametrize("content", [b"", bytes(10), bytes(65536)])
def test_a_stream_never_written_is_empty(tmp_path: Path, names: Names, content: bytes) -> None:
    members = sample().members() | {"notes": content}
    recording = Recording.open(write_directory(tmp_path / "r", members), names)
    assert list(recording.notes()) == []


def test_a_run_killed_before_it_began(tmp_path: Path, names: Names) -> None:
    members = {"header.json": sample().members()["header.json"], "state": bytes(4096)}
    recording = Recording.open(write_directory(tmp_path / "r", members), names)
    assert recording.state is None
    assert list(recording.events()) == []
    assert recording.last_step == 0
    assert "schedule is missing" in recording.problems


def test_what_a_replay_leaves_is_read_without_a_header(tmp_path: Path, names: Names) -> None:
    made = Builder()
    made.output(1, b"x")
    made.outcome(("reason", "deadlock"))
    members = {name: made.members()[name] for name in ("state", "output", "notes", "outcome")}
    left = Streams.open(write_directory(tmp_path / "r", members), names)
    outcome = left.outcome()
    assert outcome is not None and outcome.reason == "deadlock"
    assert list(left.output(1)) == [b"x"]


def test_long_writes_come_in_pieces(tmp_path: Path, names: Names) -> None:
    made = Builder()
    data = bytes(range(256)) * 2000
    made.output(1, data)
    made.output(2, b"end")
    recording = Recording.open(made.packed(tmp_path / "r"), names)
    pieces = list(recording.output(1))
    assert b"".join(pieces) == data and len(pieces) > 1
    assert list(recording.output(2)) == [b"end"]


@pytest.mark.parametrize("chunk", [1, 7, 41, 64, 1000, 1 << 18])
def test_operations_across_the_borders_of_chunks(
    tmp_path: Path, names: Names, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(operations, "CHUNK", chunk)
    made = Builder()
    expected, step = [], 0
    for number in range(2000):
        step += 1 if number % 3 else number << number % 40
        item = step, number % 7 * 100, number % 11 << number % 30, number % 299
        made.operation(item[0], item[1], item[3], item[2])
        expected.append(item)
    recording = Recording.open(made.packed(tmp_path / "r"), names)
    assert list(recording.operations()) == expected


def test_the_reader_can_be_left_early(recording: Recording) -> None:
    events = recording.events()
    next(events)
    events.close()  # type: ignore[attr-defined]
