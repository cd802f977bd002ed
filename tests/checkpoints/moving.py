"""What is done to a recorded program to see that travelling through it shows what it was."""

from __future__ import annotations

import ast
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reenact.debug.process import Process
from reenact.debug.traveller import Breakpoint, Move, Place, Stop, TravelError, Traveller

from .harness import Program, State, Variant, copy_of, look, own, seen_in, travelling

OWN_TRACE = ("thread_settrace",)  # lines cannot be counted where the program traces itself
BY_ADDRESS = ("id_order",)  # tracing takes memory of the program's, which prints what lies where
# What the program writes.py writes to: seen by all, and by the functions themselves.
SHARED = ("plain.first", "slotted.value", "slotted.inner.first", "Plain.shared", "count")
ITEMS = ("table['a']", "lines[0]", "lines[3]", "lines[-1]", "plain.items[1]", "plain.table[3]")
MAKERS = ("__init__", "<module>", "<listcomp>")  # no write to an item: the list is made with it
LOCAL = ("local", "walrus", "kept", "looped", "argument", "other")


@dataclass
class Journey:
    """Through one program: how much was looked at, and what was wrong."""

    program: str
    looked: int = 0
    complaints: list[str] = field(default_factory=list)

    def complain(self, text: str) -> None:
        if len(self.complaints) < 10:
            self.complaints.append(f"{self.program}: {text}")

    def compare(self, where: str, now: State, expected: State) -> None:
        differences = now.differences(expected)
        if differences:
            self.complain(f"{where}: " + "; ".join(differences))


# ---- to places ----


def check_gotos(program: Program, variant: Variant, count: int) -> Journey:
    """Random places in random order, each compared with one replay that goes straight through the
    program; lines are also reached by tracing from far away."""
    journey = Journey(program.name)
    with travelling(program, variant) as traveller:
        last = traveller.recording.last_step
        end = traveller.go_to_end().place
        beginning = traveller._copies.at(0)
        chosen = random.Random(program.name)
        lines = (0,) if program.name in OWN_TRACE else (0, 0, 0, 1, 7)
        visits: list[tuple[int, Place, State]] = []
        for _ in range(count):
            step, base = chosen.randint(0, last), chosen.random()
            stop = traveller.go_to(Place(step, chosen.choice(lines)))
            journey.looked += 1
            if stop.place == end:
                continue
            assert traveller._shown is not None
            now = look(traveller._shown, stop.place, stop.thread)
            visits.append((stop.place.step, stop.place, now))
            if stop.place.line > 0 and program.name not in BY_ADDRESS:
                visits.append((int(base * step), stop.place, now))
        _compare_places(journey, beginning, visits)
        beginning.close()
    return journey


def _compare_places(
    journey: Journey, straight: Process, visits: list[tuple[int, Place, State]]
) -> None:
    """With copies of a replay that stops where they are made, and is never asked anything. A line
    is reached by tracing from its step, or from far before."""
    for first, place, now in sorted(visits, key=lambda each: each[:2]):
        if first > straight.step:
            straight.run(first)
        journey.compare(f"at {place}, from {first}", now, seen_in(copy_of(straight), place))


def check_questions_amid_imports(variant: Variant, count: int) -> Journey:
    """What is asked needs modules that a thread is in the middle of importing."""
    journey = Journey("importing")
    with travelling(own("importing"), variant) as traveller:
        traveller.go_to_end()
        last = traveller.recording.last_step
        for number in range(1, count):
            traveller.go_to(last * number // count)
            names = [Path(each.file).name for each in traveller.stack(0)]
            if "importing.py" not in names:
                continue
            journey.looked += 1
            frame = names.index("importing.py")
            said = traveller.ask("evaluate", text="turns", thread=0, frame=frame)
            wrote = traveller.last_write("turns", 0, frame)
            if not said.get("value", "").isdigit() or wrote is None:
                journey.complain(f"at {traveller.stop.place}: {said}, written at {wrote}")
    return journey


# ---- there and back ----


def check_reverse(program: Program, variant: Variant, most: int) -> Journey:
    """From the end back to the beginning by breakpoints, and forward again: each stop is where a
    trace of all lines has that line. Then by single lines, from the middle."""
    journey = Journey(program.name)
    with travelling(program, variant) as traveller:
        traveller.go_to_end()
        hits = _hits(program, traveller)
        for line in _some_lines(hits, most, random.Random(program.name)):
            traveller.breakpoints = {1: Breakpoint(1, str(program.path), line)}
            _all_the_way(journey, traveller, hits[line], f"line {line}")
        traveller.breakpoints = {}
        traveller.go_to(traveller.recording.last_step // 2)
        move = Move(thread=traveller.stop.thread)
        if traveller.forward(move).why == "step":
            _there_and_back(journey, traveller, move, most, "single lines")
    return journey


def _hits(program: Program, traveller: Traveller) -> dict[int, list[Place]]:
    """Where each line of the program's file was begun."""
    found: dict[int, list[Place]] = {}
    for _, file, line, place in traveller.last_lines(1 << 30):
        if file == str(program.path):
            found.setdefault(line, []).append(place)
    return found


def _some_lines(hits: dict[int, list[Place]], most: int, chosen: random.Random) -> list[int]:
    """Two lines that were begun more than once, if there are any, but not too often."""
    lines = [line for line in sorted(hits) if len(hits[line]) <= most]
    often = [line for line in lines if len(hits[line]) > 1]
    return chosen.sample(often or lines, min(2, len(often or lines)))


def _all_the_way(journey: Journey, traveller: Traveller, hits: list[Place], what: str) -> None:
    traveller.go_to_end()
    end = _where(traveller.stop)
    back, forth = [], []
    while traveller.backward().why != "beginning":
        back.append(traveller.stop.place)
    while traveller.forward().why == "breakpoint":
        forth.append(traveller.stop.place)
    journey.looked += len(back) + len(forth)
    if not back == hits[::-1] == forth[::-1]:
        journey.complain(f"{what}: back {back}, forward {forth}, the trace has {hits}")
    if _where(traveller.stop) != end:
        journey.complain(f"{what}: forward to {_where(traveller.stop)}, not to the end, {end}")


def _there_and_back(
    journey: Journey, traveller: Traveller, move: Move, most: int, what: str
) -> None:
    """Each stop on the way back is one on the way forward, in the other order."""
    path = [_where(traveller.stop)]
    for _ in range(most):
        path.append(_where(traveller.backward(move)))
        if traveller.stop.why == "beginning":
            break
    journey.looked += len(path)
    again = [_where(traveller.forward(move)) for _ in path[1:]]
    expected = list(reversed(path[:-1]))
    if again != expected:
        at = next(
            i for i, pair in enumerate(zip(again, expected, strict=True)) if pair[0] != pair[1]
        )
        journey.complain(f"{what}: back {expected[: at + 1]}, forward {again[: at + 1]}")


def _where(stop: Stop) -> tuple[Any, ...]:
    frame = stop.frame
    return (str(stop.place), stop.thread, frame and frame.function, frame and frame.line)


# ---- who wrote it ----


def check_writes(variant: Variant, count: int) -> Journey:
    """At random places of writes.py the value of each variable says who wrote it, and where."""
    journey = Journey("writes")
    with travelling(own("writes"), variant) as traveller:
        chosen = random.Random(variant.seed)
        traveller.go_to_end()
        last = traveller.recording.last_step
        for _ in range(count):
            here = Place(chosen.randint(last // 10, last), chosen.choice((0, 0, 1, 3)))
            stop = traveller.go_to(here)
            if stop.frame is None:
                continue  # a thread that has not begun
            function = stop.frame.function.rpartition(".")[2]
            names = LOCAL if function in ("change_names", "inner") else ()
            for text in (*chosen.sample(SHARED + ITEMS, 2), *names):
                _check_write(journey, traveller, text)
                traveller.go_to(stop.place)
    return journey


def check_write_after_call(variant: Variant) -> Journey:
    """A line is left for a call, and writes when that has returned."""
    journey, program = Journey("writes"), own("writes")
    with travelling(program, variant) as traveller:
        line = program.path.read_text("utf-8").splitlines().index("    kept = noted()") + 1
        traveller.breakpoints = {1: Breakpoint(1, str(program.path), line)}
        traveller.go_to_end()
        for go in (traveller.backward, traveller.backward, traveller.forward):
            go()
        _check_write(journey, traveller, "walrus")
    return journey


def _check_write(journey: Journey, traveller: Traveller, text: str) -> None:
    stop = traveller.stop
    number = _value(traveller, text)
    try:
        found = traveller.last_write(text, stop.thread)
    except TravelError as error:
        if number is not None:
            journey.complain(f"{text} at {stop.place} is {number}, but {error}")
        return
    if number is None:  # it has no value here, so that nobody can have written it
        return
    journey.looked += 1
    name, line, function = _value(traveller, f"notes[{number}]") or ("", 0, "")
    expected = f"{text} at {stop.place} is {number}, by {name} in line {line} of {function}"
    if found is None:
        if text not in ITEMS or function not in MAKERS:
            journey.complain(f"{expected}; nothing was found")
        return
    traveller.go_to(found[0])
    where = traveller.stop.frame
    noted = _value(traveller, "notes", found[1], -1)
    between = noted is None or (name, line, function) in noted[len(noted) : number]
    threads = {each["index"]: each["name"] for each in traveller.ask("threads")["threads"]}
    # A line in the midst of which others ran is told where its thread goes on: at that step, with
    # the thread perhaps in a call of the line's.
    is_rest = found[0].line == 0
    lines = [each.line for each in traveller.stack(found[1])]
    is_so = (
        (line in lines if is_rest else where is not None and where.line == line)
        and (is_rest or found[1] == traveller.stop.thread)
        and threads.get(found[1]) == name
        and noted is not None
        and (len(noted) <= number or text == "looped")  # whose numbers are there before the loop
        and not between
    )
    if not is_so:
        at = f"{where.function}:{where.line}" if where else "nowhere"
        count = None if noted is None else len(noted)
        journey.complain(f"{expected}; found {found}, {at}, {count} notes")


def _value(traveller: Traveller, text: str, thread: int = -1, frame: int = 0) -> Any:
    """What a plain expression is here, or in a frame of another thread, -1: in the first that is of
    the program's own file; None if there is nothing."""
    if thread < 0:
        thread = traveller.stop.thread
    if frame < 0:
        files = [Path(each.file).name for each in traveller.stack(thread)]
        frame = files.index("writes.py") if "writes.py" in files else 0
    said = traveller.ask("evaluate", text=text, thread=thread, frame=frame)
    return None if "raised" in said else ast.literal_eval(said["value"])
