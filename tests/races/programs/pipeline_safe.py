"""Three stages with queues between them; each item belongs to one stage at a time."""

import queue

from _shared import run

raw = queue.Queue(2)
parsed = queue.Queue(2)
result = []


class Item:
    def __init__(self, text):
        self.text = text
        self.words = []


def read():
    for text in ("a b", "c", "d e f"):
        raw.put(Item(text))
    raw.put(None)


def parse():
    while (item := raw.get()) is not None:
        item.words.extend(item.text.split())
        item.text = ""
        parsed.put(item)
    parsed.put(None)


def count():
    while (item := parsed.get()) is not None:
        result.append(len(item.words))
        item.words.clear()


run(read, parse, count)
assert result == [2, 1, 3]
