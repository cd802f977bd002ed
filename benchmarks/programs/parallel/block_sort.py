"""Shared memory: a list sorted in place, in blocks; neighbouring blocks are merged in turn.

Each thread sorts its blocks; then, in as many rounds as there are blocks, merges pairs of
neighbours, odd ones and even ones in turn, with a barrier between.
"""

from random import Random

from team import at_least, start

ITEMS = 60_000
BLOCKS = 12


def sort(items: list[int], first: int, last: int) -> None:
    """Sort a piece of the list, with gaps that shrink."""
    gap = 1
    while gap < (last - first) // 3:
        gap = gap * 3 + 1
    while gap > 0:
        for i in range(first + gap, last):
            item = items[i]
            j = i
            while j >= first + gap and items[j - gap] > item:
                items[j] = items[j - gap]
                j -= gap
            items[j] = item
        gap //= 3


def merge(items: list[int], first: int, middle: int, last: int) -> None:
    """Put two sorted pieces into one order."""
    if items[middle - 1] <= items[middle]:
        return
    merged = []
    i, j = first, middle
    while i < middle and j < last:
        if items[i] <= items[j]:
            merged.append(items[i])
            i += 1
        else:
            merged.append(items[j])
            j += 1
    while i < middle:
        merged.append(items[i])
        i += 1
    for place in range(len(merged)):
        items[first + place] = merged[place]


def main() -> None:
    """Sort."""
    team, scale = start()
    random = Random(6)
    items = [random.randrange(1 << 30) for _ in range(at_least(4 * BLOCKS, ITEMS * scale))]
    ends = [block * len(items) // BLOCKS for block in range(BLOCKS + 1)]

    def work(number: int) -> None:
        for block in team.share(number, BLOCKS):
            sort(items, ends[block], ends[block + 1])
        team.barrier.wait()
        for turn in range(BLOCKS):
            pairs = range(turn % 2, BLOCKS - 1, 2)
            for place in team.share(number, len(pairs)):
                block = pairs[place]
                merge(items, ends[block], ends[block + 1], ends[block + 2])
            team.barrier.wait()

    team.run(work)
    team.finish((items == sorted(items), items))


main()
