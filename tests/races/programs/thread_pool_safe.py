"""multiprocessing's pool of threads: what tasks are given, they see, and what they did is known."""

from multiprocessing.pool import ThreadPool

from _shared import Box


def work(box):
    box.value += 1
    return box


boxes = [Box() for _ in range(4)]
with ThreadPool(2) as pool:
    for box in pool.map(work, boxes):
        box.value += 1
    assert pool.apply(work, (boxes[0],)).value == 3
    for box in pool.imap_unordered(work, boxes[1:]):
        assert box.value == 3
    pool.apply_async(work, (boxes[0],)).get()
    assert boxes[0].value == 4
