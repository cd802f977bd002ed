"""Tasks of a map have an object each, and give it back."""

from concurrent.futures import ThreadPoolExecutor

from _shared import Box


def work(box):
    box.value += 1
    return box


boxes = [Box() for _ in range(6)]
with ThreadPoolExecutor(2) as pool:
    for box in pool.map(work, boxes):
        box.value += 1
assert all(box.value == 2 for box in boxes)
