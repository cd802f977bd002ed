"""What a request brings along, checked: whatever an editor sends ends in an answer."""

from __future__ import annotations

from typing import Any

from reenact.debug.dap.messages import Document, Refused


class Arguments:
    """Of one request."""

    def __init__(self, given: Document) -> None:
        self._given = given

    def text(self, name: str, default: str | None = None) -> str:
        value = self._given.get(name, default)
        if not isinstance(value, str):
            raise Refused(f"the request needs {name!r}, a string")
        return value

    def number(self, name: str, default: int | None = None) -> int:
        value = self._given.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool):
            raise Refused(f"the request needs {name!r}, a number")
        return value

    def flag(self, name: str, default: bool) -> bool:
        value = self._given.get(name, default)
        if not isinstance(value, bool):
            raise Refused(f"{name!r} has to be true or false")
        return value

    def has(self, name: str) -> bool:
        return self._given.get(name) is not None

    def inner(self, name: str) -> Arguments:
        value = self._given.get(name)
        if not isinstance(value, dict):
            raise Refused(f"the request needs {name!r}, an object")
        return Arguments(value)

    def all(self, name: str) -> list[Arguments]:
        values: Any = self._given.get(name) or []
        if not isinstance(values, list) or not all(isinstance(each, dict) for each in values):
            raise Refused(f"{name!r} has to be a list of objects")
        return [Arguments(each) for each in values]

    def texts(self, name: str) -> list[str]:
        values: Any = self._given.get(name) or []
        if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
            raise Refused(f"{name!r} has to be a list of strings")
        return values
