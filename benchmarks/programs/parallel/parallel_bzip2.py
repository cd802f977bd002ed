"""Compression: threads compress the blocks of a text, and one of them writes them in their order.

After pbzip2: a queue of blocks, a table of those that are done, and a condition by which the
writer learns of them. The writer is a thread of its own, beside those that are asked for.
"""

import bz2
import queue
import threading
from random import Random

from team import at_least, start

BLOCK_BYTES = 60_000
BLOCKS = 96


class Output:
    """What was compressed and not yet written, by the number of the block."""

    def __init__(self) -> None:
        self.condition = threading.Condition()
        self.done: dict[int, bytes] = {}
        self.written: list[bytes] = []

    def put(self, number: int, block: bytes) -> None:
        """A block is compressed."""
        with self.condition:
            self.done[number] = block
            self.condition.notify()

    def write(self, count: int) -> None:
        """Write all, the next one as soon as it is there."""
        for number in range(count):
            with self.condition:
                while number not in self.done:
                    self.condition.wait()
                block = self.done.pop(number)
            self.written.append(block)


def text() -> bytes:
    """Words, some of them often."""
    random = Random(21)
    letters = b"etaoinshrdlucmfwypvbgk"
    words = [bytes(random.choices(letters, k=random.randrange(2, 9))) for _ in range(3_000)]
    weights = [1.0 / (rank + 1) for rank in range(len(words))]
    return b" ".join(random.choices(words, weights, k=BLOCK_BYTES))[: BLOCK_BYTES * 4]


def main() -> None:
    """Compress, and check that it can be undone."""
    team, scale = start()
    source = text()
    count = at_least(2, BLOCKS * scale)
    starts = [number * 4_999 % (len(source) - BLOCK_BYTES) for number in range(count)]
    blocks: queue.Queue[int | None] = queue.Queue(maxsize=16)
    output = Output()

    def work(number: int) -> None:
        if number == 0:
            feeder.start()
            writer.start()
        while (block := blocks.get()) is not None:
            first = starts[block]
            output.put(block, bz2.compress(source[first : first + BLOCK_BYTES]))
        if number == 0:
            writer.join()

    def feed() -> None:
        for block in range(count):
            blocks.put(block)
        for _ in range(team.size):
            blocks.put(None)

    feeder = threading.Thread(target=feed)
    writer = threading.Thread(target=output.write, args=(count,))
    team.run(work)
    for block, compressed in enumerate(output.written):
        assert bz2.decompress(compressed) == source[starts[block] :][:BLOCK_BYTES]
    team.finish(b"".join(output.written))


main()
