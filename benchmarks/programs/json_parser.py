"""Compute: a JSON parser in pure Python; recursion, string indexing, small containers."""

import json
import math
import random
from typing import Any

from parts import run_parts

ROUNDS = 50
RECORDS = 500
BLANKS = " \t\r\n"
DIGITS = "0123456789+-.eE"
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "\\": "\\", "/": "/"}
WORDS = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}


def make_document() -> str:
    """A list of records, the same at each run."""
    choose = random.Random(7)
    records = [
        {
            "id": number,
            "name": f'record "{number}"\n',
            "weight": choose.random() * 100,
            "tags": [f"tag{choose.randrange(50)}" for _ in range(5)],
            "flags": {"a": True, "b": False, "c": None, "d": [1, 2, [3, [4, {}]]]},
        }
        for number in range(RECORDS)
    ]
    return json.dumps(records, indent=1)


class Parser:
    """A recursive-descent parser over one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0

    def skip_blanks(self) -> str:
        """Move to the next character that is not blank, and return it."""
        text, place = self.text, self.place
        while text[place] in BLANKS:
            place += 1
        self.place = place
        return text[place]

    def value(self) -> Any:
        """Parse any value."""
        first = self.skip_blanks()
        if first == "{":
            return self.mapping()
        if first == "[":
            return self.sequence()
        if first == '"':
            return self.string()
        if first in WORDS:
            return self.word(first)
        return self.number()

    def mapping(self) -> dict[str, Any]:
        """Parse an object."""
        result: dict[str, Any] = {}
        self.place += 1
        while self.skip_blanks() != "}":
            key = self.string()
            self.expect(":")
            result[key] = self.value()
            if self.skip_blanks() == ",":
                self.place += 1
        self.place += 1
        return result

    def sequence(self) -> list[Any]:
        """Parse an array."""
        result: list[Any] = []
        self.place += 1
        while self.skip_blanks() != "]":
            result.append(self.value())
            if self.skip_blanks() == ",":
                self.place += 1
        self.place += 1
        return result

    def expect(self, character: str) -> None:
        """Pass over one character that must come."""
        if self.skip_blanks() != character:
            raise ValueError(f"expected {character} at {self.place}")
        self.place += 1

    def string(self) -> str:
        """Parse a string."""
        if self.skip_blanks() != '"':
            raise ValueError(f"expected a string at {self.place}")
        text, place = self.text, self.place + 1
        parts: list[str] = []
        while (character := text[place]) != '"':
            if character == "\\":
                place += 1
                character = ESCAPES[text[place]]
            parts.append(character)
            place += 1
        self.place = place + 1
        return "".join(parts)

    def word(self, first: str) -> bool | None:
        """Parse true, false or null."""
        word, value = WORDS[first]
        self.place += len(word)
        return value

    def number(self) -> float:
        """Parse a number."""
        start = place = self.place
        while self.text[place] in DIGITS:
            place += 1
        self.place = place
        digits = self.text[start:place]
        return float(digits) if "." in digits or "e" in digits else int(digits)


def main() -> None:
    """Parse the document several times."""
    document = make_document()

    def parse(part: float) -> Any:
        for _ in range(math.ceil(ROUNDS * part)):
            parsed = Parser(document).value()
        return parsed

    results, watch = run_parts(parse)
    right = all(parsed == json.loads(document) for parsed in results)
    print("characters", len(document), "right", right)
    watch.print()


main()
