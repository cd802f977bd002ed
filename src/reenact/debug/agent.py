"""Answers questions about the program, inside a copy of it that is thrown away afterwards.

`_core/checkpoint.c` calls `talk` in the thread that has stopped, and again whenever a hunt through
the program's lines (`_core/trace.c`) has come to its end. Whatever could run code of the program's
- a repr, a property, an expression - is done in a copy of the copy, with a limit of time.

The program goes on in this process afterwards, and must not see that modules were imported: the
core takes those that this one needs out of sys.modules again. So it needs few.
"""

from __future__ import annotations

import marshal
import os
import sys

from reenact import _core
from reenact.debug.frames import OURS, described, frame_at, frames_of
from reenact.debug.hunting import Hunt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SIGALRM = 14  # without importing signal
LIMIT_S = 10  # for what an expression may take
_SIZE = 4  # bytes before each message
_hunt: Hunt | None = None


def talk(descriptor: int, reason: int, thread: int) -> None:
    """Say where the program is, and do what is asked until it is to go on."""
    _send(descriptor, _where(reason, thread))
    while True:
        request = _receive(descriptor)
        if request["do"] == "hunt":
            _begin(request)
            return
        try:
            is_harmless = request["do"] in _HARMLESS
            answer = _ANSWERS[request["do"]](request) if is_harmless else _isolated(request)
            _send(descriptor, answer)
        except Exception as error:  # of ours: the other end must hear of it
            _send(descriptor, {"error": f"{type(error).__name__}: {error}"})


def _where(reason: int, thread: int) -> dict[str, Any]:
    step, line = _core.place()
    found = _core.found()
    said: dict[str, Any] = {"reason": reason, "thread": thread, "place": [step, line]}
    outcome = _core.outcome_so_far()
    if outcome:
        said["outcome"] = outcome.decode("utf-8", "backslashreplace")
    if _hunt is not None:
        said["found"] = None if found is None else list(found)
        said["hit"] = _hunt.hit
        said["changed"] = _hunt.changed
        said["failures"] = _hunt.failures
    return said


def _begin(request: dict[str, Any]) -> None:
    global _hunt
    _hunt = Hunt(request, _hunt)
    _hunt.describe_failure = lambda: _isolated({"do": "failure"})
    if "means" in request:
        _hunt.mean(frame_at(request["means"]))
    end = request.get("end") or [-1, 0]
    _core.hunt(
        _hunt.judge,
        OURS,
        "\n".join(request.get("skips", ())),
        tuple(end),
        bool(request.get("backward")),
        request.get("thread", -1),
        request.get("deepest", 1 << 40),
        request.get("least", 0),
        [each["line"] for each in request.get("breakpoints", ())],
        _hunt.asks_every_line,
        _hunt.asks_writes,
        bool(request.get("failures")),
    )
    if _hunt.asks_writes:
        _hunt.look_at_frames()


def _isolated(request: dict[str, Any]) -> dict[str, Any]:
    """The answer, found in a copy of this process."""
    reading, writing = os.pipe()

    def run() -> None:
        try:
            result = _ANSWERS[request["do"]](request)
        except Exception as error:
            result = {"error": f"{type(error).__name__}: {error}"}
        with open(writing, "wb") as file:
            file.write(marshal.dumps(result))
        os._exit(0)

    try:
        pid = _core.in_copy(run, LIMIT_S)
    except RuntimeError as error:  # whoever hunts must go on, with the descriptors it had
        os.close(reading)
        os.close(writing)
        return {"error": str(error)}
    os.close(writing)
    with open(reading, "rb") as file:
        data = file.read()
    _, status = os.waitpid(pid, 0)
    if not data:
        return {"error": _without_answer(os.waitstatus_to_exitcode(status))}
    result: dict[str, Any] = marshal.loads(data)
    return result


def _without_answer(code: int) -> str:
    if code == -SIGALRM:
        return f"it did not come to an end within {LIMIT_S} seconds"
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return f"the copy that was to answer ended with {how}"


def _send(descriptor: int, document: dict[str, Any]) -> None:
    data = marshal.dumps(document)
    data = len(data).to_bytes(_SIZE, "little") + data
    while data:
        data = data[os.write(descriptor, data) :]


def _receive(descriptor: int) -> dict[str, Any]:
    size = int.from_bytes(_read(descriptor, _SIZE), "little")
    request: dict[str, Any] = marshal.loads(_read(descriptor, size))
    return request


def _read(descriptor: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = os.read(descriptor, size - len(data))
        if not more:
            os._exit(0)
        data += more
    return data


# ---- what can be asked ----


def _stack(request: dict[str, Any]) -> dict[str, Any]:
    return {"frames": [described(each) for each in frames_of(request["thread"])]}


def _threads(request: dict[str, Any]) -> dict[str, Any]:
    from threading import _active  # type: ignore[attr-defined]

    threads = []
    for index, status, ident, operation, number, kind, owner in _core.threads():
        python = _active.get(ident)
        frames = frames_of(index)
        threads.append(
            {
                "index": index,
                "status": status,
                "name": python.name if python is not None else "",
                "operation": _core.OPERATIONS[operation] if kind >= 0 else "",
                "object": number if kind >= 0 else 0,
                "kind": _core.OBJECTS[kind] if kind >= 0 else "",
                "owner": owner,
                "at": described(frames[0]) if frames else None,
            }
        )
    return {"threads": threads}


def _look(what: str, *given: object) -> dict[str, Any]:
    """By a function of `looking.py`, which imports much: a thread of the program may be in the
    middle of importing some of it."""
    looking = _core.import_unseen("reenact.debug.looking")
    said: dict[str, Any] = getattr(looking, what)(*given)
    return said


def _evaluate(request: dict[str, Any]) -> dict[str, Any]:
    return _look("evaluate", request["text"], frame_at(request), request.get("pretty", False))


def _variables(request: dict[str, Any]) -> dict[str, Any]:
    scope, path = request["scope"], request.get("path", [])
    return _look("variables", frame_at(request), scope, path, request.get("text", ""))


def _arguments(request: dict[str, Any]) -> dict[str, Any]:
    return _look("arguments", frame_at(request))


def _complete(request: dict[str, Any]) -> dict[str, Any]:
    return _look("complete", request["text"], frame_at(request))


def _writes(request: dict[str, Any]) -> dict[str, Any]:
    if _hunt is None:
        raise LookupError("nothing was hunted")
    return _hunt.writes(request["text"], frame_at(request) if _hunt.wanted is None else None)


def _failure(request: dict[str, Any]) -> dict[str, Any]:
    """The exception that is handled where the program is."""
    return _look("failure")


def _races(request: dict[str, Any]) -> dict[str, Any]:
    if _hunt is None:
        raise LookupError("races were not looked for")
    return {"raw": _hunt.detector.found()}


def _culprits(request: dict[str, Any]) -> dict[str, Any]:
    found = []
    for serial, kind, offset, thread, made, freed, wrote, callee in _core.canaries_watched():
        name = getattr(callee, "__qualname__", None) or (repr(callee) if callee else "")
        stacks = {"allocated": made, "freed": freed, "written": wrote}
        whose = {key: [list(each) for each in stack] for key, stack in stacks.items()}
        found.append(
            {
                "serial": serial,
                "kind": kind,
                "offset": offset,
                "thread": thread,
                "callee": name,
                **whose,
            }
        )
    return {"culprits": found}


def _lines(request: dict[str, Any]) -> dict[str, Any]:
    return {"lines": [] if _hunt is None else _hunt.lines}


def _output(request: dict[str, Any]) -> dict[str, Any]:
    return {"output": _core.output_so_far().hex()}


def _state(request: dict[str, Any]) -> dict[str, Any]:
    """Of the whole program, for comparisons, after which it is not to go on."""
    modules = dict(sys.modules)  # the program's: before anything is imported here
    said = {**_stack(request), **_threads(request), **_output(request)}
    said["events"] = _core.events_so_far()
    if request["digest"]:
        digest = _core.import_unseen("reenact.debug.digest")
        threads = [each["index"] for each in said["threads"]]
        said["digest"] = digest.of_program(frames_of, threads, modules)
    return said


_ANSWERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "stack": _stack,
    "threads": _threads,
    "evaluate": _evaluate,
    "variables": _variables,
    "arguments": _arguments,
    "complete": _complete,
    "writes": _writes,
    "failure": _failure,
    "races": _races,
    "culprits": _culprits,
    "lines": _lines,
    "output": _output,
    "state": _state,
}
_HARMLESS = ("stack", "output", "state")  # run no code of the program's: they need no copy
