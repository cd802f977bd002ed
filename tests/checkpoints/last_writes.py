"""The last write to variables of any program, compared with a trace of all its writes."""

from __future__ import annotations

import ast
import opcode
import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from reenact.debug.process import ProcessGone, Reason
from reenact.debug.traveller import TravelError, Traveller

from .harness import Program, Variant, start, travelling
from .moving import Journey

TRACING = Path(__file__).resolve().parent / "tracing" / "sitecustomize.py"
PLAIN = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.expr_context)
UNTRACEABLE = {
    "raw_thread": "threads that _thread starts are given no tracer",
    "raw_thread_exception": "threads that _thread starts are given no tracer",
    "thread_setprofile": "a tracer is not told of what a profile function does",
    "weakref_callbacks": "before 3.13 a tracer in Python keeps the variables of its frames alive",
}
Found = tuple[int, str, int, int]  # thread, file, line and step


@dataclass(frozen=True)
class Question:
    """Who wrote to something last before a step, and what the traveller says to that. Frames are
    counted from the outermost, which is 1: others may be left until the trace sees the step."""

    step: int
    thread: int
    frame: int
    text: str
    found: Found | None


def check_last_writes(program: Program, variant: Variant, count: int) -> Journey:
    """Of names and attributes that are seen at random steps."""
    journey = Journey(program.name)
    with travelling(program, variant) as traveller:
        traveller.go_to_end()
        asked = sorted(_questions(program, traveller, count), key=lambda each: each.step)
        answers = _traced(program, traveller, asked)
    for question, answer in zip(asked, answers, strict=False):
        _compare(journey, question, ast.literal_eval(answer))
    unanswered = asked[len(answers) :]  # no instruction comes after the last of a deadlock
    if any(each.step < traveller.recording.last_step - 2 for each in unanswered):
        journey.complain(f"the trace has {len(answers)} of {len(asked)} answers")
    return journey


def _questions(program: Program, traveller: Traveller, count: int) -> Iterator[Question]:
    chosen = random.Random(program.name)
    last = traveller.recording.last_step
    for _ in range(count):
        step = chosen.randint(last // 10, last)
        stop = traveller.go_to(step)
        files = [each.file for each in stop.stack]
        if stop.why == "end" or str(program.path) not in files:
            continue
        frame = files.index(str(program.path))
        texts = sorted(_texts(traveller, stop.thread, frame))
        for text in chosen.sample(texts, min(2, len(texts))):
            traveller.go_to(step)
            try:
                found = _last_write(traveller, text, stop.thread, frame)
            except TravelError:
                continue
            yield Question(step, stop.thread, len(files) - frame, text, found)


def _texts(traveller: Traveller, thread: int, frame: int) -> Iterator[str]:
    """Names that a frame sees, and attributes of what they stand for."""
    where = {"thread": thread, "frame": frame}
    for scope in ("locals", "globals"):
        for number, each in enumerate(
            traveller.ask("variables", scope=scope, **where)["variables"]
        ):
            name = each["name"]
            if name.startswith("__") or not name.isidentifier():
                continue
            yield name
            if each["children"]:
                below = traveller.ask("variables", scope=scope, path=[number], **where)
                names = (one["name"] for one in below["variables"])
                yield from (
                    f"{name}{one}"
                    for one in names
                    if one.startswith(".") and not one.startswith(".__")  # the import system's
                )


def _last_write(traveller: Traveller, text: str, thread: int, frame: int) -> Found | None:
    write = traveller.last_writer(text, thread, frame)
    if write is None:
        return None
    stop = traveller.go_to_write(write)
    if not stop.stack:
        return None  # what a thread is started with, before it has a line
    there = stop.stack[stop.index]
    return write.thread, there.file, there.line, write.place.step


def _traced(program: Program, traveller: Traveller, asked: list[Question]) -> list[str]:
    """What a replay under `tracing/sitecustomize.py` answers."""
    recording = traveller.recording
    with tempfile.TemporaryDirectory(prefix="reenact-tracing-") as folder:
        shutil.copy(TRACING, folder)
        files = {*recording.definitions.sources, str(program.path)}
        targets = {path: _targets(Path(path)) for path in files if os.path.isfile(path)}
        questions = [(each.step, each.thread, each.frame, each.text) for each in asked]
        numbers = opcode.opmap["EXTENDED_ARG"], opcode.opmap["RESUME"]
        given = (str(program.path), targets, _opcodes(), *numbers, questions)
        Path(folder, "questions").write_text(repr(given), "utf-8")
        header = recording.header
        paths = f"{folder}:{header.environment.get('PYTHONPATH', '')}".rstrip(":")
        environment = {**header.environment, "PYTHONPATH": paths}
        recording.header = replace(header, environment=environment)
        process = start(traveller)
        try:
            process.run(-1)
            if process.reason == Reason.DIVERGED:
                outcome = process.talk().get("outcome", "")
                raise AssertionError(f"the traced replay has diverged: {outcome}")
        except ProcessGone:
            pass
        finally:
            process.close()
        return Path(folder, "answers").read_text("utf-8").splitlines()


def _opcodes() -> dict[int, str]:
    stores = ("STORE_NAME", "STORE_GLOBAL", "STORE_FAST", "STORE_DEREF", "STORE_ATTR")
    deletes = ("DELETE_NAME", "DELETE_GLOBAL", "DELETE_FAST", "DELETE_DEREF", "DELETE_ATTR")
    pairs = ("STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST")
    known = (*stores, *deletes, *pairs)
    return {number: name for name, number in opcode.opmap.items() if name in known}


def _targets(path: Path) -> dict[tuple[int | None, ...], str]:
    """Attributes that a file writes to, by line, last line, column and last column: whose."""
    found: dict[tuple[int | None, ...], str] = {}
    for node in ast.walk(ast.parse(path.read_bytes())):
        is_written = isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
        if is_written and all(isinstance(each, PLAIN) for each in ast.walk(node)):
            where = (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
            found[where] = ast.unparse(node.value)
    return found


def _compare(journey: Journey, question: Question, answer: object) -> None:
    if isinstance(answer, str):
        if answer != "unknown":
            journey.complain(f"{question}: {answer}")
        return
    journey.looked += 1
    found = question.found
    if answer is None or found is None:
        if (answer is None) != (found is None):
            journey.complain(f"{question}; the trace has {answer}")
        return
    assert isinstance(answer, tuple)
    thread, file, line, step, before = answer
    if found[:3] != (thread, file, line) or not before <= found[3] <= step:
        journey.complain(f"{question}; the trace has {answer}")
