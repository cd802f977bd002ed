"""What the program has printed up to where the traveller is, told once.

Going back does not take back what an editor has shown, and going forward again does not repeat it.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from reenact.debug.traveller import Traveller
from reenact.recordings.format import decode_varint

_CATEGORIES = {1: "stdout", 2: "stderr"}


class Printed:
    def __init__(self, traveller: Traveller) -> None:
        self._traveller = traveller
        self.begin_again()

    def begin_again(self) -> None:
        self._told = 0
        decoder = codecs.getincrementaldecoder("utf-8")
        self._decoders = {each: decoder("replace") for each in _CATEGORIES}

    def news(self) -> Iterator[tuple[str, str]]:
        """What was not told so far, by category."""
        data = bytes.fromhex(self._traveller.ask("output")["output"])
        news, self._told = data[self._told :], max(self._told, len(data))
        kind = ""
        texts: list[str] = []
        for descriptor, piece in _entries(news):
            category = _CATEGORIES.get(descriptor)
            if category is None:
                continue
            if category != kind and texts:
                yield kind, "".join(texts)
                texts = []
            kind = category
            texts.append(self._decoders[descriptor].decode(piece))
        if any(texts):
            yield kind, "".join(texts)


def _entries(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        descriptor, at = decode_varint(data, at)
        size, at = decode_varint(data, at)
        yield descriptor, data[at : at + size]
        at += size
