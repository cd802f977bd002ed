"""Indexing: which documents have which words, and how often.

After luindex of DaCapo: threads take the next document under a lock, count its words by
themselves, and put the counts into an index that all share, in shelves with a lock each.
"""

import threading
from zlib import crc32

from corpus import documents, tokens
from team import at_least, start

DOCUMENTS = 1_100
LENGTH = 300
SHELVES = 16

Posting = tuple[int, int]


class Shelf:
    """A part of the index: what is known of some words."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.postings: dict[str, list[Posting]] = {}
        self.total = 0

    def add(self, document: int, counts: dict[str, int]) -> None:
        """What a document has of this shelf's words."""
        with self.lock:
            for word, count in counts.items():
                self.postings.setdefault(word, []).append((document, count))
                self.total += count


class Pile:
    """The documents, and which is next."""

    def __init__(self, texts: list[str]) -> None:
        self.lock = threading.Lock()
        self.texts = texts
        self.next = 0

    def take(self) -> int | None:
        """A document that nobody has taken yet."""
        with self.lock:
            if self.next == len(self.texts):
                return None
            self.next += 1
            return self.next - 1


def count(text: str) -> list[dict[str, int]]:
    """How often a text has each word, by shelves."""
    counts: list[dict[str, int]] = [{} for _ in range(SHELVES)]
    for word in tokens(text):
        shelf = counts[crc32(word.encode()) % SHELVES]
        shelf[word] = shelf.get(word, 0) + 1
    return counts


def main() -> None:
    """Index all."""
    team, scale = start()
    pile = Pile(documents(at_least(3, DOCUMENTS * scale), LENGTH))
    shelves = [Shelf() for _ in range(SHELVES)]

    def work(number: int) -> None:
        while (document := pile.take()) is not None:
            counts = count(pile.texts[document])
            for place in range(SHELVES):
                turn = (place + document) % SHELVES
                shelves[turn].add(document, counts[turn])

    team.run(work)
    index = {word: sorted(found) for shelf in shelves for word, found in shelf.postings.items()}
    team.finish((sorted(index.items()), [shelf.total for shelf in shelves]))


main()
