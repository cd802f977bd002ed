"""What is to be seen where the traveller is: threads, frames, variables and values.

An editor is given numbers for frames and for what can be unfolded. They hold until the next stop,
and are never used again.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace

from reenact.debug.dap.arguments import Arguments
from reenact.debug.dap.messages import Document, Refused
from reenact.debug.dap.sources import Sources
from reenact.debug.looking import MOST_CHILDREN
from reenact.debug.traveller import Frame, Traveller

WAITING = 3  # as the core numbers what a thread does
_DOTTED = re.compile(r"[A-Za-z_][\w.]*$")


@dataclass(frozen=True, slots=True)
class Shelf:
    """Something that has variables: a scope, or the value at a path in it, which the program
    would write as `text`."""

    thread: int
    frame: int
    scope: str
    path: tuple[int, ...] = ()
    text: str | None = None
    root: str = ""


class Views:
    def __init__(self, traveller: Traveller, sources: Sources) -> None:
        self._traveller = traveller
        self._sources = sources
        self._last = 0
        self.forget()

    def forget(self) -> None:
        """There was a stop: nothing is as it was."""
        self._frames: dict[int, tuple[int, int]] = {}
        self._shelves: dict[int, Shelf] = {}
        self._stacks: dict[int, tuple[Frame, ...]] = {}

    def _number(self) -> int:
        self._last += 1
        return self._last

    # ---- threads and frames ----

    def threads(self) -> list[Document]:
        stop = self._traveller.stop
        threads = self._traveller.ask("threads")["threads"]
        names = {each["index"]: each["name"] or f"thread {each['index'] + 1}" for each in threads}
        names.setdefault(stop.thread, f"thread {stop.thread + 1}")
        waits = {each["index"]: _waiting(each, names) for each in threads}
        return [
            {"id": index + 1, "name": name + waits.get(index, "")} for index, name in names.items()
        ]

    def thread(self, arguments: Arguments) -> int:
        index = arguments.number("threadId") - 1
        known = [each["id"] - 1 for each in self.threads()]
        if index not in known:
            raise Refused(f"there is no thread {index + 1} here; ask for the threads again")
        return index

    def waits(self) -> list[str]:
        return [each["name"] for each in self.threads()]

    def stack(self, thread: int, first: int, most: int, base: int) -> Document:
        if thread not in self._stacks:
            self._stacks[thread] = self._traveller.stack(thread)
        frames = self._stacks[thread]
        until = first + most if most > 0 else len(frames)
        shown = [
            self._described(thread, index, frames[index], base)
            for index in range(max(first, 0), min(until, len(frames)))
        ]
        return {"stackFrames": shown, "totalFrames": len(frames)}

    def _described(self, thread: int, index: int, frame: Frame, base: int) -> Document:
        number = self._number()
        self._frames[number] = (thread, index)
        return {
            "id": number,
            "name": frame.function,
            "source": self._sources.described(frame.file),
            "line": frame.line - 1 + base,
            "column": base,
            **({"presentationHint": "subtle"} if self._sources.is_library(frame.file) else {}),
        }

    def frame(self, arguments: Arguments) -> tuple[int, int]:
        """Thread and index; without a number the frame that the program has stopped in."""
        if not arguments.has("frameId"):
            return self._traveller.stop.thread, 0
        number = arguments.number("frameId")
        if number not in self._frames:
            raise Refused(f"frame {number} is not of this stop; ask for the stackTrace again")
        return self._frames[number]

    # ---- variables ----

    def scopes(self, arguments: Arguments) -> list[Document]:
        thread, frame = self.frame(arguments)
        return [
            {
                "name": name,
                "variablesReference": self._shelve(Shelf(thread, frame, scope)),
                "expensive": scope == "globals",
                **({"presentationHint": "locals"} if scope == "locals" else {}),
            }
            for name, scope in (("Locals", "locals"), ("Globals", "globals"))
        ]

    def _shelve(self, shelf: Shelf) -> int:
        number = self._number()
        self._shelves[number] = shelf
        return number

    def _shelf(self, arguments: Arguments) -> Shelf:
        number = arguments.number("variablesReference")
        if number not in self._shelves:
            raise Refused(f"variables {number} are not of this stop; ask for the scopes again")
        return self._shelves[number]

    def variables(self, arguments: Arguments) -> list[Document]:
        shelf = self._shelf(arguments)
        found = self._ask(shelf)
        shown = [self._variable(shelf, place, each) for place, each in enumerate(found)]
        if shelf.path and len(found) >= MOST_CHILDREN:
            more = f"only the first {MOST_CHILDREN} are shown"
            shown.append({"name": "...", "value": more, "variablesReference": 0})
        return shown

    def _ask(self, shelf: Shelf) -> list[Document]:
        found: list[Document] = self._traveller.ask(
            "variables",
            thread=shelf.thread,
            frame=shelf.frame,
            scope=shelf.scope,
            path=list(shelf.path),
            text=shelf.root,
        )["variables"]
        return found

    def _variable(self, shelf: Shelf, place: int, each: Document) -> Document:
        text = _joined(shelf.text, each["name"])
        inner = replace(shelf, path=(*shelf.path, place), text=text or "")
        return {
            "name": each["name"].removeprefix("."),
            "value": each["value"],
            "type": each["type"],
            "variablesReference": self._shelve(inner) if each["children"] else 0,
            **({"evaluateName": text} if text else {}),
        }

    def written_as(self, arguments: Arguments) -> tuple[str, int, int]:
        """A variable as an expression, and the thread and frame that it is of."""
        name = arguments.text("name")
        if not arguments.has("variablesReference"):
            return name, *self.frame(arguments)
        shelf = self._shelf(arguments)
        for each in self._ask(shelf):
            if each["name"].removeprefix(".") == name:
                text = _joined(shelf.text, each["name"])
                if text is None:
                    raise Refused(f"{name} cannot be written to by a name of its own")
                return text, shelf.thread, shelf.frame
        raise Refused(f"there is no variable {name} here")

    # ---- values ----

    def evaluate(self, text: str, thread: int, frame: int) -> tuple[Document, bool]:
        """The value, and whether finding it may have changed something."""
        said = self._traveller.ask("evaluate", thread=thread, frame=frame, text=text)
        if "raised" in said:
            message = f": {said['message']}" if said["message"] else ""
            raise Refused(f"{said['raised']}{message}")
        if said.get("value") is None:
            return {"result": "", "variablesReference": 0}, bool(said["changes"])
        shelf = Shelf(thread, frame, "expression", (0,), text, text)
        reference = self._shelve(shelf) if said["children"] else 0
        shown = {"result": said["value"], "type": said["type"], "variablesReference": reference}
        return shown, bool(said["changes"])

    def completions(self, text: str, thread: int, frame: int) -> list[Document]:
        """What could follow at the end of a text."""
        match = _DOTTED.search(text)
        if match is None:
            return []
        names = self._traveller.ask("complete", thread=thread, frame=frame, text=match[0])["names"]
        last = match[0].rpartition(".")[2]
        start = len(text) - len(last)
        return [
            {"label": each.rpartition(".")[2], "start": start, "length": len(last)}
            for each in names
        ]


def _waiting(thread: Document, names: dict[int, str]) -> str:
    if thread["status"] != WAITING or not thread["kind"]:
        return ""
    owner = thread["owner"]
    held = f", held by {names[owner]}" if owner in names and owner != thread["index"] else ""
    return f" (waits: {thread['operation']} of {thread['kind']} {thread['object']}{held})"


def _joined(outer: str | None, name: str) -> str | None:
    """How the program would write a part of something; None if it cannot."""
    if outer == "":
        return None
    try:
        text = name if outer is None else f"{_bracketed(outer)}{name}"
        ast.parse(text, "<typed>", "eval")
    except (SyntaxError, ValueError, RecursionError):
        return None
    return text


def _bracketed(text: str) -> str:
    """So that an attribute or an item of the whole can follow."""
    tree = ast.parse(text.strip(), "<typed>", "eval").body
    is_one = isinstance(tree, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
    return text.strip() if is_one else f"({text.strip()})"
